//! Which trials of a record count, for formats that hold trials and know none that do not: the last attempt of each, if it is
//! ok. It is the rule of `bakeoff_judge`, so n and medians agree with those of the findings.

use bakeoff_model::range::is_usable;
use bakeoff_model::record::{Outcome, Record, Trial};
use std::collections::BTreeMap;

/// The trials of one variant on one workload under one condition that count, in the order of their blocks.
pub(crate) struct Cell<'a> {
    pub(crate) variant: &'a str,
    pub(crate) workload: &'a str,
    pub(crate) condition: &'a str,
    pub(crate) trials: Vec<&'a Trial>,
}

/// All cells of these variants: workload by workload, condition by condition, variant by variant, as the study has them.
pub(crate) fn cells<'a>(record: &'a Record, variants: &[&'a str]) -> Vec<Cell<'a>> {
    let mut last: BTreeMap<(&str, &str, &str), BTreeMap<u32, &Trial>> = BTreeMap::new();
    for trial in &record.trials {
        let key = (trial.workload.as_str(), trial.condition.as_str(), trial.variant.as_str());
        last.entry(key).or_default().insert(trial.block, trial);
    }
    let mut cells = vec![];
    for workload in &record.study.workloads {
        for condition in &record.study.conditions {
            for variant in variants {
                let trials = last.remove(&(workload.as_str(), condition.as_str(), *variant)).unwrap_or_default();
                let trials = trials.into_values().filter(|trial| trial.outcome == Outcome::Ok).collect();
                cells.push(Cell { variant, workload, condition, trials });
            }
        }
    }
    cells
}

/// A trial's value of a metric, if it is one that can be reckoned with.
pub(crate) fn value(trial: &Trial, metric: &str) -> Option<f64> {
    trial.value(metric).filter(|value| is_usable(*value))
}
