//! Latencies of ops as findings. The unit is the trial: every figure is taken of each trial alone, and its median over the
//! trials has an interval. Ops of one trial share its fate, so their number makes no interval narrower.

use super::ids::Place;
use super::rule::DecisionRule;
use super::study::variants;
use super::trials::{Trials, value_that_counts};
use crate::findings::{LatencyRow, LatencyTable, Pooled, Summary, Typical};
use bakeoff_model::grouped::unique;
use bakeoff_model::marks::Latencies;
use bakeoff_model::record::{Outcome, StudyLine, TWIN, Trial};

/// The phase and the name of an op.
type OpKey<'a> = (Option<&'a str>, Option<&'a str>);

/// One table for every workload × condition × kind of op; kinds in the order in which they were first marked.
pub(super) fn tables(study: &StudyLine, trials: &Trials<'_>, rule: DecisionRule) -> Vec<LatencyTable> {
    let mut tables = vec![];
    for place in trials.ids.places(study) {
        let (workload, condition) = trials.ids.names(place);
        for kind in kinds(trials, place) {
            let [count, rate] = ["count", "rate"].map(|stat| metric_of(kind, stat));
            // The metric of ops without a name is of all ops, and so no rate of these where others have one.
            let rate_of = |trial: &Trial, latencies: &Latencies| {
                let of_these = value_that_counts(trial, &count) == Some(latencies.count() as f64);
                value_that_counts(trial, &rate).filter(|_| of_these)
            };
            let row = |variant: &str| {
                let id = trials.ids.variant(variant);
                let (latencies, rates): (Vec<&Latencies>, Vec<Option<f64>>) = trials
                    .blocks(place)
                    .filter_map(|block| block.get(&id).filter(|trial| trial.outcome == Outcome::Ok))
                    .filter_map(|trial| Some((trial, trial.marks.ops.iter().find(|ops| kind_of(ops) == kind)?)))
                    .map(|(trial, ops)| (&ops.latencies, rate_of(trial, &ops.latencies)))
                    .unzip();
                row(variant, &latencies, &rates.into_iter().flatten().collect::<Vec<_>>(), rule.alpha)
            };
            tables.push(LatencyTable {
                workload: workload.to_owned(),
                condition: condition.to_owned(),
                phase: kind.0.map(str::to_owned),
                op: kind.1.map(str::to_owned),
                rows: variants(study).filter_map(|variant| row(&variant.name)).collect(),
                twin: row(TWIN),
            });
        }
    }
    tables
}

fn kind_of(ops: &bakeoff_model::marks::OpLatencies) -> OpKey<'_> {
    (ops.phase.as_deref(), ops.name.as_deref())
}

/// The metric of such ops, such as `scan.op.get.rate`.
fn metric_of(kind: OpKey<'_>, stat: &str) -> String {
    kind.0.into_iter().chain(["op"]).chain(kind.1).chain([stat]).collect::<Vec<_>>().join(".")
}

fn kinds<'a>(trials: &Trials<'a>, place: Place) -> Vec<OpKey<'a>> {
    let all = trials.blocks(place).flat_map(|block| block.values().copied());
    unique(all.filter(|trial| trial.outcome == Outcome::Ok).flat_map(|trial| trial.marks.ops.iter().map(kind_of)))
}

fn typical_of(values: &[f64], alpha: f64) -> Option<Typical> {
    let Summary { median, median_interval: interval, .. } = Summary::new(values, alpha)?;
    Some(Typical { median, interval })
}

/// None if no trial marked such ops.
fn row(variant: &str, all: &[&Latencies], rates: &[f64], alpha: f64) -> Option<LatencyRow> {
    let typical = |figure: &dyn Fn(&Latencies) -> f64| {
        typical_of(&all.iter().map(|latencies| figure(latencies)).collect::<Vec<f64>>(), alpha)
    };
    let quantile = |q: f64| typical(&|latencies| latencies.quantile(q));
    let ops = all.iter().map(|latencies| latencies.count()).sum::<u64>();
    let sum_s = all.iter().map(|latencies| latencies.sum_s()).sum::<f64>();
    Some(LatencyRow {
        variant: variant.to_owned(),
        trials: all.len() as u32,
        ops: typical(&|latencies| latencies.count() as f64)?,
        rate_per_s: typical_of(rates, alpha),
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
