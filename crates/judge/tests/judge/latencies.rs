//! Latencies of ops: the trial is the unit, whatever the number of its ops.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use bakeoff_judge::findings::{LatencyTable, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::marks::{Latencies, Marks, OpLatencies, Phase};
use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_model::record::{Outcome, Record, Trial};
use bakeoff_testkit::records::{execute, measure, noise, study};

/// `ops` latencies of 1, 2, … ms times `factor`.
fn marked(phase: Option<&str>, name: Option<&str>, ops: u32, factor: f64) -> OpLatencies {
    let latencies = Latencies::of((1..=ops).map(|i| 1e-3 * factor * f64::from(i))).expect("some ops");
    OpLatencies { phase: phase.map(str::to_owned), name: name.map(str::to_owned), latencies }
}

/// 100 gets and 10 sets a trial; of `b`, gets take 1.5 times as long.
fn record() -> Record {
    let mut record = study(&["a", "b"], &["idle"], &["wall", "op.get.p99"]);
    record.study.metrics = vec![Metric {
        name: "op.get.p99".into(),
        unit: Unit::Seconds,
        better: Direction::Less,
        what: "latency that 99 % of ops do not exceed".into(),
        source: "marks: op get".into(),
        exact: false,
        counted: false,
    }];
    execute(&mut record, 12, |trial| {
        measure(trial, "wall", noise(trial));
        let factor = if trial.variant == "b" { 1.5 } else { 1.0 };
        let get = marked(Some("serve"), Some("get"), 100, factor * noise(trial));
        let serve = Phase { name: "serve".to_owned(), began_s: 0.5, ended_s: 0.5 + factor * noise(trial) };
        trial.marks = Marks { phases: vec![serve], ops: vec![get, marked(Some("serve"), Some("set"), 10, 1.0)] };
    });
    record
}

fn near(value: f64, expect: f64) -> bool {
    (value / expect - 1.0).abs() < 0.005
}

fn table<'f>(tables: &'f [LatencyTable], op: &str) -> &'f LatencyTable {
    tables.iter().find(|table| table.op.as_deref() == Some(op)).expect("a table")
}

#[test]
fn every_figure_is_a_median_over_trials() {
    let findings = judge(&record());
    let places: Vec<_> = findings.latencies.iter().map(|t| (t.phase.as_deref(), t.op.as_deref())).collect();
    assert_eq!(places, [(Some("serve"), Some("get")), (Some("serve"), Some("set"))]);
    let get = table(&findings.latencies, "get");
    let [a, b] = get.rows.as_slice() else { panic!("{get:?}") };
    assert_eq!((a.variant.as_str(), a.trials, a.ops.median, a.pooled.ops), ("a", 12, 100.0, 1200));
    for (figure, expect) in [
        (a.mean_s, 0.0505),
        (a.min_s, 0.001),
        (a.p50_s, 0.050),
        (a.p90_s, 0.090),
        (a.p99_s, 0.099),
        (a.p999_s, 0.100),
        (a.max_s, 0.100),
        (b.p99_s, 0.1485),
        (a.rate_per_s.expect("a phase"), 100.0),
        (b.rate_per_s.expect("a phase"), 100.0 / 1.5),
    ] {
        assert!(near(figure.median, expect), "{} is not {expect}", figure.median);
        let [low, high] = figure.interval.expect("twelve trials have an interval");
        assert!(low <= figure.median && figure.median <= high && high / low < 1.01, "{figure:?}");
    }
    assert!(get.twin.as_ref().is_some_and(|twin| near(twin.p50_s.median, 0.05)));
    assert!(near(b.pooled.mean_s, 0.07575) && near(b.pooled.max_s, 0.15) && near(b.pooled.min_s, 0.0015));
}

#[test]
fn a_percentile_that_the_study_names_is_compared() {
    let findings = judge(&record());
    let table = findings.tables.iter().find(|table| table.metric == "op.get.p99").expect("a table");
    let comparison = table.rows[1].comparison.as_ref().expect("a comparison");
    assert_eq!((comparison.verdict, comparison.blocks), (Verdict::Slower, 12));
    assert!(near(comparison.estimate, 1.5));
    assert_eq!(findings.metrics[1].source, "marks: op get");
}

/// With a thousand times the ops, intervals stay as wide: requests are not replicates.
#[test]
fn more_ops_make_no_interval_narrower() {
    let interval = |ops| {
        let mut record = study(&["a", "b"], &["idle"], &["wall"]);
        execute(&mut record, 9, |trial| {
            measure(trial, "wall", 1.0);
            // Whole trials differ by up to 40 %, whatever their ops do.
            let factor = 1.0 + 0.05 * f64::from(trial.block % 9);
            trial.marks = Marks { ops: vec![marked(None, None, ops, factor / f64::from(ops))], ..Marks::default() };
        });
        judge(&record).latencies[0].rows[0].max_s.interval.expect("an interval")
    };
    let ([few_low, few_high], [many_low, many_high]) = (interval(10), interval(10_000));
    assert!(near(few_low, many_low) && near(few_high, many_high), "{few_low} … {few_high}, {many_low} … {many_high}");
}

#[test]
fn trials_that_do_not_count_have_no_say() {
    let mut record = record();
    let spoil = |trial: &mut Trial| {
        trial.outcome = Outcome::Void("foreign_cpu 40 % > 20 %".to_owned());
        trial.attempt = 5;
        trial.marks.ops.push(marked(None, Some("odd"), 3, 1e3));
    };
    record.trials.iter_mut().filter(|trial| trial.block == 3).for_each(spoil);
    let findings = judge(&record);
    assert_eq!(findings.latencies.len(), 2, "no table of what only void trials marked");
    assert_eq!(table(&findings.latencies, "get").rows[0].trials, 11);
}

/// The metric `op.rate` is of all ops: where some have a name, it is not the rate of those that have none.
#[test]
fn ops_without_a_name_beside_others_have_no_rate() {
    let unnamed = |others: bool| {
        let mut record = study(&["a", "b"], &["idle"], &["wall"]);
        execute(&mut record, 6, |trial| {
            measure(trial, "wall", 2.0);
            trial.marks.ops = vec![marked(None, None, 10, 1.0)];
            trial.marks.ops.extend(others.then(|| marked(None, Some("get"), 10, 1.0)));
        });
        judge(&record).latencies[0].rows[0].rate_per_s.map(|rate| rate.median)
    };
    assert_eq!([unnamed(false), unnamed(true)], [Some(5.0), None]);
}
