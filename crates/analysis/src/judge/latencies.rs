//! Latencies of ops as findings. The unit is the trial: every figure is taken of each trial alone, and its median over the
//! trials has an interval. Ops of one trial share its fate, so their number makes no interval narrower.

use super::Rule;
use super::effects::{places, variants};
use super::trials::Trials;
use crate::findings::{LatencyRow, LatencyTable, Pooled, Summary, Typical};
use bakeoff_model::marks::Latencies;
use bakeoff_model::record::{Outcome, StudyLine, TWIN};

/// The phase and the name of an op.
type Kind<'a> = (Option<&'a str>, Option<&'a str>);

/// One table for every workload × condition × kind of op; kinds in the order in which they were first marked.
pub(super) fn tables(study: &StudyLine, trials: &Trials<'_>, rule: Rule) -> Vec<LatencyTable> {
    let mut tables = vec![];
    for (workload, condition) in places(study) {
        for kind in kinds(trials, workload, condition) {
            let row = |variant: &str| {
                let all: Vec<&Latencies> = trials
                    .blocks(workload, condition)
                    .filter_map(|block| block.get(variant).filter(|trial| trial.outcome == Outcome::Ok))
                    .filter_map(|trial| trial.marks.ops.iter().find(|ops| kind_of(ops) == kind))
                    .map(|ops| &ops.latencies)
                    .collect();
                row(variant, &all, rule.alpha)
            };
            let owned = |name: Option<&str>| name.map(str::to_owned);
            tables.push(LatencyTable {
                workload: workload.to_owned(),
                condition: condition.to_owned(),
                phase: owned(kind.0),
                op: owned(kind.1),
                rows: variants(study).filter_map(|variant| row(&variant.name)).collect(),
                twin: row(TWIN),
            });
        }
    }
    tables
}

fn kind_of(ops: &bakeoff_model::marks::OpLatencies) -> Kind<'_> {
    (ops.phase.as_deref(), ops.name.as_deref())
}

fn kinds<'a>(trials: &Trials<'a>, workload: &str, condition: &str) -> Vec<Kind<'a>> {
    let mut kinds = vec![];
    for trial in trials.blocks(workload, condition).flat_map(|block| block.values().copied()) {
        for ops in trial.marks.ops.iter().filter(|_| trial.outcome == Outcome::Ok) {
            if !kinds.contains(&kind_of(ops)) {
                kinds.push(kind_of(ops));
            }
        }
    }
    kinds
}

/// None if no trial marked such ops.
fn row(variant: &str, all: &[&Latencies], alpha: f64) -> Option<LatencyRow> {
    let typical = |figure: &dyn Fn(&Latencies) -> f64| {
        let values: Vec<f64> = all.iter().map(|latencies| figure(latencies)).collect();
        let Summary { median, median_interval: interval, .. } = Summary::new(&values, alpha)?;
        Some(Typical { median, interval })
    };
    let quantile = |q: f64| typical(&|latencies| latencies.quantile(q));
    let ops = all.iter().map(|latencies| latencies.count()).sum::<u64>();
    let sum_s = all.iter().map(|latencies| latencies.sum_s()).sum::<f64>();
    Some(LatencyRow {
        variant: variant.to_owned(),
        trials: all.len() as u32,
        ops: typical(&|latencies| latencies.count() as f64)?,
        mean_s: typical(&Latencies::mean_s)?,
        min_s: typical(&Latencies::min_s)?,
        p50_s: quantile(0.5)?,
        p90_s: quantile(0.9)?,
        p99_s: quantile(0.99)?,
        p999_s: quantile(0.999)?,
        max_s: typical(&Latencies::max_s)?,
        pooled: Pooled {
            ops,
            mean_s: sum_s / ops as f64,
            min_s: all.iter().map(|latencies| latencies.min_s()).fold(f64::INFINITY, f64::min),
            max_s: all.iter().map(|latencies| latencies.max_s()).fold(0.0, f64::max),
        },
    })
}
