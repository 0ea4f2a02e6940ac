//! What belongs to a family of comparisons, and what a family may take from its members.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod common;

use bakeoff_analysis::judge;
use bakeoff_model::record::{Failure, Outcome};
use common::{execute, measure, noise, study};

/// A 2 × 2 whose last combination always fails, with the fewest blocks that can show anything: a part of alpha would be too
/// little for what is left.
#[test]
fn what_cannot_be_estimated_takes_no_part_of_alpha() {
    let names = ["00", "10", "01", "11"];
    let mut record = study(&names, &["idle"], &["wall"]);
    for (variant, name) in record.study.variants.iter_mut().zip(names) {
        let levels = ["a", "b"].into_iter().zip(name.chars());
        variant.levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_string())).collect();
    }
    record.study.decide.baseline = record.study.variants[0].levels.clone();
    execute(&mut record, 6, |trial| {
        let wall_s = if trial.variant == "10" { 1.1 } else { 1.0 } * noise(trial);
        measure(trial, "wall", wall_s);
        if trial.variant == "11" {
            trial.outcome = Outcome::Failed(Failure::Exit { code: 1, stderr: vec![] });
        }
    });
    let findings = judge(&record);
    let mut shown = 0;
    for effect in findings.effects.iter().flat_map(|family| &family.effects) {
        let Some(comparison) = &effect.comparison else { continue };
        let told = comparison.caveats.iter().any(|caveat| caveat.kind == "too-few-blocks");
        assert!(comparison.interval.is_some() || told, "no interval, and no word on it: {effect:?}");
        shown += u32::from(comparison.interval.is_some());
    }
    assert!(shown > 0, "{:?}", findings.effects);
}
