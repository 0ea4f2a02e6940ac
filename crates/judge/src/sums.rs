//! The elapsed time of several workloads together, summed by pass and judged like any pair.

use super::conclude;
use super::contrasts::Contrasts;
use super::ids::Cell;
use super::infer::{self, Inference};
use super::interim_view::InterimView;
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::{Pairs, Trials};
use crate::findings::Comparison;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::Record;

const WALL: &str = "wall";

/// What several workloads take together, for each of these variants; `None` where there is but one, or none.
pub fn sums(record: &Record, baseline: &str, variants: &[&str], workloads: &[Vec<&str>]) -> Vec<Option<Comparison>> {
    let view = InterimView::of(record);
    let rule = DecisionRule::of(&record.study, view.mode);
    let trials = Trials::until(record, view.last_pass);
    let (ids, passes) = (&trials.ids, trials.passes(WALL));
    let Some(condition) = record.study.conditions.first() else { return vec![None; variants.len()] };
    let pairs = |variant: &str, workloads: &[&str]| {
        let mut pairs = Pairs::default();
        for (number, cells) in &passes {
            let sum = |name: &str| {
                let cell = |workload: &&str| Cell { variant: ids.variant(name), place: ids.place(workload, condition) };
                workloads.iter().map(|workload| cells.get(&cell(workload))).sum::<Option<f64>>()
            };
            match sum(baseline).zip(sum(variant)) {
                Some((before, after)) => {
                    pairs.blocks.push(*number);
                    pairs.baseline.push(before);
                    pairs.variant.push(after);
                }
                None => pairs.lost += 1,
            }
        }
        pairs
    };
    let spec = MetricSpec { unit: Some(Unit::Seconds), better: Direction::Less, exact: false, floor: 0.0, step: None };
    // One is no sum: there are no pairs, and so nothing is inferred.
    let sums = |(variant, workloads): (&&str, &Vec<&str>)| {
        if workloads.len() > 1 { pairs(variant, workloads) } else { Pairs::default() }
    };
    let all: Vec<Pairs> = variants.iter().zip(workloads).map(sums).collect();
    let contrasts: Vec<Contrasts> = all.iter().map(|pairs| Contrasts::of_pairs(pairs, spec, rule.margin)).collect();
    let conclude = |(pairs, inference): (&Pairs, Option<Inference>)| {
        let comparison = conclude::conclude(pairs, &inference?, spec, rule);
        Some(Comparison { caveats: vec![], ..comparison })
    };
    all.iter().zip(infer::family(&contrasts, rule)).map(conclude).collect()
}
