//! The elapsed time of several workloads together, summed by pass and judged like any pair.

use super::conclude;
use super::contrasts::Contrasts;
use super::ids::{Cell, Place, VariantId};
use super::infer::{self, Inference};
use super::interim_view::InterimView;
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::{Pairs, Passes, Trials};
use crate::findings::Comparison;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::Record;

const WALL: &str = "wall";

/// What several workloads take together, for each of these variants; `None` where there is but one, or none.
pub fn sums(record: &Record, baseline: &str, variants: &[&str], workloads: &[Vec<&str>]) -> Vec<Option<Comparison>> {
    let view = InterimView::of(record);
    let rule = DecisionRule::of(&record.study, view.mode);
    let trials = Trials::until(record, view.last_pass);
    let passes = trials.passes(WALL);
    let Some(condition) = record.study.conditions.first() else { return vec![None; variants.len()] };
    let spec = MetricSpec::measured(Some(Unit::Seconds), Direction::Less, false);
    let all: Vec<Pairs> = variants
        .iter()
        .zip(workloads)
        .map(|(variant, workloads)| {
            let places: Vec<Place> = workloads.iter().map(|workload| trials.ids.place(workload, condition)).collect();
            pairs(&passes, [baseline, variant].map(|name| trials.ids.variant(name)), &places)
        })
        .collect();
    let contrasts: Vec<Contrasts> = all.iter().map(|pairs| Contrasts::of_pairs(pairs, spec, rule.margin)).collect();
    let conclude = |(pairs, inference): (&Pairs, Option<Inference>)| {
        let comparison = conclude::conclude(pairs, &inference?, spec, rule);
        Some(Comparison { caveats: vec![], ..comparison })
    };
    all.iter().zip(infer::infer_family(&contrasts, 0, rule)).map(conclude).collect()
}

/// The sums of baseline and variant in each pass. One place is no sum: there are no pairs, and so nothing is inferred.
fn pairs(passes: &Passes, variants: [VariantId; 2], places: &[Place]) -> Pairs {
    let mut pairs = Pairs::default();
    for (number, cells) in passes.iter().filter(|_| places.len() > 1) {
        let sum = |variant| places.iter().map(|place| cells.get(&Cell { variant, place: *place })).sum::<Option<f64>>();
        match variants.map(sum) {
            [Some(before), Some(after)] => {
                pairs.blocks.push(*number);
                pairs.baseline.push(before);
                pairs.variant.push(after);
            }
            _ => pairs.lost += 1,
        }
    }
    pairs
}
