//! What a gate makes of records, case by case, as `docs/tasks/ci.md` has it in a table.

use super::*;
use crate::page::text;
use crate::simulated::{at, execute, executed, outcome, study, with};
use bakeoff_model::metric::Metric;
use bakeoff_model::record::{FactorLine, Failure, MadeLine, Outcome as Ended, Output, SharedLine, VariantLine};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::until::Until;
use bakeoff_testkit::records::measure;
use serde_json::{Value, json};

/// Two variants on one workload, of which the second takes this many times as long.
fn pair(ratio: f64) -> Record {
    executed(&["loop"], &["baseline", "b"], |variant, _| if variant == "b" { ratio } else { 1.0 })
}

fn only(record: &Record) -> Case {
    let gate = at(record, 0.02).unwrap();
    assert_eq!(gate.cases.len(), 1, "{gate:?}");
    gate.cases[0].clone()
}

#[track_caller]
fn decides(record: &Record, expect: &Decision) {
    assert_eq!(only(record).decision, *expect);
}

fn is_open(decision: &Decision) -> bool {
    matches!(decision, Decision::Undecided(Open::Interval { .. }))
}

#[test]
fn the_interval_decides() {
    let check = |ratio: f64, expect: Outcome| assert_eq!(outcome(&pair(ratio)), expect, "{ratio}");
    check(0.9, Outcome::Passes);
    check(1.0, Outcome::Passes);
    check(1.015, Outcome::Passes);
    check(1.02, Outcome::Undecided);
    check(1.025, Outcome::Fails);
    check(1.5, Outcome::Fails);
}

#[test]
fn the_interval_is_the_one_that_the_report_prints() {
    for ratio in [0.97, 1.0, 1.006, 1.019, 1.03] {
        let record = pair(ratio);
        let findings = bakeoff_judge::judge(&record);
        let comparison = findings.tables[0].rows[1].comparison.clone().unwrap();
        let case = only(&record);
        let [low, high] = comparison.shown_interval().unwrap();
        let seen = case.seen.unwrap();
        if case.decision != Decision::Fails {
            assert_eq!(
                (seen.interval, seen.confidence),
                (Some([low - 1.0, high - 1.0]), comparison.shown_confidence())
            );
        }
        let expect = if high <= 1.02 { Outcome::Passes } else { case.decision.outcome() };
        assert_eq!(case.decision.outcome(), expect, "{comparison:?}");
        assert!(case.decision != Decision::Fails || comparison.interval().unwrap()[0] > 1.02);
    }
}

#[test]
fn of_a_yield_less_is_worse() {
    let check = |ratio: f64, expect: Outcome| {
        let mut record = pair(ratio);
        record.study.decide.metrics = vec!["speed".to_owned()];
        record.study.metrics =
            vec![Metric { name: "speed".into(), better: Direction::More, ..record.study.metric("wall").unwrap() }];
        for trial in &mut record.trials {
            let value = trial.value("wall").unwrap();
            measure(trial, "speed", value);
        }
        assert_eq!(outcome(&record), expect, "{ratio}");
        if expect == Outcome::Fails {
            let said = text(&at(&record, 0.02).unwrap());
            assert!(said.contains("% lower") || said.contains("% slower"), "{said}");
            assert!(said.contains("limit −2 %"), "{said}");
        }
    };
    check(1.2, Outcome::Passes);
    check(0.985, Outcome::Passes);
    check(0.98, Outcome::Undecided);
    check(0.97, Outcome::Fails);
}

#[test]
fn a_failure_has_to_hold_among_all_cases() {
    // Noise and slowdown are such that one workload alone fails narrowly.
    let noisy = |workloads: &[&str]| {
        let mut record = study(workloads, &["baseline", "b"]);
        let mut stream = Stream::of(7, &["among"]);
        execute(&mut record, 12, &mut stream, |trial, _, stream| {
            let slower = trial.variant == "b" && trial.workload == "loop";
            measure(trial, "wall", if slower { 1.029 } else { 1.0 } * (0.008 * stream.normal()).exp());
        });
        record
    };
    let all = noisy(&["loop", "two", "three", "four", "five", "six"]);
    let alone = bakeoff_judge::Question { workload: Some("loop".to_owned()), ..bakeoff_judge::Question::default() };
    let alone = alone.of(all.clone()).unwrap();
    let [one, among] = [&alone, &all].map(|record| at(record, 0.02).unwrap());
    let low = |gate: &Gate| gate.cases[0].seen.unwrap().interval.unwrap()[0];
    assert!(low(&one) > low(&among), "{} {}", low(&one), low(&among));
    assert!(
        (one.confidence_to_fail - 0.95).abs() < 1e-12 && (among.confidence_to_fail - (1.0 - 0.05 / 6.0)).abs() < 1e-12
    );
    assert_eq!((one.outcome, among.outcome), (Outcome::Fails, Outcome::Undecided), "{one:?} {among:?}");
    assert!(is_open(&among.cases[0].decision));
    // What passes is not corrected: the other workloads pass as they would alone.
    assert_eq!(among.with(Outcome::Passes).count(), 5);
}

#[test]
fn every_workload_has_its_own_limit() {
    let slower = |variant: &str, workload: &str| if variant == "b" && workload == "sort" { 1.04 } else { 1.0 };
    let record = executed(&["loop", "sort"], &["baseline", "b"], slower);
    assert_eq!(outcome(&record), Outcome::Fails);
    let limits = |sort: f64| Limits { workloads: [("sort".to_owned(), sort)].into(), ..Limits::of_all(0.02) };
    let wanted = |limits: Limits| Wanted { limits, variants: vec![] };
    assert_eq!(with(&record, &wanted(limits(0.05))).unwrap().outcome, Outcome::Passes);
    assert_eq!(with(&record, &wanted(limits(0.03))).unwrap().outcome, Outcome::Fails);
    let one = Limits { max_slowdown: None, ..limits(0.05) };
    let gate = with(&record, &wanted(one)).unwrap();
    assert_eq!((gate.cases.len(), gate.outcome), (1, Outcome::Passes), "a workload without a limit is not asked about");
    let none = with(&record, &wanted(Limits { workloads: [("x".to_owned(), 0.1)].into(), max_slowdown: None }));
    assert_eq!(none, Err(NoGate::NoLimit));
}

#[test]
fn only_the_variants_that_were_asked_about_count() {
    let slower = |variant: &str, _: &str| if variant == "c" { 1.1 } else { 1.0 };
    let record = executed(&["loop"], &["baseline", "b", "c"], slower);
    let of = |names: &[&str]| {
        let variants = names.iter().map(|&name| name.to_owned()).collect();
        with(&record, &Wanted { limits: Limits::of_all(0.02), variants })
    };
    assert_eq!(of(&[]).unwrap().outcome, Outcome::Fails);
    assert_eq!(of(&["b"]).unwrap().outcome, Outcome::Passes);
    assert_eq!(of(&["c"]).unwrap().outcome, Outcome::Fails);
    let known = vec!["b".to_owned(), "c".to_owned()];
    assert_eq!(of(&["d"]), Err(NoGate::UnknownVariant { name: "d".to_owned(), known: known.clone() }));
    assert_eq!(of(&["baseline"]), Err(NoGate::Baseline { name: "baseline".to_owned(), known }));
    assert_eq!(at(&executed(&["loop"], &["baseline"], |_, _| 1.0), 0.02), Err(NoGate::NoVariant));
}

#[test]
fn a_failed_trial_does_not_pass() {
    let check = |failing: &str, named: &str| {
        let mut record = pair(0.9);
        let trial = record.trials.iter_mut().find(|trial| trial.variant == failing).unwrap();
        trial.outcome = Ended::Failed(Failure::BadMarks { why: "no".to_owned() });
        let variant = named.to_owned();
        decides(&record, &Decision::Broken(Broken::TrialsFailed { variant, failed: 1, of: 12 }));
        assert_eq!(at(&record, 0.02).unwrap().outcome.code(), bakeoff_command::Code::VariantFailed);
    };
    check("b", "b");
    check("baseline", "baseline");
    check("twin", "baseline");
}

#[test]
fn one_that_fails_elsewhere_is_not_asked_about() {
    let mut record = executed(&["loop"], &["baseline", "b", "c"], |_, _| 1.0);
    let trial = record.trials.iter_mut().find(|trial| trial.variant == "c").unwrap();
    trial.outcome = Ended::Failed(Failure::BadMarks { why: "no".to_owned() });
    assert_eq!(outcome(&record), Outcome::Broken);
    let b = Wanted { limits: Limits::of_all(0.02), variants: vec!["b".to_owned()] };
    assert_eq!(with(&record, &b).unwrap().outcome, Outcome::Passes);
}

/// The line on a build that came to this, with these other fields.
fn build(variant: &str, outcome: &Value, more: Value) -> MadeLine {
    let mut line = json!({ "digest": variant, "variants": [variant], "outcome": outcome, "cached": false, "cost": {},
        "tools": {}, "prefix_bytes": null });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    MadeLine::of(&line).unwrap()
}

fn finished(variant: &str, proof: &Value) -> MadeLine {
    build(variant, &json!("built"), json!({ "proof": proof }))
}

#[test]
fn one_that_could_not_be_built_does_not_pass_unless_that_was_foreseen() {
    let mut record = pair(1.0);
    let failed = json!({ "failed": { "layer": "l", "why": "exited with code 1", "tail": [], "log": null } });
    record.made = vec![finished("baseline", &json!({})), finished("b", &json!({})), build("c", &failed, json!({}))];
    let gate = at(&record, 0.02).unwrap();
    assert_eq!(gate.outcome, Outcome::Broken);
    assert_eq!(gate.cases[1].decision, Decision::Broken(Broken::NotBuilt));
    record.made[2] = build("c", &failed, json!({ "foreseen": { "text": "x", "line": "x" } }));
    assert_eq!(outcome(&record), Outcome::Passes, "the study says that it cannot be built");
    let named = Wanted { limits: Limits::of_all(0.02), variants: vec!["c".to_owned()] };
    assert_eq!(with(&record, &named).unwrap().outcome, Outcome::Broken, "it was asked for by name");
}

#[test]
fn the_same_program_cannot_be_slower() {
    // Raced all the same, and by chance it looks slower.
    let mut record = pair(1.1);
    record.study.build_factors = vec![FactorLine { name: "opt".to_owned(), ..FactorLine::default() }];
    for name in ["baseline", "b"] {
        record.made.push(finished(name, &json!({ "files": "same" })));
    }
    decides(&record, &Decision::Passes(Passed::SameProgram));
    // Not raced, beside one that was, and without any.
    let shared = SharedLine {
        variant: VariantLine { name: "c".to_owned(), ..VariantLine::default() },
        with: "baseline".to_owned(),
        ..SharedLine::default()
    };
    let mut record = pair(1.0);
    record.study.shared = vec![shared.clone()];
    let gate = at(&record, 0.02).unwrap();
    assert_eq!(
        (gate.outcome, gate.cases[1].decision.clone()),
        (Outcome::Passes, Decision::Passes(Passed::SameProgram))
    );
    let mut nothing = study(&["loop"], &["baseline"]);
    nothing.study.shared = vec![shared.clone()];
    nothing.sessions.clear();
    let gate = at(&nothing, 0.02).unwrap();
    assert_eq!(gate.outcome, Outcome::Passes);
    assert_eq!(
        text(&gate),
        "The gate passes: c is the same program as the baseline, file for file, so it cannot be slower."
    );
    // The same as another one: what that one comes to.
    let mut record = pair(1.1);
    record.study.shared = vec![SharedLine { with: "b".to_owned(), ..shared }];
    let gate = at(&record, 0.02).unwrap();
    assert!(gate.cases.iter().all(|case| case.decision == Decision::Fails), "{gate:?}");
}

#[test]
fn a_flag_without_effect_makes_a_variant_another_one() {
    let with = |of: &[(&str, u64, u64)]| {
        let mut record = pair(1.0);
        for &(name, reached, overridden) in of {
            let flag = json!({ "layer": "l", "variable": "OPT", "flag": "-O3", "reached": reached, "of": 4,
                "overridden": overridden });
            record.made.push(finished(name, &json!({ "flags": [flag] })));
        }
        record
    };
    let broken = Decision::Broken(Broken::FlagWithoutEffect { flag: "-O3".to_owned() });
    decides(&with(&[("b", 0, 0)]), &broken);
    decides(&with(&[("b", 4, 4)]), &broken);
    decides(&with(&[("baseline", 0, 0)]), &broken);
    for fine in [&[("b", 4, 0)][..], &[("b", 1, 0)], &[("baseline", 0, 0), ("b", 0, 0)]] {
        decides(&with(fine), &Decision::Passes(Passed::Interval));
    }
    // It may be why the two are the same program: then nothing is known of the variant that was meant.
    let mut record = with(&[("b", 0, 0)]);
    record.trials.clear();
    record.blocks.clear();
    let variant = record.study.variants.pop().unwrap();
    record.study.shared = vec![SharedLine { variant, with: "baseline".to_owned(), ..SharedLine::default() }];
    decides(&record, &broken);
}

#[test]
fn other_output_is_no_pass_where_it_must_be_the_same() {
    let mut record = pair(1.0);
    for trial in &mut record.trials {
        let sha256 = if trial.variant == "b" { "other" } else { "same" };
        trial.output = vec![Output { bytes: 1, sha256: sha256.to_owned() }];
    }
    decides(&record, &Decision::Broken(Broken::OtherOutput));
    record.study.outputs.insert("loop".to_owned(), OutputUse::Noted);
    let gate = at(&record, 0.02).unwrap();
    assert_eq!(gate.outcome, Outcome::Passes);
    assert!(text(&gate).ends_with("Note: b prints different output."), "{}", text(&gate));
}

#[test]
fn an_unfinished_study_is_undecided_whatever_it_shows() {
    for ratio in [0.5, 2.0] {
        let mut record = pair(ratio);
        record.sessions[0].blocks = 20;
        decides(&record, &Decision::Undecided(Open::Unfinished));
        let said = text(&at(&record, 0.02).unwrap());
        assert!(said.contains("8 blocks of the plan are missing (12 of 20 done)"), "{said}");
    }
    // A block without all of its trials is not finished either.
    let mut record = pair(1.0);
    record.trials.pop();
    decides(&record, &Decision::Undecided(Open::Unfinished));
}

#[test]
fn a_study_that_stopped_by_its_rule_is_finished() {
    let stopping = |blocks: u32, ratio: f64| {
        let mut record = study(&["loop"], &["baseline", "b"]);
        (record.study.until, record.study.looks_until) = (Until::Decided, Some(40));
        execute(&mut record, blocks, &mut Stream::of(5, &["rule"]), |trial, _, stream| {
            let mean = if trial.variant == "b" { ratio } else { 1.0 };
            measure(trial, "wall", mean * (0.002 * stream.normal()).exp());
        });
        record.sessions[0].blocks = 40;
        record
    };
    assert_eq!(outcome(&stopping(8, 1.2)), Outcome::Fails, "the first look has shown it");
    assert_eq!(outcome(&stopping(8, 0.8)), Outcome::Passes);
    decides(&stopping(7, 1.2), &Decision::Undecided(Open::Unfinished));
}

#[test]
fn a_metric_without_values_is_undecided() {
    let mut record = pair(1.0);
    record.study.decide.metrics = vec!["peak".to_owned()];
    decides(&record, &Decision::Undecided(Open::NotMeasured));
    let mut record = pair(1.0);
    let of_b = record.trials.iter_mut().filter(|trial| trial.variant == "b");
    of_b.for_each(|trial| trial.measurements = Default::default());
    decides(&record, &Decision::Undecided(Open::NotMeasured));
    assert!(text(&at(&record, 0.02).unwrap()).contains("in wall time, b has no value for this metric"));
}

#[test]
fn too_few_blocks_say_how_many_are_missing() {
    let mut record = study(&["loop"], &["baseline", "b"]);
    execute(&mut record, 2, &mut Stream::of(1, &[]), |trial, _, _| measure(trial, "wall", 1.0));
    let gate = at(&record, 0.02).unwrap();
    assert_eq!((gate.outcome, gate.more_blocks), (Outcome::Undecided, Some(4)), "{gate:?}");
}

#[test]
fn blocks_that_are_missing_decide() {
    let noisy = |blocks: u32, ratio: f64| {
        let mut record = study(&["loop"], &["baseline", "b"]);
        execute(&mut record, blocks, &mut Stream::of(3, &["missing"]), |trial, _, stream| {
            let mean = if trial.variant == "b" { ratio } else { 1.0 };
            measure(trial, "wall", mean * (0.02 * stream.normal()).exp());
        });
        at(&record, 0.02).unwrap()
    };
    let first = noisy(10, 1.0);
    assert_eq!(first.outcome, Outcome::Undecided, "{first:?}");
    let more = first.more_blocks.unwrap();
    assert!((3..100).contains(&more), "{more}");
    assert_eq!(noisy(10 + 2 * more, 1.0).outcome, Outcome::Passes);
    // At the limit itself no number of blocks decides.
    let at_limit = Levels { alpha: 0.05, alpha_to_fail: 0.05, family: 1 };
    let record = pair(1.02);
    let comparison = bakeoff_judge::judge(&record).tables[0].rows[1].comparison.clone().unwrap();
    let slowdown = Slowdown::new(&comparison, Direction::Less, None).unwrap();
    assert_eq!(more_blocks(&comparison, &slowdown, comparison.estimate - 1.0, at_limit), None);
}

#[test]
fn memory_below_the_launchers_is_not_shown_to_be_as_little() {
    let floor = 65_536.0;
    let memory = |baseline: f64, variant: f64| {
        let mut record = pair(1.0);
        record.study.decide.metrics = vec!["maxrss".to_owned()];
        record.sessions[0].memory_floor_bytes = Some(floor);
        for trial in &mut record.trials {
            let bytes = if trial.variant == "b" { variant } else { baseline };
            let noise = trial.value("wall").unwrap();
            measure(trial, "maxrss", if bytes > floor { bytes * noise } else { bytes });
        }
        record
    };
    decides(&memory(floor, floor), &Decision::Undecided(Open::MemoryFloor));
    decides(&memory(1e6, 1e6), &Decision::Passes(Passed::Interval));
    decides(&memory(1e6, floor), &Decision::Passes(Passed::Interval));
    decides(&memory(floor, 1e6), &Decision::Fails);
}

#[test]
fn counts_that_see_little_of_the_time_pass_nothing() {
    let counts = |share: f64, variant: f64| {
        let mut record = pair(1.0);
        let metric = record.study.metric("instructions").unwrap();
        record.study.metrics = vec![Metric { exact: true, counted: true, ..metric }];
        record.study.decide.metrics = vec!["instructions".to_owned()];
        for trial in &mut record.trials {
            measure(trial, "instructions", if trial.variant == "b" { variant } else { 1e6 });
            measure(trial, "seen", share);
        }
        record
    };
    decides(&counts(0.9, 1e6), &Decision::Passes(Passed::Interval));
    decides(&counts(0.7, 1e6), &Decision::Undecided(Open::UnseenTime));
    decides(&counts(0.7, 1.5e6), &Decision::Fails);
}

#[test]
fn differences_are_fractions_of_what_the_baseline_typically_has() {
    let counted = |baseline: f64, more: f64| {
        let mut record = pair(1.0);
        record.study.decide.metrics = vec!["majflt".to_owned()];
        for trial in &mut record.trials {
            // One of them is 0, so that no ratio can be formed.
            let odd = trial.block == 1 && trial.variant == "twin";
            let value = if trial.variant == "b" { baseline + more } else { baseline };
            let noise = f64::from(trial.block % 3 + trial.position % 2) * 0.01 * baseline;
            let first = trial.block == 1 && trial.variant == "baseline";
            measure(trial, "majflt", if odd || first { 0.0 } else { value + noise });
        }
        record
    };
    assert_eq!(outcome(&counted(100.0, -40.0)), Outcome::Passes);
    assert_eq!(outcome(&counted(100.0, 40.0)), Outcome::Fails);
    decides(&counted(0.0, 3.0), &Decision::Undecided(Open::NoPercentage));
}

#[test]
fn ticks_beyond_the_margin_decide_nothing() {
    let mut record = pair(1.0);
    for trial in &mut record.trials {
        let ticks = 6.0 + f64::from((trial.block + trial.position) % 2);
        measure(trial, "wall", ticks * 0.01);
    }
    decides(&record, &Decision::Undecided(Open::ClockTooCoarse));
}

#[test]
fn the_worst_case_wins() {
    let ratio = |variant: &str, _: &str| if variant == "c" { 1.2 } else { 1.0 };
    let mut record = executed(&["loop"], &["baseline", "b", "c", "d"], ratio);
    assert_eq!(outcome(&record), Outcome::Fails);
    let trial = record.trials.iter_mut().find(|trial| trial.variant == "d").unwrap();
    trial.outcome = Ended::Failed(Failure::BadMarks { why: "no".to_owned() });
    let gate = at(&record, 0.02).unwrap();
    assert_eq!(gate.outcome, Outcome::Broken);
    assert!(text(&gate).contains("1 of 12 trials of d failed. Of 3 comparisons, 1 fails."), "{}", text(&gate));
}

/// What `--only` leaves of the findings is decided as before, and nothing else.
#[test]
fn variants_that_are_left_out_have_no_case() {
    let record =
        executed(&["loop", "scan"], &["baseline", "b", "c"], |variant, _| if variant == "c" { 1.5 } else { 1.0 });
    let findings = bakeoff_judge::judge(&record);
    let limits = || Wanted { limits: Limits::of_all(0.02), variants: vec![] };
    let all = gate(&record, &findings, &limits()).unwrap();
    let mut left = findings.clone();
    assert_eq!(left.retain(&["b".to_owned()]), None);
    let only = gate(&record, &left, &limits()).unwrap();
    let expect: Vec<Case> = all.cases.iter().filter(|case| case.variant == "b").cloned().collect();
    assert_eq!(only.cases, expect);
    assert_eq!((all.outcome, only.outcome), (Outcome::Fails, Outcome::Passes));
}
