//! Benchmarks of a suite: each has a table, all of them are one family, and their mean is the suite's. The rate of false claims
//! is that of the whole suite.

use bakeoff_judge::findings::{Caveat, EffectKind, Findings, Verdict};
use bakeoff_judge::{judge, stopping};
use bakeoff_model::record::{Record, Trial};
use bakeoff_model::shuffle::Stream;
use bakeoff_model::suite::Part;
use bakeoff_model::until::Until;
use bakeoff_testkit::records::{execute, measure, noise, study};

const SEED: u64 = 31;

/// A suite of this number of benchmarks, in which `change` is what a variant does to one: what it multiplies times with.
fn suite(benchmarks: u32, passes: u32, draw: &mut Stream, change: impl Fn(&str, u32) -> f64) -> Record {
    let mut record = study(&["a", "b"], &["idle"], &["sec/op"]);
    execute(&mut record, passes, |trial: &mut Trial| {
        measure(trial, "wall", 1.0);
        // What all benchmarks of a process have in common.
        let common = draw.normal();
        for number in 0..benchmarks {
            let seconds = 1e-6 * (1.0 + 0.005 * (common + draw.normal())) * change(&trial.variant, number);
            let values = [("sec/op".to_owned(), seconds)].into();
            trial.parts.insert(format!("B{number:02}"), Part { values, failed: None });
        }
    });
    record
}

fn verdict(findings: &Findings, workload: &str) -> Verdict {
    let table = findings.tables.iter().find(|table| table.workload == workload).unwrap();
    table.rows[1].comparison.as_ref().unwrap().verdict
}

#[test]
fn each_benchmark_has_a_table_and_the_suite_a_mean() {
    let mut draw = Stream::of(SEED, &["benchmarks"]);
    let record = suite(3, 12, &mut draw, |variant, number| if variant == "b" && number == 1 { 1.1 } else { 1.0 });
    let findings = judge(&record);
    assert_eq!(findings.tables.len(), 3);
    assert_eq!(verdict(&findings, "B01"), Verdict::Slower);
    assert!(!matches!(verdict(&findings, "B00"), Verdict::Slower | Verdict::Faster));
    assert_eq!((findings.method.family, findings.blocks_total, findings.blocks_finished), (3, 36, 36));
    let mean = findings.effects.iter().find(|family| family.kind == EffectKind::Suite).unwrap();
    let estimate = mean.effects[0].comparison.as_ref().unwrap().estimate;
    assert!((estimate - 1.1_f64.powf(1.0 / 3.0)).abs() < 0.01, "{estimate}");
}

#[test]
fn what_is_asked_of_the_process_is_no_part_of_the_mean() {
    let mut draw = Stream::of(SEED, &["process"]);
    let mut record = suite(3, 12, &mut draw, |_, _| 1.0);
    record.study.decide.metrics.push("wall".to_owned());
    for trial in &mut record.trials {
        let wall_s = noise(trial);
        measure(trial, "wall", wall_s);
    }
    let findings = judge(&record);
    let of = |metric: &str| findings.tables.iter().filter(|table| table.metric == metric).count();
    assert_eq!([of("sec/op"), of("wall")], [3, 1]);
    let means: Vec<&str> = findings.effects.iter().map(|family| family.metric.as_str()).collect();
    assert_eq!(means, ["sec/op"]);
    assert!(findings.effects[0].effects[0].comparison.is_some());
}

#[test]
fn a_rule_for_stopping_waits_for_every_benchmark() {
    let mut draw = Stream::of(SEED, &["stopping"]);
    let mut enough = |wild: f64| {
        let mut noise = Stream::of(SEED, &["wild"]);
        let mut record = suite(4, 12, &mut draw, |_, _| 1.0);
        record.study.until = Until::Precision(0.02);
        for trial in &mut record.trials {
            let part = trial.parts.get_mut("B03").unwrap();
            part.values.values_mut().for_each(|seconds| *seconds *= (wild * noise.normal()).exp());
        }
        stopping::enough(&record)
    };
    assert_eq!([enough(0.0), enough(0.5)], [true, false]);
}

/// Of suites in which nothing differs, few have any benchmark that is called different: the rate holds for all of them
/// together. Taken one by one, nearly half of the suites had one.
#[test]
fn the_error_rate_is_that_of_the_whole_suite() {
    const SUITES: u32 = 200;
    const BENCHMARKS: u32 = 20;
    println!("seed {SEED}");
    let mut draw = Stream::of(SEED, &["rates"]);
    let (mut together, mut alone) = (0, 0);
    for _ in 0..SUITES {
        let findings = judge(&suite(BENCHMARKS, 10, &mut draw, |_, _| 1.0));
        let comparisons = || findings.tables.iter().map(|table| table.rows[1].comparison.as_ref().unwrap());
        together += u32::from(comparisons().any(|comparison| comparison.differs()));
        alone += u32::from(comparisons().any(|comparison| comparison.inferred.tested().unwrap().p.unwrap() <= 0.05));
    }
    println!("{together} of {SUITES} suites together, {alone} one by one");
    // Two standard errors above 5 %.
    assert!(together <= 16, "{together} of {SUITES}");
    assert!(alone > SUITES / 3, "{alone} of {SUITES}");
}

#[test]
fn what_is_odd_about_a_process_is_odd_once() {
    let mut draw = Stream::of(SEED, &["once"]);
    let mut record = suite(3, 12, &mut draw, |_, _| 1.0);
    record.trials.iter_mut().take(5).for_each(|trial| trial.leftovers = 1);
    let counted = |record: &Record| {
        judge(record).caveats.iter().find_map(|caveat| match caveat {
            Caveat::Leftovers { trials, .. } => Some(*trials),
            _ => None,
        })
    };
    assert_eq!(counted(&record), Some(5));
    assert_eq!(counted(&record.in_parts()), Some(5));
}

#[test]
fn a_twin_of_the_mean_that_differs_is_a_doubt() {
    let mut draw = Stream::of(SEED, &["twin"]);
    let record = suite(4, 12, &mut draw, |variant, number| match variant {
        "twin" => 1.0 + 0.012 * f64::from(number),
        _ => 1.0,
    });
    let mut findings = judge(&record);
    let twin = findings.effects[0].twin.take().unwrap();
    assert_eq!(twin.verdict, Verdict::Slower);
    let of_tables = findings.tables.iter().filter_map(|table| table.noise_floor.as_ref()?.comparison.as_ref());
    let odd = of_tables.filter(|twin| matches!(twin.verdict, Verdict::Faster | Verdict::Slower)).count();
    let told = findings
        .caveats
        .iter()
        .any(|caveat| matches!(caveat, Caveat::TwinDiffers { differ, of } if (*differ, *of) == (odd + 1, 5)));
    assert!(told, "{:?}", findings.caveats);
}

#[test]
fn values_that_can_vary_and_did_not_have_no_interval() {
    let mut draw = Stream::of(SEED, &["constant"]);
    let mut record = suite(2, 12, &mut draw, |_, _| 1.0);
    record.study.decide.metrics = vec!["allocs/op".to_owned()];
    for part in record.trials.iter_mut().flat_map(|trial| trial.parts.values_mut()) {
        part.values = [("allocs/op".to_owned(), 12.0)].into();
    }
    let findings = judge(&record);
    for table in &findings.tables {
        let comparison = table.rows[1].comparison.as_ref().unwrap();
        assert_eq!((comparison.printed_interval(), comparison.unvaried()), (None, Some(12)));
        let json = serde_json::to_value(comparison).unwrap();
        assert!(json["interval"].is_null() && json["equivalence_interval"].is_null(), "{json}");
    }
}
