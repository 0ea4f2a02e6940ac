//! The answer, in the cases where it must take care to claim neither too much nor too little; and what the screen says
//! next to it.

use bakeoff_judge::findings::{Caveat, FailedTrials, Findings, Inferred, Lack, Objection, Row, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::{Failure, SharedLine, Unavailable, VariantLine};
use bakeoff_report::{Context, Style, brief, screen, terminal};
use bakeoff_testkit::findings::{absent, baseline, comparison, objection, quiet_twin, row, study, summary, table};
use bakeoff_testkit::letters;

fn seconds(rows: Vec<Row>) -> Findings {
    let names: Vec<String> = rows.iter().map(|row| row.variant.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    study(&names, vec![table("wall", Unit::Seconds, rows, quiet_twin())])
}

fn variant(name: &str, estimate: f64, low: f64, high: f64, verdict: Verdict) -> Row {
    row(name, summary(4.0 * estimate, 4.0, 4.5), comparison(estimate, low, high, verdict))
}

fn answer(findings: &Findings) -> String {
    letters(&brief(findings, Context::default()).answer)
}

fn check(findings: &Findings, expect: &str) {
    assert_eq!(answer(findings), expect);
}

/// What the row of a variant says: its claim and its interval.
fn claimed(findings: &Findings, variant: &str) -> [String; 2] {
    let brief = brief(findings, Context::default());
    let row = brief.rows.iter().find(|row| row.variant == variant).unwrap();
    [letters(&row.claim), letters(&row.interval)]
}

/// Facts and doubts, one a line.
fn remarks(findings: &Findings) -> String {
    let brief = brief(findings, Context::default());
    let texts = brief.facts.iter().map(|fact| &fact.text).chain(brief.doubts.iter().map(|doubt| &doubt.text));
    texts.map(|text| letters(text) + "\n").collect()
}

#[test]
fn one_variant_comes_with_its_interval() {
    let pair = |estimate, low, high, verdict, expect: &str, row: [&str; 2]| {
        let findings = seconds(vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", estimate, low, high, verdict)]);
        check(&findings, expect);
        assert_eq!(claimed(&findings, "b"), row);
    };
    let expect = "b is 16.1 % faster (15.3 … 16.9 %): 3.36 s instead of 4.00 s";
    pair(0.839, 0.831, 0.847, Verdict::Faster, expect, ["16.1 % faster (−644 ms)", "15.3 … 16.9 %"]);
    let expect = "the baseline and b differ in wall time, but within ±1 % (+0.2 … +0.7 %)";
    pair(1.0046, 1.0021, 1.0073, Verdict::Negligible, expect, ["negligible (+18.4 ms)", "+0.2 … +0.7 %"]);
    // Equivalence rests on the interval at 90 %, so that is the one to show.
    let expect = "the baseline and b are equivalent in wall time: within ±1 % (−0.8 … +0.8 %)";
    pair(1.0, 0.99, 1.01, Verdict::Equivalent, expect, ["equivalent", "−0.8 … +0.8 %"]);
    let open = Verdict::Undecided { more_blocks: Some(1) };
    let expect = "the baseline and b cannot be distinguished: any difference is at most 3.1 %";
    pair(1.012, 0.99, 1.031, open, expect, ["undecided", "−1.0 … +3.1 %"]);
    // The root of an estimating equation is rarely exactly 1.
    let open = Verdict::Undecided { more_blocks: None };
    let expect = "the baseline and b cannot be distinguished: any difference is at most 1.0 %";
    pair(1.0 + f64::EPSILON, 0.99, 1.01, open, expect, ["undecided", "−1.0 … +1.0 %"]);
    // A bound that is not zero is not written as zero.
    let expect = "the baseline is faster: b is 0.400 % slower (0.004 … 0.800 %)";
    pair(1.004, 1.00004, 1.008, Verdict::Slower, expect, ["0.400 % slower (+16.0 ms)", "0.004 … 0.800 %"]);
}

#[test]
fn several_variants_are_grouped_by_verdict() {
    let undecided = Verdict::Undecided { more_blocks: None };
    let slower = (1..=6).map(|i| variant(&format!("s{i}"), 1.0 + f64::from(i) / 10.0, 1.01, 1.9, Verdict::Slower));
    let rows = [baseline(summary(4.0, 4.0, 4.5))].into_iter().chain(slower);
    let findings = seconds(rows.collect());
    check(&findings, "the baseline is the fastest; next is s1, 10.0 % slower (1.0 … 90.0 %); s6 is 60.0 % slower");
    for (name, expect) in [("s5", "50.0 % slower"), ("s4", "40.0 % slower"), ("s3", "30.0 % slower")] {
        assert_eq!(claimed(&findings, name)[0], expect);
    }
    let rows = vec![
        baseline(summary(4.0, 4.0, 4.5)),
        variant("a", 1.0, 0.995, 1.005, Verdict::Equivalent),
        variant("b", 1.0, 0.995, 1.005, Verdict::Equivalent),
        variant("c", 1.0, 0.9, 1.1, undecided),
    ];
    let findings = seconds(rows);
    check(&findings, "nothing is shown to be faster than the baseline (4.00 s)");
    let claims = ["a", "b", "c"].map(|name| claimed(&findings, name)[0].clone());
    assert_eq!(claims, ["equivalent", "equivalent", "undecided"]);
    let rows = vec![
        baseline(summary(4.0, 4.0, 4.5)),
        variant("c", 1.0, 0.9, 1.1, undecided),
        variant("d", 1.0, 0.9, 1.1, Verdict::Undecided { more_blocks: Some(1200) }),
    ];
    let findings = seconds(rows);
    check(&findings, "nothing is shown to be faster than the baseline (4.00 s)");
    assert_eq!(["c", "d"].map(|name| claimed(&findings, name)[0].clone()), ["undecided", "undecided"]);
    let page = terminal(&findings, Style { width: 120, colour: false });
    assert!(page.contains("d: undecided (needs about 1,200 more blocks)"), "{page}");
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
    check(&findings, "a needs 10.0 % less maxrss (9.0 … 11.0 %) than the baseline; b needs 20.0 % more maxrss");
}

#[test]
fn what_weakens_a_claim_is_said_before_it() {
    let full = || vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 0.9, 0.89, 0.91, Verdict::Faster)];
    let mut findings = seconds(full());
    findings.tables[0].noise_floor = Some(variant("twin", 0.97, 0.96, 0.98, Verdict::Faster));
    findings.caveats.push(Caveat::TwinDiffers { differ: 1, of: 1 });
    check(&findings, "the twin differs; b is 10.0 % faster (9.0 … 11.0 %): 3.60 s instead of 4.00 s");
    let beware = "the baseline's twin is 3.0 % faster, so do not trust smaller differences\n";
    assert!(remarks(&findings).contains(beware), "{}", remarks(&findings));

    let mut findings = seconds(full());
    findings.blocks_finished = 1;
    let text = answer(&findings);
    assert!(text.starts_with("so far b is 10.0 % faster"), "{text}");
    let page = screen(&findings, Context::default(), Style { width: 80, colour: false });
    assert!(page.contains("wall time; 1 of 12 blocks"), "{page}");

    let lone = seconds(vec![baseline(summary(4.0, 4.0, 4.5))]);
    check(&lone, "the baseline takes 4.00 s (3.97 s … 4.02 s)");

    let mut headless = seconds(vec![absent("baseline"), row("b", summary(4.0, 4.0, 4.5), quiet_twin())]);
    check(&headless, "no comparison: the baseline has no valid trial");
    headless.besides.no_answer = Some("none of 1 build succeeded".to_owned());
    headless.tables[0].rows[1].summary = None;
    check(&headless, "no answer: none of 1 build succeeded");

    let mut unmeasured = seconds(full());
    unmeasured.method.deciding_metric = "cpu".to_owned();
    check(&unmeasured, "no answer: no trial has a value for CPU time");

    let mut apart = seconds(full());
    apart.tables[0].rows[1].comparison = None;
    check(&apart, "no comparison: b has no valid trial");
}

#[test]
fn what_is_open_is_open_by_the_digits_of_its_row() {
    let page = |more: u32| {
        let open = Verdict::Undecided { more_blocks: Some(more) };
        let rows = vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.0001, 0.9999, 1.0003, open)];
        screen(&seconds(rows), Context::default(), Style { width: 80, colour: false })
    };
    assert!(page(1).contains("cannot be distinguished: any difference is at most 0.03 %"), "{}", page(1));
    assert!(page(1).contains("about 1 more block would settle this"), "{}", page(1));
    assert!(page(2).contains("about 2 more blocks would settle"), "{}", page(2));
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
    let pair = rate(vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.2, 1.19, 1.21, Verdict::Faster)]);
    check(&pair, "b has 20.0 % higher throughput (19.0 … 21.0 %) than the baseline");
    // The best comes first, and of the worse ones the worst.
    let several = rate(vec![
        baseline(summary(4.0, 4.0, 4.5)),
        variant("b", 1.2, 1.19, 1.21, Verdict::Faster),
        variant("c", 1.3, 1.29, 1.31, Verdict::Faster),
        variant("d", 0.9, 0.89, 0.91, Verdict::Slower),
        variant("e", 0.8, 0.79, 0.81, Verdict::Slower),
    ]);
    let expect = "c and 1 other are higher than the baseline: 30.0 % higher throughput (29.0 … 31.0 %); \
                  e has 20.0 % lower throughput";
    check(&several, expect);
    let order: Vec<String> =
        brief(&several, Context::default()).rows.iter().map(|row| row.variant.to_owned()).collect();
    assert_eq!(order, ["c", "b", "baseline", "d", "e"]);
}

#[test]
fn an_amount_may_be_a_yield() {
    let rows = vec![baseline(summary(4.0, 4.0, 4.5)), variant("b", 1.2, 1.19, 1.21, Verdict::Faster)];
    let mut findings = study(&["baseline", "b"], vec![table("score", Unit::Count, rows, quiet_twin())]);
    findings.method.deciding_metric = "score".to_owned();
    findings.tables[0].better = Direction::More;
    check(&findings, "b has 20.0 % more score (19.0 … 21.0 %) than the baseline");
}

#[test]
fn what_cannot_be_measured_is_the_reason_for_no_answer() {
    let mut findings = study(&["baseline", "b"], vec![]);
    findings.method.deciding_metric = "instructions".to_owned();
    findings.missing =
        vec![Unavailable { metrics: vec!["instructions".to_owned()], why: "no hardware counters".to_owned() }];
    check(&findings, "no answer: instructions could not be measured here");
    let page = terminal(&findings, Style { width: 120, colour: false });
    assert!(page.contains("instructions: no hardware counters") || page.contains("no hardware counters"), "{page}");
}

/// The verdicts of the table on how the ratios of b and c change with the condition, and the screen's line about it.
fn under_busy(b: Verdict, c: Verdict) -> (Vec<String>, String) {
    let mut findings = bakeoff_testkit::findings::conditions();
    for (effect, verdict) in findings.effects[1].effects.iter_mut().zip([b, c]) {
        effect.comparison.iter_mut().for_each(|comparison| comparison.verdict = verdict);
    }
    let page = terminal(&findings, Style { width: 120, colour: false });
    let rows = page.lines().filter(|line| line.starts_with("preload=") && line.contains("× busy"));
    let line = remarks(&findings).lines().find(|line| line.starts_with("under busy")).unwrap_or_default().to_owned();
    (rows.map(str::to_owned).collect(), line)
}

#[test]
fn whether_ratios_change_with_the_condition_is_in_a_table_and_on_the_screen() {
    let (less, same, open) = (Verdict::Faster, Verdict::Equivalent, Verdict::Undecided { more_blocks: None });
    let check = |b, c, words: [&str; 2], is_changed: bool| {
        let (rows, line) = under_busy(b, c);
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert!(
            rows[0].contains("preload=all × busy") && rows[0].contains("0.908") && rows[0].contains(words[0]),
            "{rows:?}"
        );
        assert!(rows[1].contains("preload=core × busy") && rows[1].contains(words[1]), "{rows:?}");
        assert_eq!(line.contains("preload=all"), is_changed, "{line}");
    };
    check(less, same, ["less", "equivalent"], true);
    check(less, open, ["less", "undecided"], true);
    check(same, same, ["equivalent", "equivalent"], false);
    check(same, open, ["equivalent", "undecided"], false);
    check(open, open, ["undecided", "undecided"], false);
}

/// Between variants that are one program there is nothing to find out: that is the answer.
#[test]
fn variants_that_are_one_program_are_said_to_be() {
    let open = Verdict::Undecided { more_blocks: Some(33) };
    let itself = |name: &str, verdict| {
        let mut row = variant(name, 1.002, 0.99, 1.014, verdict);
        let caveats = &mut row.comparison.as_mut().unwrap().caveats;
        caveats.push(Caveat::Of(Objection { same_program: true, ..objection("identical-build", "one build") }));
        row
    };
    let first = || baseline(summary(4.0, 4.0, 4.5));
    let findings = seconds(vec![first(), itself("b", open)]);
    check(&findings, "b and the baseline are the same program, so any difference is noise");
    let same = "b is the same program as the baseline, file for file\n";
    assert!(remarks(&findings).contains(same), "{}", remarks(&findings));
    let findings = seconds(vec![first(), itself("b", open), variant("c", 1.002, 0.99, 1.014, open)]);
    check(&findings, "nothing is shown to be faster than the baseline (4.00 s)");
    assert_eq!(["b", "c"].map(|name| claimed(&findings, name)[0].clone()), ["same program", "undecided"]);
    assert!(remarks(&findings).contains(same), "{}", remarks(&findings));
    let page = terminal(&findings, Style { width: 120, colour: false });
    assert!(page.contains("c: undecided (needs about 33 more blocks)"), "{page}");
    // What was not raced apart is said too, and its name stands in the row that it shares.
    let mut findings = seconds(vec![first(), variant("c", 0.839, 0.831, 0.847, Verdict::Faster)]);
    let shared = VariantLine { name: "b".to_owned(), ..VariantLine::default() };
    findings.shared = vec![SharedLine { variant: shared, with: "baseline".to_owned(), ..SharedLine::default() }];
    assert!(remarks(&findings).contains(same), "{}", remarks(&findings));
    assert!(answer(&findings).starts_with("c is 16.1 % faster"), "{}", answer(&findings));
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
    check(
        &findings,
        &format!("no answer: every trial failed or is void; first failed trial: exited with code 3: {why}"),
    );
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
        |findings: &Findings| page(findings).lines().find(|line| line.contains("would settle")).map(str::to_owned);
    for (other, expect) in [
        (9, Some("about 14 more blocks would settle this; to use --until decided, start over")),
        (5000, Some("about 14 more blocks would settle b, but not the rest")),
    ] {
        assert_eq!(more(&of(14, other)).as_deref(), expect);
    }
    assert_eq!(more(&of(5000, 5000)), None);
    for (lack, expect) in [
        (Lack::Inference { needed: 6 }, "no answer yet: too few blocks (2); use --blocks 6 or more"),
        (Lack::FirstLook { needed: 8 }, "no answer yet: 2 blocks; the stopping rule first checks after 8"),
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
    let expect = "the baseline and b cannot be distinguished: any difference is at most 4.0 %";
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
