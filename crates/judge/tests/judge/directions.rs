//! Metrics of which more is better: the same values as a cost and as a yield give the same numbers and the opposite verdicts.
#![expect(clippy::expect_used, reason = "all of this file is tests")]

use bakeoff_judge::findings::{EffectKind, Findings, Row, Verdict};
use bakeoff_judge::judge;
use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_model::record::Record;
use bakeoff_testkit::records as common;

/// Variants a to d, whose values of the study's own metric `score` are 1, 1.05, 0.95 and 1 times 200.
fn record(better: Direction) -> Record {
    let mut record = common::study(&["a", "b", "c", "d"], &["idle", "busy"], &["score"]);
    record.study.metrics = vec![Metric {
        name: "score".into(),
        unit: Unit::Count,
        better,
        what: "a declared value".into(),
        source: "its output".into(),
        exact: false,
        counted: false,
    }];
    common::execute(&mut record, 12, |trial| {
        let factor = match trial.variant.as_str() {
            "b" => 1.05,
            "c" => 0.95,
            _ => 1.0,
        };
        let busy = if trial.condition == "busy" { 0.8 } else { 1.0 };
        let score = 200.0 * factor * busy * common::noise(trial);
        common::measure(trial, "score", score);
    });
    record
}

fn verdict(row: &Row) -> Verdict {
    row.comparison.as_ref().expect("a comparison").verdict
}

fn ranked(findings: &Findings) -> Vec<&str> {
    let ranking = findings.tables[0].ranking.as_ref().expect("a ranking");
    ranking.variants.iter().map(|ranked| ranked.variant.as_str()).collect()
}

#[test]
fn a_yield_is_judged_the_other_way_round() {
    let (cost, gain) = (judge(&record(Direction::Less)), judge(&record(Direction::More)));
    let verdicts = |findings: &Findings| findings.tables[0].rows[1..].iter().map(verdict).collect::<Vec<_>>();
    assert_eq!(verdicts(&cost), [Verdict::Slower, Verdict::Faster, Verdict::Equivalent]);
    assert_eq!(verdicts(&gain), [Verdict::Faster, Verdict::Slower, Verdict::Equivalent]);
    for (cost, gain) in cost.tables[0].rows[1..].iter().zip(&gain.tables[0].rows[1..]) {
        let numbers = |row: &Row| row.comparison.as_ref().map(|c| (c.estimate, c.interval(), c.p_corrected()));
        assert_eq!(numbers(cost), numbers(gain), "a direction changes no number");
    }
    assert_eq!(cost.tables[0].better, Direction::Less);
    assert_eq!(gain.tables[0].better, Direction::More);
}

#[test]
fn a_ranking_begins_with_the_best() {
    let (cost, gain) = (judge(&record(Direction::Less)), judge(&record(Direction::More)));
    assert_eq!((ranked(&cost)[0], ranked(&cost)[3]), ("c", "b"));
    assert_eq!((ranked(&gain)[0], ranked(&gain)[3]), ("b", "c"));
    let last = &gain.tables[0].ranking.as_ref().expect("a ranking").variants[3];
    assert!(last.against_best.is_some_and(|ratio| (ratio - 0.95 / 1.05).abs() < 0.005), "{last:?}");
}

#[test]
fn a_condition_that_costs_some_of_a_yield_is_worse() {
    let of = |better| {
        let findings = judge(&record(better));
        let family = findings.effects.iter().find(|family| family.kind == EffectKind::Condition).expect("conditions");
        (family.better, family.effects[0].comparison.as_ref().expect("a comparison").verdict)
    };
    assert_eq!(of(Direction::Less), (Direction::Less, Verdict::Faster));
    assert_eq!(of(Direction::More), (Direction::More, Verdict::Slower));
}
