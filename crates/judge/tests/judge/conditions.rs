//! What a record tells beside its comparisons: parts of conditions, the load, void trials and their rules, metrics that
//! could not be measured, and which of two kinds of peak memory there is.

use bakeoff_judge::findings::{Findings, Verdict, VoidBy};
use bakeoff_judge::judge;
use bakeoff_model::record::{
    Boot, Failure, Held, Line, Outcome, Record, Session, Surrounding, TWIN, Trial, Unavailable, VariantLine,
};
use bakeoff_model::study::VoidRule;
use bakeoff_testkit::records as common;
use bakeoff_testkit::records::{doubt, execute, measure, metrics, noise, study};

fn told(condition: &str, what: &str, state: Held) -> Surrounding {
    Surrounding { condition: condition.to_owned(), what: what.to_owned(), state }
}

/// Idle and busy; beside `b`, the load ends `load` times as often as beside the others.
fn busy(load: f64) -> Record {
    let mut record = study(&["a", "b"], &["idle", "busy"], &["wall"]);
    record.sessions[0].surroundings = vec![
        told("idle", "processor time of other programs", Held::Observed("foreign_cpu".to_owned())),
        told("busy", "4 copies of the baseline", Held::Held),
        told("busy", "addresses not randomised", Held::Unavailable("seccomp".to_owned())),
    ];
    execute(&mut record, 12, |trial| {
        let wall_s = if trial.condition == "busy" { 2.0 } else { 1.0 };
        measure(trial, "wall", wall_s * noise(trial));
        measure(trial, "foreign_cpu", f64::from(trial.block) / 100.0);
        if trial.condition == "busy" {
            let rate = if trial.variant == "b" { 8.0 * load } else { 8.0 };
            let rate = rate * noise(trial);
            measure(trial, "load_rate", rate);
            measure(trial, "load_cpu", 3.0);
        }
    });
    record
}

/// Two variants and their twin on a machine of two processors; `foreign` is other programs' share beside each trial.
fn with_foreign(wall_s: f64, foreign: fn(&Trial) -> f64) -> Record {
    let mut record = study(&["a", "b"], &["idle"], &["wall"]);
    record.sessions[0].place.cpus = 2;
    execute(&mut record, 12, |trial| {
        measure(trial, "wall", wall_s * noise(trial));
        let share = foreign(trial);
        measure(trial, "foreign_cpu", share);
    });
    record
}

/// Trials that are too short to have other programs' share, but for some; and the load average of each.
fn short(known: u32, load: f64, has_load: bool) -> Record {
    let mut record = study(&["a", "b"], &["idle"], &["wall"]);
    record.sessions[0].place.cpus = 2;
    execute(&mut record, 12, |trial| {
        measure(trial, "wall", 0.001 * noise(trial));
        measure(trial, "load", load);
        if trial.block <= known {
            measure(trial, "wall", 1.0 * noise(trial));
            measure(trial, "foreign_cpu", 0.5);
        }
        if has_load {
            measure(trial, "load_rate", 8.0);
        }
    });
    record
}

#[test]
fn a_machine_that_others_use_is_doubtful_however_short_trials_are() {
    let check = |record: &Record, busy: &str, loaded: &str| {
        let findings = judge(record);
        for (kind, expect) in [("busy-machine", busy), ("high-load", loaded)] {
            let found = doubt(&findings, kind);
            assert_eq!(found.is_empty(), expect.is_empty(), "{kind}: {found}");
            assert!(found.contains(expect), "{kind}: {expect} is not in {found}");
        }
    };
    check(&short(0, 12.0, false), "", "11.0 processes other than Bakeoff's ran on or waited for 2 processors");
    check(&short(0, 1.9, false), "", "");
    check(&short(0, 12.0, true), "", "");
    // 9 of 36 trials have a share, and speak for the others.
    check(&short(3, 12.0, false), "in 9 of the 9 trials that could be measured", "");
    check(&short(1, 12.0, false), "", "11.0 processes");
}

#[test]
fn a_run_of_fixed_duration_tells_nothing_by_its_time() {
    let check = |wall_s: fn(&Trial) -> f64, metric: &str, expect: &str| {
        let mut record = study(&["a", "b"], &["idle"], &[metric]);
        execute(&mut record, 12, |trial| {
            let wall_s = wall_s(trial);
            measure(trial, "wall", wall_s);
            measure(trial, "user", 0.3 * noise(trial));
        });
        let found = doubt(&judge(&record), "fixed-time");
        assert_eq!(found.is_empty(), expect.is_empty(), "{found}");
        assert!(found.contains(expect), "{expect} is not in {found}");
    };
    let late = |trial: &Trial| 5.0 + 0.001 * f64::from(trial.block) + 0.0001 * f64::from(trial.position);
    check(late, "wall", "takes 5.0 s, whatever the variant, because it runs for a fixed time");
    check(late, "user", "");
    let slow_to_start = |trial: &Trial| 0.1 + 5.0 + 0.001 * f64::from(trial.block);
    check(slow_to_start, "wall", "takes 5.0 s, whatever the variant, because it runs for a fixed time");
    check(|trial| 5.1 + 0.01 * f64::from(trial.block), "wall", "");
    check(|trial| if trial.variant == "b" { 4.9 } else { 5.001 }, "wall", "");
    check(|trial| 0.01 * noise(trial), "wall", "");
    check(|trial| 5.2 * noise(trial), "wall", "");
}

#[test]
fn a_machine_that_others_use_is_doubtful() {
    let check = |wall_s: f64, foreign: fn(&Trial) -> f64, expect: &str| {
        let findings = judge(&with_foreign(wall_s, foreign));
        let found = doubt(&findings, "busy-machine");
        assert_eq!(found.is_empty(), expect.is_empty(), "{found}");
        assert!(found.contains(expect), "{expect} is not in {found}");
    };
    check(1.0, |_| 0.5, "used more than 10 % of processor time in 36 of 36 valid trials under idle, so");
    check(1.0, |trial| if trial.block <= 3 { 0.5 } else { 0.02 }, "in 9 of 36 valid trials under idle");
    // A robust test puts up with that many.
    check(1.0, |trial| if trial.block <= 2 { 0.5 } else { 0.02 }, "");
    check(1.0, |_| 0.02, "");
    // One trial that was long enough to have a share does not speak for the others.
    check(1.0, |trial| if trial.block == 1 && trial.variant == "b" { 0.5 } else { f64::NAN }, "");
    // One variant leaves its work to others.
    check(
        1.0,
        |trial| if trial.variant == "b" && trial.block < 8 { 0.5 } else { 0.02 },
        "in 7 of 12 trials of b under idle",
    );
    // A single tick of the clock that counts is no evidence.
    check(0.05, |_| 0.11, "");
    check(0.05, |_| 0.5, "in 36 of 36 valid trials");
}

#[test]
fn trials_that_do_not_count_are_no_doubt() {
    let mut record = with_foreign(1.0, |trial| if trial.block <= 6 { 0.5 } else { 0.02 });
    for trial in record.trials.iter_mut().filter(|trial| trial.block <= 6) {
        trial.outcome = Outcome::Void("foreign_cpu 50 % > 10 %".to_owned());
    }
    assert_eq!(doubt(&judge(&record), "busy-machine"), "");
}

#[test]
fn parts_of_conditions_are_told_by_their_state() {
    let findings = judge(&busy(1.0));
    let [idle, busy] = findings.conditions.as_slice() else { panic!("{:?}", findings.conditions) };
    let observed = idle.parts[0].observed.as_ref().expect("it was measured");
    // Three trials a block, and blocks 1 to 12.
    assert_eq!((observed.n, observed.median), (36, 0.065));
    assert!(observed.median_interval.is_some_and(|[low, high]| low < 0.065 && 0.065 < high));
    let states: Vec<(&str, &Held)> = busy.parts.iter().map(|part| (part.what.as_str(), &part.state)).collect();
    assert_eq!(
        states,
        [
            ("4 copies of the baseline", &Held::Held),
            ("addresses not randomised", &Held::Unavailable("seccomp".to_owned()))
        ]
    );
    assert!(busy.parts.iter().all(|part| (part.sessions, part.of) == (1, 1) && part.observed.is_none()));
    assert!(idle.watched.is_empty(), "no load, no word on it");
}

#[test]
fn sessions_that_disagree_are_both_told() {
    let mut record = busy(1.0);
    let held = told("busy", "addresses not randomised", Held::Held);
    record.sessions.push(Session { session: 2, blocks: 24, surroundings: vec![held], ..Session::default() });
    // A session without trials was nowhere.
    let lies = told("busy", "addresses not randomised", Held::Unavailable("nowhere".to_owned()));
    record.sessions.push(Session { session: 3, blocks: 24, surroundings: vec![lies], ..Session::default() });
    record.trials.iter_mut().filter(|trial| trial.block > 6).for_each(|trial| trial.session = 2);
    let findings = judge(&record);
    let parts: Vec<(&str, u32, u32)> =
        findings.conditions[1].parts.iter().map(|part| (part.what.as_str(), part.sessions, part.of)).collect();
    let aslr = "addresses not randomised";
    assert_eq!(parts, [("4 copies of the baseline", 1, 1), (aslr, 1, 2), (aslr, 1, 2)]);
}

#[test]
fn a_load_that_is_not_the_same_for_all_is_a_doubt() {
    let same = judge(&busy(1.0));
    assert_eq!(doubt(&same, "unequal-load"), "");
    let watched = &same.conditions[1].watched;
    assert_eq!(watched.iter().map(|w| w.metric.as_str()).collect::<Vec<_>>(), ["load_rate", "load_cpu"]);
    assert_eq!((watched[0].all.n, watched[0].variants.len()), (36, 0));

    let other = judge(&busy(1.12));
    let text = doubt(&other, "unequal-load");
    assert!(text.contains("b on loop under busy: 12.") && text.contains("% more often"), "{text}");
    let watched = &other.conditions[1].watched[0];
    let medians: Vec<(&str, bool)> =
        watched.variants.iter().map(|v| (v.variant.as_str(), v.summary.median > 8.5)).collect();
    assert_eq!(medians, [("a", false), ("b", true)]);

    // Within the margin of 1 % it does not matter, however sure one is of it.
    assert_eq!(doubt(&judge(&busy(1.005)), "unequal-load"), "");
}

#[test]
fn throughput_is_told_where_several_execute_at_once() {
    let mut record = study(&["a", "b"], &["idle", "two"], &["wall"]);
    execute(&mut record, 6, |trial| {
        measure(trial, "wall", 2.0);
        if trial.condition == "two" {
            let process = |wall_s: f64| [("wall".to_owned(), wall_s)].into();
            trial.processes = vec![process(1.6), process(2.0)];
        }
    });
    let findings = judge(&record);
    assert_eq!(findings.conditions.len(), 1, "nothing is told of idle");
    let watched: Vec<(&str, f64)> =
        findings.conditions[0].watched.iter().map(|w| (w.metric.as_str(), w.all.median)).collect();
    // Two processes in 2 s; one of them at 1/1.6, the other at 1/2 a second.
    assert_eq!(watched, [("throughput", 1.0), ("throughput of each", 0.5625)]);
}

const RULE: &str = "foreign_cpu";

/// Of `b`, every `every`th trial is void at first, and repeated at once.
fn void(blocks: u32, every: u32) -> Record {
    let mut record = study(&["a", "b"], &["idle"], &["wall"]);
    record.study.void_if = vec![VoidRule { metric: RULE.to_owned(), above: 0.2 }];
    execute(&mut record, blocks, |trial| {
        measure(trial, "wall", noise(trial));
        measure(trial, RULE, 0.01);
    });
    let is_void = |trial: &Trial| trial.variant == "b" && trial.block.is_multiple_of(every);
    let with_void = |trial: Trial| {
        let mut first = Trial { outcome: Outcome::Void("foreign_cpu 40 % > 20 %".to_owned()), ..trial.clone() };
        measure(&mut first, "wall", 50.0);
        measure(&mut first, RULE, 0.4);
        let again = Trial { attempt: 1, ..trial.clone() };
        if is_void(&trial) { vec![first, again] } else { vec![trial] }
    };
    record.trials = record.trials.into_iter().flat_map(with_void).collect();
    record
}

#[test]
fn void_trials_are_counted_by_their_rules_and_not_compared() {
    let mut record = void(12, 4);
    // The last attempt is void as well: not by the rule, although it would apply, and for good.
    let last = record.trials.iter_mut().rfind(|trial| trial.variant == "b" && trial.attempt == 1).unwrap();
    last.outcome = Outcome::Void("bin/p was changed during the block".to_owned());
    measure(last, RULE, 0.4);
    last.attempt = 5;
    let findings = judge(&record);
    let lost = &findings.failures[0];
    assert_eq!((lost.variant.as_str(), lost.void, lost.repeated, lost.failed, lost.of), ("b", 4, 3, 0, 15));
    let by = |metric: Option<&str>, trials, example: &str| VoidBy {
        metric: metric.map(str::to_owned),
        trials,
        example: example.to_owned(),
    };
    assert_eq!(
        lost.void_by,
        [by(Some(RULE), 3, "foreign_cpu 40 % > 20 %"), by(None, 1, "bin/p was changed during the block")]
    );
    let row = &findings.tables[0].rows[1];
    assert_eq!(row.summary.as_ref().map(|summary| (summary.n, summary.max < 2.0)), Some((11, true)));
    assert_eq!(findings.blocks_finished, 12);
    assert_eq!(doubt(&findings, "void-rates"), "");
}

#[test]
fn a_block_that_waits_for_a_repeat_is_not_finished() {
    let mut record = void(12, 12);
    record.trials.retain(|trial| trial.attempt == 0);
    assert_eq!(judge(&record).blocks_finished, 11);
}

#[test]
fn a_rule_that_voids_one_variant_more_often_is_a_doubt() {
    let text = |record: &Record| doubt(&judge(record), "void-rates").to_owned();
    let all = text(&void(20, 2));
    assert!(all.contains("b, 10 of 30 trials against 0 of 20") && all.contains("lucky"), "{all}");
    assert_eq!(text(&void(20, 10)), "", "2 of 22 may be chance");
    assert_eq!(text(&void(600, 30)), "", "20 of 620 is not, but selects next to nothing");
}

#[test]
fn a_metric_that_cannot_be_had_is_named_once_and_has_no_table() {
    let mut record = study(&["a", "b"], &["idle"], &["wall", "instructions", "cycles"]);
    record.study.void_if = vec![VoidRule { metric: "pressure_cpu".to_owned(), above: 0.1 }];
    let group = |names: &[&str], why: &str| Unavailable {
        metrics: names.iter().map(|name| (*name).to_owned()).collect(),
        why: why.to_owned(),
    };
    record.sessions[0].unavailable = vec![
        group(&["instructions", "cycles", "branches"], "no hardware counters here"),
        group(&["pressure_cpu"], "no cgroups here"),
        group(&["cgroup_peak"], "no cgroups at all"),
    ];
    execute(&mut record, 6, |trial| {
        measure(trial, "wall", noise(trial));
        if trial.block == 1 {
            measure(trial, "cycles", 1e6);
        }
    });
    let findings = judge(&record);
    assert_eq!(metrics(&findings), ["wall", "cycles"], "a metric with some values keeps its table");
    assert_eq!(findings.unavailable, record.sessions[0].unavailable);
    let missing =
        vec![group(&["instructions", "cycles"], "no hardware counters here"), findings.unavailable[1].clone()];
    assert_eq!(findings.missing, missing);
    assert!(doubt(&findings, "blind-rules").contains("pressure_cpu"));
    assert_eq!(findings.metrics.iter().map(|m| m.name.as_ref()).collect::<Vec<_>>(), ["wall", "cycles"]);
}

#[test]
fn what_a_boot_cannot_measure_is_named_with_its_reason_once() {
    let mut record = study(&["a", "b"], &["idle"], &["wall", "user"]);
    execute(&mut record, 6, |trial| measure(trial, "wall", noise(trial)));
    let ticks = Unavailable { metrics: vec!["user".to_owned()], why: "this kernel samples by ticks".to_owned() };
    for pass in 1..=6 {
        let unavailable = vec![ticks.clone()];
        record.push(Line::Boot(Boot { session: 1, pass, variant: "a".to_owned(), unavailable, ..Boot::default() }));
    }
    let findings = judge(&record);
    assert_eq!(findings.missing, std::slice::from_ref(&ticks));
    assert_eq!(findings.unavailable, [ticks]);
}

#[test]
fn a_metric_that_no_trial_has_is_missing_and_one_of_another_workload_is_not() {
    let mut record = study(&["a", "b"], &["idle"], &["wall", "majflt"]);
    execute(&mut record, 6, |trial| measure(trial, "wall", noise(trial)));
    let missing = |record: &Record| judge(record).missing.iter().flat_map(|group| group.metrics.clone()).collect();
    let names: Vec<String> = missing(&record);
    assert_eq!((names, metrics(&judge(&record))), (vec!["majflt".to_owned()], vec!["wall"]));

    // Another workload has it: then the first one just has no table of it.
    record.study.workloads.push("scan".to_owned());
    let mut others: Vec<Trial> = record.trials.clone();
    for trial in &mut others {
        trial.workload = "scan".to_owned();
        measure(trial, "majflt", 3.0);
    }
    record.trials.extend(others);
    let names: Vec<String> = missing(&record);
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(metrics(&judge(&record)), ["wall", "wall", "majflt"]);

    // Where every trial failed, the table stays: it is not the metric that is missing.
    let failed = || Outcome::Failed(Failure::BadMarks { why: "no phase `scan`".to_owned() });
    record.trials.iter_mut().for_each(|trial| trial.outcome = failed());
    assert_eq!(metrics(&judge(&record)).len(), 4);
}

/// Peaks of 1.1 MiB, from the sources that `cgroup` tells by block, with a launcher of 1.1 MiB.
fn peaks(cgroup: fn(u32) -> bool) -> Findings {
    let mut record = study(&["a", "b"], &["idle"], &["peak"]);
    record.sessions[0].memory_floor_bytes = Some(1_150_000.0);
    execute(&mut record, 8, |trial| {
        let metric = if cgroup(trial.block) { "cgroup_peak" } else { "maxrss" };
        let bytes = 1_150_000.0 * noise(trial);
        measure(trial, metric, bytes);
    });
    judge(&record)
}

#[test]
fn peak_memory_names_its_source() {
    let check = |cgroup: fn(u32) -> bool, source: &str, is_mixed: bool, verdict: Verdict| {
        let findings = peaks(cgroup);
        assert!(findings.metrics[0].source.contains(source), "{:?}", findings.metrics);
        assert_eq!(doubt(&findings, "two-kinds-of-peak").is_empty(), !is_mixed);
        let comparison = findings.tables[0].rows[1].comparison.as_ref().expect("a comparison");
        assert_eq!(comparison.verdict, verdict);
        let is_open = matches!(verdict, Verdict::Undecided { .. });
        assert_eq!(common::kinds(&comparison.caveats).contains(&"memory-floor".to_owned()), is_open);
    };
    let open = Verdict::Undecided { more_blocks: None };
    check(|_| true, "memory.peak", false, Verdict::Equivalent);
    // What is inherited from the launcher is not shown to be the same.
    check(|_| false, "ru_maxrss", false, open);
    check(|block| block > 4, "else wait4", true, open);
}

#[test]
fn a_twin_that_is_void_is_counted_too() {
    let mut record = void(12, 4);
    record.study.variants.push(VariantLine { name: TWIN.to_owned(), ..VariantLine::default() });
    let twin = record.trials.iter_mut().find(|trial| trial.variant == TWIN).unwrap();
    twin.outcome = Outcome::Failed(Failure::BadMarks { why: "no phase `scan`".to_owned() });
    let findings = judge(&record);
    let names: Vec<(&str, u32, u32)> =
        findings.failures.iter().map(|lost| (lost.variant.as_str(), lost.void, lost.failed)).collect();
    assert_eq!(names, [("b", 3, 0), (TWIN, 0, 1)]);
}
