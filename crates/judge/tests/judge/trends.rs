//! What each step of a factor does whose levels rise, on records with a planted truth.

use super::effects::{Factor, combinations, record};
use bakeoff_judge::findings::{Effect, EffectKind, Subject, Verdict};
use bakeoff_judge::judge;
use std::collections::BTreeMap;

/// Eight percent for each step, whatever the other factor is, which costs ten.
fn steps(levels: &BTreeMap<String, String>, _: &str, _: &str) -> f64 {
    let step = levels["level"].parse::<f64>().map_or(0.0, f64::log2);
    1.08_f64.powf(step) * if levels["opt"] == "O0" { 1.1 } else { 1.0 }
}

#[test]
fn a_trend_is_what_each_step_does_averaged_over_the_other_factors() {
    let factors: [Factor; 2] = [("level", &["1", "2", "4", "8"]), ("opt", &["O2", "O0"])];
    let all = combinations(&factors);
    let trend = |variants: &[BTreeMap<String, String>]| -> Option<Effect> {
        let mut record = record(variants, &["w"], &["idle"], steps);
        record.study.decide.trends = vec!["level".to_owned()];
        let family = judge(&record).effects.into_iter().find(|family| family.kind == EffectKind::Trend)?;
        family.effects.into_iter().next()
    };
    let effect = trend(&all).expect("a trend");
    let comparison = effect.comparison.expect("it is judged");
    let subject = Subject::Steps { factor: "level".to_owned() };
    assert_eq!((&effect.subject, comparison.verdict), (&subject, Verdict::Slower));
    assert!((comparison.estimate / 1.08 - 1.0).abs() < 0.002, "{}", comparison.estimate);
    let [low, high] = comparison.interval().expect("an interval");
    assert!(low < 1.08 && 1.08 < high, "{low} … {high}");
    assert_eq!(trend(&all[..7]), None, "a step that is not there for all levels of the others");
    assert_eq!(trend(&all[..4]), None, "two steps make no trend");
}
