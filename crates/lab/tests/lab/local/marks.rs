//! What a trial tells of itself, by real descriptors and real output: phases, ops, values; and what is wrong of it.

use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::{Failure, Outcome, Trial};
use bakeoff_model::study::{OpSpec, Take, ValueSource, ValueSpec};
use bakeoff_testkit::stage::Stage;

/// A shell opens a descriptor by its number, which is all that it needs to mark.
fn mark(line: &str) -> String {
    format!("echo '{line}' >&$BAKEOFF_MARKS")
}

fn spec(name: &str, from: ValueSource, unit: Unit, scale: f64) -> ValueSpec {
    ValueSpec { name: name.to_owned(), from, unit, scale, better: Direction::Less, exact: false }
}

fn ops(count: Option<u64>) -> Option<OpSpec> {
    Some(OpSpec { unit: "set".to_owned(), count, names: vec![] })
}

#[test]
fn phases_and_ops_that_are_marked_are_kept() {
    let lines = ["phase load", "op 0.001", "op 0.003", "phase scan", "op get 0.002"].map(mark);
    let stage = Stage::new(&format!("{}; sleep 0.1", lines.join("; ")))
        .workload(|w| (w.phases, w.ops) = (vec!["load".to_owned(), "scan".to_owned()], ops(Some(3))));
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    let trial = Trial { measurements: execution.measurements, marks: execution.marks, ..Trial::default() };
    let wall_s = trial.value("wall").unwrap();
    let (load_s, scan_s) = (trial.value("load.wall").unwrap(), trial.value("scan.wall").unwrap());
    assert!(scan_s >= 0.1 && load_s + scan_s <= wall_s, "{load_s} + {scan_s} of {wall_s}");
    assert_eq!(trial.value("load.op.count"), Some(2.0));
    assert!((trial.value("load.op.max").unwrap() - 0.003).abs() < 1e-9);
    assert!((trial.value("throughput").unwrap() - 3.0 / wall_s).abs() < 1e-9);
}

#[test]
fn what_is_declared_and_not_marked_fails_the_trial() {
    let why = |stage: Stage| match stage.outcome() {
        Outcome::Failed(Failure::BadMarks { why }) => why,
        other => panic!("{other:?}"),
    };
    let stage = Stage::new(&mark("phase load")).workload(|w| w.phases = vec!["load".to_owned(), "scan".to_owned()]);
    assert_eq!(why(stage), "the command did not mark the phase `scan`");
    let stage = Stage::new(&mark("op")).workload(|w| w.ops = ops(Some(2)));
    assert_eq!(why(stage), "the command marked 1 op (set), not 2");
    assert_eq!(why(Stage::new("exit 0").workload(|w| w.ops = ops(None))), "the command marked no ops (set)");
    let wrong = why(Stage::new(&mark("hello there")));
    assert!(wrong.contains("hello there"), "{wrong}");
    let value = spec("sets", ValueSource::Mark, Unit::Count, 1.0);
    let missing = why(Stage::new("exit 0").workload(|w| w.values = vec![value]));
    assert!(missing.contains("`sets`"), "{missing}");
    // Why a process failed says more than what it did not tell.
    let stage = Stage::new("exit 3").workload(|w| w.ops = ops(None));
    assert!(matches!(stage.outcome(), Outcome::Failed(Failure::Exit { code: 3, .. })));
}

#[test]
fn values_come_from_marks_and_from_the_output() {
    let run = format!("echo 'took 12 ms'; echo 'took 250 ms'; {}", mark("value sets 7"));
    let stage = Stage::new(&run).workload(|w| {
        w.values = vec![
            spec("took", ValueSource::Regex("took ([0-9.]+) ms".to_owned()), Unit::Seconds, 0.001),
            spec("sets", ValueSource::Mark, Unit::Count, 1.0),
        ];
    });
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    assert!((execution.measurements["took"] - 0.25).abs() < 1e-12, "{:?}", execution.measurements);
    assert!((execution.measurements["sets"] - 7.0).abs() < 1e-12);
    let stage = Stage::new("printf 'a,b\\n1,2\\n3,4\\n'").workload(|w| {
        w.values = vec![spec("b", ValueSource::Csv { column: "b".to_owned(), take: Take::Sum }, Unit::Count, 1.0)];
    });
    assert!((stage.execute("a").measurements["b"] - 6.0).abs() < 1e-12);
    let stage = Stage::new("echo '{\"total\": {\"ops\": [5, 8]}}'").workload(|w| {
        w.values = vec![spec("ops", ValueSource::Json("total.ops.1".to_owned()), Unit::Count, 1.0)];
    });
    assert!((stage.execute("a").measurements["ops"] - 8.0).abs() < 1e-12);
}

#[test]
fn ops_of_several_processes_are_pooled_and_rates_summed() {
    let run = "echo \"op 0.00$BAKEOFF_PROCESS\" >&$BAKEOFF_MARKS; echo \"$BAKEOFF_PROCESS per second\"";
    let from = || ValueSource::Regex("[0-9]+".to_owned());
    let stage = Stage::new(run).condition(|c| c.processes = 3).workload(|w| {
        w.ops = ops(Some(1));
        w.values = vec![spec("rate", from(), Unit::PerSecond, 1.0), spec("mean", from(), Unit::Count, 1.0)];
    });
    let execution = stage.execute("a");
    assert_eq!(execution.outcome, Outcome::Ok);
    assert!((execution.measurements["rate"] - 6.0).abs() < 1e-12);
    assert!((execution.measurements["mean"] - 2.0).abs() < 1e-12);
    assert_eq!(execution.marks.ops_count(), 3);
    let rates: Vec<f64> = execution.processes.iter().map(|process| process["rate"]).collect();
    assert_eq!(rates, [1.0, 2.0, 3.0]);
}

#[test]
fn a_trial_that_marks_nothing_has_no_marks() {
    let execution = Stage::new("exit 0").execute("a");
    assert!(execution.marks.is_empty() && execution.processes.is_empty());
    assert!(!execution.measurements.contains_key("each_wall"));
}

#[test]
fn marks_beyond_the_limit_fail_the_trial_by_the_limits_name() {
    let stage = Stage::new("yes 'op 0.001' | head -c 70000000 >&$BAKEOFF_MARKS").workload(|w| w.ops = ops(None));
    let outcome = stage.outcome();
    let Outcome::Failed(Failure::BadMarks { why }) = &outcome else { panic!("{outcome:?}") };
    assert!(why.starts_with("they exceed the limit of 64 MiB per process"), "{why}");
}
