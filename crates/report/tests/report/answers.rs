//! The one sentence, in the cases where it must take care to claim neither too much nor too little.

use bakeoff_judge::findings::{Caveat, FailedTrials, Findings, Identical, Inferred, Lack, Other, Row, Same, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::{Failure, SharedLine, Unavailable, VariantLine};
use bakeoff_report::{Context, Style, answer, screen, terminal};
use bakeoff_testkit::findings::{absent, baseline, comparison, quiet_twin, row, study, summary, table, unbuilt};

fn seconds(rows: Vec<Row>) -> Findings {
    let names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    study(&names, vec![table("wall", Unit::Seconds, rows, quiet_twin())])
}

fn variant(name: &str, estimate: f64, low: f64, high: f64, verdict: Verdict) -> Row {
    row(name, summary(4.0 * estimate, 4.0, 4.5), comparison(estimate, low, high, verdict))
}

fn check(findings: &Findings, expect: &str) {
    assert_eq!(answer(findings), expect);
}

#[test]
fn one_variant_comes_with_its_interval() {
    let pair = |estimate, low, high, verdict, expect: &str| {
        check(&seconds(vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", estimate, low, high, verdict)]), expect);
    };
    pair(
        0.839,
        0.831,
        0.847,
        Verdict::Faster,
        "b is 16.1 % faster than the baseline in wall time (15.3 … 16.9 % at 95 % confidence, 12 blocks).",
    );
    pair(
        1.0046,
        1.0021,
        1.0073,
        Verdict::Negligible,
        "b is 0.5 % slower than the baseline in wall time, which is negligible: within ±1 % \
         (0.2 … 0.7 % at 90 % confidence, 12 blocks).",
    );
    // Equivalence rests on the interval at 90 %, so that is the one to show.
    pair(
        1.0,
        0.99,
        1.01,
        Verdict::Equivalent,
        "b is equivalent to the baseline in wall time, within ±1 %: 0.0 % (−0.8 … +0.8 % at 90 % confidence, 12 blocks).",
    );
    pair(
        1.012,
        0.99,
        1.031,
        Verdict::Undecided { more_blocks: Some(1) },
        "Nothing was decided about b against the baseline in wall time (about 1 more block): \
         +1.2 % (−1.0 … +3.1 % at 95 % confidence, 12 blocks).",
    );
    // The root of an estimating equation is rarely exactly 1.
    pair(
        1.0 + f64::EPSILON,
        0.99,
        1.01,
        Verdict::Undecided { more_blocks: None },
        "Nothing was decided about b against the baseline in wall time: \
         0.0 % (−1.0 … +1.0 % at 95 % confidence, 12 blocks).",
    );
    // A bound that is not zero is not written as zero.
    pair(
        1.004,
        1.00004,
        1.008,
        Verdict::Slower,
        "b is 0.400 % slower than the baseline in wall time (0.004 … 0.800 % at 95 % confidence, 12 blocks).",
    );
}

#[test]
fn several_variants_are_grouped_by_verdict() {
    let undecided = Verdict::Undecided { more_blocks: None };
    let slower = (1..=6).map(|i| variant(&format!("s{i}"), 1.0 + f64::from(i) / 10.0, 1.01, 1.9, Verdict::Slower));
    let rows = [baseline(summary(4.0, 4.0, 4.5))].into_iter().chain(slower);
    check(
        &seconds(rows.collect()),
        "s6 is 60.0 % slower than the baseline in wall time, s5 50.0 % slower, s4 40.0 % slower, s3 30.0 % slower \
         and 2 others less so.",
    );
    let rows = vec![
        baseline(summary(4.0, 4.0, 4.5)),
        variant("a", 1.0, 0.995, 1.005, Verdict::Equivalent),
        variant("b", 1.0, 0.995, 1.005, Verdict::Equivalent),
        variant("c", 1.0, 0.9, 1.1, undecided),
    ];
    check(
        &seconds(rows),
        "a and b are equivalent to the baseline in wall time within ±1 %; nothing was decided about c.",
    );
    let rows = vec![
        baseline(summary(4.0, 4.0, 4.5)),
        variant("c", 1.0, 0.9, 1.1, undecided),
        variant("d", 1.0, 0.9, 1.1, Verdict::Undecided { more_blocks: Some(1200) }),
    ];
    check(&seconds(rows), "In wall time nothing was decided about c and d (about 1,200 more blocks).");
}

#[test]
fn bytes_are_not_fast() {
    let rows = vec![
        baseline(summary(1e6, 1e6, 1e6)),
        variant("a", 0.9, 0.89, 0.91, Verdict::Faster),
        variant("b", 1.2, 1.19, 1.21, Verdict::Slower),
    ];
    let mut findings = study(&["baseline", "a", "b"], vec![table("maxrss", Unit::Bytes, rows, quiet_twin())]);
    findings.method.deciding_metric = "maxrss".to_owned();
    check(&findings, "a needs 10.0 % less maxrss than the baseline; b needs 20.0 % more.");
}

#[test]
fn what_weakens_a_claim_is_said_before_it() {
    let full = || vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 0.9, 0.89, 0.91, Verdict::Faster)];
    let mut findings = seconds(full());
    findings.tables[0].noise_floor = Some(variant("twin", 0.97, 0.96, 0.98, Verdict::Faster));
    check(
        &findings,
        "Beware: the baseline's twin, which is the same thing again, was judged 3.0 % faster than it in \
         wall time; believe no difference of that size. b is 10.0 % faster than the baseline in wall time \
         (9.0 … 11.0 % at 95 % confidence, 12 blocks).",
    );

    let mut findings = seconds(full());
    findings.blocks_finished = 1;
    let text = answer(&findings);
    assert!(text.starts_with("So far: 1 of 12 blocks. b is 10.0 % faster"), "{text}");

    let lone = seconds(vec![baseline(summary(4.0, 4.0, 4.5))]);
    check(&lone, "Only the baseline was measured: there is nothing to compare it with.");

    let mut headless = seconds(vec![absent("baseline"), row("b", summary(4.0, 4.0, 4.5), quiet_twin())]);
    check(&headless, "No comparison is possible: the baseline has no trial that counts.");
    headless.builds = vec![unbuilt("baseline")];
    headless.tables[0].rows[1].summary = None;
    check(&headless, "No answer: of 1 build, none succeeded.");

    let mut unmeasured = seconds(full());
    unmeasured.method.deciding_metric = "cpu".to_owned();
    check(&unmeasured, "No answer: the deciding metric, cpu, was not measured.");

    let mut apart = seconds(full());
    apart.tables[0].rows[1].comparison = None;
    check(&apart, "b shares no block with the baseline.");
}

#[test]
fn what_is_open_is_open_by_the_digits_of_its_row() {
    let page = |more: u32| {
        let open = Verdict::Undecided { more_blocks: Some(more) };
        let rows = vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.0001, 0.9999, 1.0003, open)];
        screen(&seconds(rows), Context::default(), Style { width: 80, colour: false })
    };
    assert!(page(1).contains("cannot be distinguished (at most 0.03 % apart)"), "{}", page(1));
    assert!(page(1).contains("about 1 more block would decide"), "{}", page(1));
    assert!(page(2).contains("about 2 more blocks would decide"), "{}", page(2));
}

#[test]
fn of_a_rate_more_is_better() {
    let rate = |rows: Vec<Row>| {
        let names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut findings = study(&names, vec![table("throughput", Unit::PerSecond, rows, quiet_twin())]);
        findings.method.deciding_metric = "throughput".to_owned();
        findings
    };
    check(
        &rate(vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.2, 1.19, 1.21, Verdict::Faster)]),
        "b is 20.0 % higher than the baseline in throughput (19.0 … 21.0 % at 95 % confidence, 12 blocks).",
    );
    // The best comes first, and of the worse ones the worst.
    check(
        &rate(vec![
            baseline(summary(4.0, 4.0, 4.5)),
            variant("b", 1.2, 1.19, 1.21, Verdict::Faster),
            variant("c", 1.3, 1.29, 1.31, Verdict::Faster),
            variant("d", 0.9, 0.89, 0.91, Verdict::Slower),
            variant("e", 0.8, 0.79, 0.81, Verdict::Slower),
        ]),
        "c is 30.0 % higher than the baseline in throughput and b 20.0 % higher; \
         e is 20.0 % lower and d 10.0 % lower.",
    );
}

#[test]
fn an_amount_may_be_a_yield() {
    let rows = vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.2, 1.19, 1.21, Verdict::Faster)];
    let mut findings = study(&["baseline", "b"], vec![table("score", Unit::Count, rows, quiet_twin())]);
    findings.method.deciding_metric = "score".to_owned();
    findings.tables[0].better = Direction::More;
    check(&findings, "b has 20.0 % more score than the baseline (19.0 … 21.0 % at 95 % confidence, 12 blocks).");
}

#[test]
fn what_cannot_be_measured_is_the_reason_for_no_answer() {
    let mut findings = study(&["baseline", "b"], vec![]);
    findings.method.deciding_metric = "instructions".to_owned();
    findings.missing =
        vec![Unavailable { metrics: vec!["instructions".to_owned()], why: "no hardware counters".to_owned() }];
    check(&findings, "No answer: the deciding metric, instructions, was not measured: no hardware counters.");
}

/// The last sentence of the answer, with these verdicts on how the ratios of b and c change with the condition.
fn last_sentence(b: Verdict, c: Verdict) -> String {
    let mut findings = bakeoff_testkit::findings::conditions();
    for (effect, verdict) in findings.effects[1].effects.iter_mut().zip([b, c]) {
        effect.comparison.iter_mut().for_each(|comparison| comparison.verdict = verdict);
    }
    let answer = answer(&findings);
    answer.rsplit(". ").next().unwrap_or_default().to_owned()
}

#[test]
fn whether_ratios_change_with_the_condition_is_a_sentence() {
    let (less, same, open) = (Verdict::Faster, Verdict::Equivalent, Verdict::Undecided { more_blocks: None });
    let check = |b, c, expect: &str| assert_eq!(last_sentence(b, c), expect);
    let all = "preload=all 9.2 % less (6.9 … 11.5 %)";
    check(less, same, &format!("Their ratios to the baseline change: {all}; within ±1 % the same: preload=core."));
    check(less, open, &format!("Their ratios to the baseline change: {all}; undecided: preload=core."));
    check(same, same, "Their ratios to the baseline stay the same within ±1 %: preload=all and preload=core.");
    check(same, open, "Their ratios to the baseline stay the same within ±1 %: preload=all; undecided: preload=core.");
    check(open, open, "Whether their ratios to the baseline change is undecided: preload=all and preload=core.");
}

/// Between variants that are one program there is nothing to find out: that is the answer.
#[test]
fn variants_that_are_one_program_are_said_to_be() {
    let open = Verdict::Undecided { more_blocks: Some(33) };
    let itself = |name: &str, verdict| {
        let mut row = variant(name, 1.002, 0.99, 1.014, verdict);
        let caveats = &mut row.comparison.as_mut().unwrap().caveats;
        caveats.push(Caveat::Identical { same: Same::Build, as_what: Other::Baseline });
        row
    };
    let first = || baseline(summary(4.0, 4.0, 4.5));
    check(&seconds(vec![first(), itself("b", open)]), "b is the same program as the baseline, file for file.");
    let mut findings = seconds(vec![first(), itself("b", open), variant("c", 1.002, 0.99, 1.014, open)]);
    check(
        &findings,
        "In wall time nothing was decided about c (about 33 more blocks); b is the same program as the baseline, file for file.",
    );
    let variants = vec!["baseline".to_owned(), "b".to_owned()];
    findings.build_doubts.identical = vec![Identical { variants, same: Same::Files, unproven: vec![] }];
    let opening =
        "b is the same program as the baseline, file for file: what differs between them is this machine's noise. ";
    assert!(answer(&findings).starts_with(opening), "{}", answer(&findings));
    // What was not raced apart is said first, and its name stands in the row that it shares.
    let mut findings = seconds(vec![first(), variant("c", 0.839, 0.831, 0.847, Verdict::Faster)]);
    let shared = VariantLine { name: "b".to_owned(), ..VariantLine::default() };
    findings.shared = vec![SharedLine { variant: shared, with: "baseline".to_owned() }];
    let opening =
        "b is the same program as the baseline, file for file: they were executed once and share a row. c is 16.1 %";
    assert!(answer(&findings).starts_with(opening), "{}", answer(&findings));
    assert!(terminal(&findings, Style { width: 120, colour: false }).contains("baseline = b "));
}

/// Why nothing could be compared stands at the top, whole.
#[test]
fn the_reason_of_all_failures_is_part_of_the_answer() {
    let why = format!("{}the word that matters", "a long way to go ".repeat(12));
    let lost = |variant: &str| FailedTrials {
        variant: variant.to_owned(),
        workload: "loop".to_owned(),
        condition: "idle".to_owned(),
        failed: 4,
        of: 4,
        example: Some(Failure::Exit { code: 3, stderr: vec![why.clone()] }),
        ..FailedTrials::default()
    };
    let mut findings = seconds(vec![absent("baseline"), absent("b")]);
    findings.failures = vec![lost("baseline"), lost("b")];
    let expect = format!("8 of 8 trials of baseline and b on loop failed: exited with code 3: {why}.");
    assert!(answer(&findings).ends_with(&expect), "{}", answer(&findings));
    let page = terminal(&findings, Style { width: 60, colour: false });
    // At the top, and with each of the two among the trials that do not count.
    assert_eq!(page.matches("matters").count(), 3, "{page}");
}

#[test]
fn the_screen_says_how_many_blocks_are_missing_and_for_what() {
    let page = |findings: &Findings| screen(findings, Context::default(), Style { width: 80, colour: false });
    let open = |name, more| variant(name, 1.01, 0.99, 1.03, Verdict::Undecided { more_blocks: Some(more) });
    let of = |one, other| seconds(vec![baseline(summary(4.0, 4.0, 4.5)), open("b", one), open("c", other)]);
    let more =
        |findings: &Findings| page(findings).lines().find(|line| line.contains("would decide")).map(str::to_owned);
    for (other, expect) in [
        (9, Some("about 14 more blocks would decide; --until decided starts over")),
        (5000, Some("about 14 more blocks would decide b; the others need many more")),
    ] {
        assert_eq!(more(&of(14, other)).as_deref(), expect);
    }
    assert_eq!(more(&of(5000, 5000)), None);
    for (lack, expect) in [
        (Lack::Inference { needed: 6 }, "no answer yet: 2 of at least 6 blocks; --blocks asks for more"),
        (Lack::FirstLook { needed: 8 }, "no answer yet: 2 blocks; the rule for stopping looks at 8 first"),
    ] {
        let mut findings = of(1, 1);
        for comparison in findings.tables[0].rows.iter_mut().filter_map(|row| row.comparison.as_mut()) {
            comparison.inferred = Inferred::TooFew;
            comparison.blocks = 2;
            comparison.caveats = vec![Caveat::TooFewBlocks { blocks: 2, lack: lack.clone() }];
        }
        assert_eq!(page(&findings).lines().last(), Some(expect));
    }
}

/// The number in the answer is the end of the interval in the row.
#[test]
fn what_an_undecided_pair_leaves_open_is_the_end_of_its_interval() {
    let open = variant("b", 0.99, 0.96, 1.02, Verdict::Undecided { more_blocks: None });
    let findings = seconds(vec![baseline(summary(4.0, 4.0, 4.5)), open]);
    let page = screen(&findings, Context::default(), Style { width: 80, colour: false });
    assert!(page.contains("−4.0 … +2.0 %"), "{page}");
    let expect = "the baseline and b cannot be distinguished (at most 4.0 % apart)";
    assert!(page.ends_with(&format!("{expect}\n")), "{page}");
}

#[test]
fn the_screen_says_what_services_use() {
    let of = |value: f64| baseline(summary(value, value, value));
    let mut findings = seconds(vec![of(4.0), variant("b", 0.5, 0.4, 0.6, Verdict::Faster)]);
    let page = |findings: &Findings| screen(findings, Context::default(), Style { width: 80, colour: false });
    assert!(!page(&findings).contains("service"), "{}", page(&findings));
    findings.tables.push(table("cache.cpu", Unit::Seconds, vec![of(1.02)], quiet_twin()));
    // What is not known is left out, and is no 0.
    let shown = page(&findings);
    assert!(shown.contains("\nservice cache: cpu 1.02 s in a trial\n"), "{shown}");
    findings.tables.push(table("cache.maxrss", Unit::Bytes, vec![of(3.1 * 1024.0 * 1024.0)], quiet_twin()));
    let shown = page(&findings);
    assert!(shown.contains("\nservice cache: cpu 1.02 s, maxrss 3.10 MiB in a trial\n"), "{shown}");
}
