//! The tables of findings: of every workload × condition × metric a row for each variant, and on the deciding metric
//! the ranking of all. Inference and verdicts are made in the files named here; it puts them together.

use super::contrasts::Contrasts;
use super::ids::{Ids, Place, VariantId};
use super::infer::{self, Inference};
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::{Pairs, Trials, Values};
use super::{conclude, pairs, provided, ranking};
use crate::findings::{Comparison, Row, Summary, Table, Verdict};
use bakeoff_model::metric::Metric;
use bakeoff_model::record::{Record, TWIN, VariantLine};
use std::collections::BTreeMap;

/// Every workload × condition × metric. A metric that this version does not know has no table; [`super::doubts`] says so.
pub(super) fn tables(
    record: &Record,
    trials: &Trials<'_>,
    variants: &[VariantLine],
    rule: DecisionRule,
    metrics: &[String],
) -> Vec<Table> {
    let study = &record.study;
    let has_twin = study.variants.iter().any(|v| v.name == TWIN) || record.trials.iter().any(|t| t.variant == TWIN);
    let mut tables = vec![];
    for workload in &study.workloads {
        for condition in &study.conditions {
            for known in metrics.iter().filter_map(|name| study.metric(name)) {
                let known = &known;
                let values = trials.values(trials.ids.place(workload, condition), &known.name);
                let spec = spec_of(known, &values, record, trials);
                let (rows, noise_floor) = rows((&values, &trials.ids), variants, has_twin, spec, rule);
                let (workload, condition, metric) = (workload.clone(), condition.clone(), known.name.to_string());
                let (unit, better) = (known.unit, known.better);
                tables.push(Table { workload, condition, metric, unit, better, rows, noise_floor, ranking: None });
            }
        }
    }
    tables
}

/// The rows of one table, and the twin's.
fn rows(
    (values, ids): (&Values, &Ids<'_>),
    variants: &[VariantLine],
    has_twin: bool,
    spec: MetricSpec,
    rule: DecisionRule,
) -> (Vec<Row>, Option<Row>) {
    let Some((baseline, others)) = variants.split_first() else { return (vec![], None) };
    let pairs = |name: &str| values.pairs(ids.variant(&baseline.name), ids.variant(name));
    let contrasts = |pairs: &Pairs| Contrasts::of_pairs(pairs, spec, rule.margin);
    let row = |name: &str, comparison: Option<Comparison>| {
        let summary = Summary::new(&values.of(ids.variant(name)), rule.alpha);
        Row { variant: name.to_owned(), summary, comparison }
    };

    let compare = |names: &[&str], rule: DecisionRule| -> Vec<Row> {
        let pairs: Vec<Pairs> = names.iter().map(|name| pairs(name)).collect();
        let inferences = infer::family(&pairs.iter().map(contrasts).collect::<Vec<_>>(), rule);
        let conclude = |(pairs, inference): (&Pairs, Option<Inference>)| {
            inference.map(|inference| conclude::conclude(pairs, &inference, spec, rule))
        };
        let comparisons = pairs.iter().zip(inferences).map(conclude);
        names.iter().zip(comparisons).map(|(name, comparison)| row(name, comparison)).collect()
    };

    let names: Vec<&str> = others.iter().map(|variant| variant.name.as_str()).collect();
    let mut rows = vec![row(&baseline.name, None)];
    rows.extend(compare(&names, rule));
    let noise_floor = has_twin.then(|| compare(&[TWIN], DecisionRule { family: 1, ..rule }).pop()).flatten();
    (rows, noise_floor)
}

/// Ranks the variants of the deciding metric's tables, and returns what is known of their pairs, by workload and condition.
/// A variant without a verdict, because it printed something else, is not among them.
pub(super) fn rank(
    tables: &mut [Table],
    record: &Record,
    trials: &Trials<'_>,
    rule: DecisionRule,
) -> BTreeMap<Place, pairs::Pairs> {
    let study = &record.study;
    let mut known = BTreeMap::new();
    let deciding = study.decide.metrics.first();
    for table in tables.iter_mut().filter(|table| deciding == Some(&table.metric)) {
        let Some(metric) = study.metric(&table.metric) else { continue };
        let place = trials.ids.place(&table.workload, &table.condition);
        let values = trials.values(place, &table.metric);
        let is_withheld = |row: &Row| row.comparison.as_ref().is_some_and(|c| c.verdict == Verdict::Withheld);
        let rows: Vec<Row> = table.rows.iter().filter(|row| !is_withheld(row)).cloned().collect();
        let spec = spec_of(&metric, &values, record, trials);
        if rows.first().is_none_or(|baseline| baseline.summary.is_none()) {
            continue;
        }
        let ids = &trials.ids;
        let there = rows.iter().filter(|row| row.summary.is_some());
        let there: Vec<(VariantId, Option<&Comparison>)> =
            there.map(|row| (ids.variant(&row.variant), row.comparison.as_ref())).collect();
        let contrasts =
            |first: VariantId, second: VariantId| Contrasts::of_pairs(&values.pairs(first, second), spec, rule.margin);
        let Some(pairs) = pairs::Pairs::of(&there, &contrasts, ids, spec, rule) else { continue };
        let centres = ranking::centres(&pairs, &rows, ids);
        table.ranking = ranking::ranking(&pairs, &centres, ids, metric.better);
        known.insert(place, pairs);
    }
    known
}

/// How a metric is measured in the table that these are all values of.
fn spec_of(metric: &Metric, values: &Values, record: &Record, trials: &Trials<'_>) -> MetricSpec {
    let floor = floor_bytes(&metric.name, record, trials);
    MetricSpec { floor, ..MetricSpec::of(metric) }.on_grid_of(&values.all())
}

/// Peak memory that any trial shows, because its launcher needed as much; 0 if the record does not say, or if the metric
/// does not include it.
fn floor_bytes(metric: &str, record: &Record, trials: &Trials<'_>) -> f64 {
    let is_inherited = match metric {
        "maxrss" => true,
        "peak" => provided::peak_sources(trials)[1] > 0,
        _ => false,
    };
    if !is_inherited {
        return 0.0;
    }
    record.sessions.iter().filter_map(|session| session.memory_floor_bytes).fold(0.0, f64::max)
}
