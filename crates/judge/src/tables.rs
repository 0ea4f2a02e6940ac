//! The tables of findings: of every workload × condition × metric a row for each variant, and on the deciding metric
//! the ranking of all. Inference and verdicts are made in the files named here; it puts them together.

use super::contrasts::Contrasts;
use super::ids::{Ids, Place, VariantId};
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::trials::{Pairs, Trials, Values};
use super::{conclude, infer, pairs, provided, ranking};
use crate::findings::{Comparison, Row, Summary, Table, Verdict};
use bakeoff_model::metric::{self, Metric};
use bakeoff_model::record::{Record, TWIN, VariantLine};
use bakeoff_stats::describe::mean;
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
    for group in together(record) {
        let mut of_group: Vec<Vec<Table>> = group.iter().map(|_| vec![]).collect();
        for condition in &study.conditions {
            for known in metrics.iter().filter_map(|name| study.metric(name)) {
                let known = &known;
                let sheets: Vec<Sheet> = group
                    .iter()
                    .map(|workload| {
                        let values = trials.values(trials.ids.place(workload, condition), &known.name);
                        let spec = spec_of(known, &values, record, trials);
                        let place = known.counted.then(|| trials.ids.place(workload, condition));
                        let seen = place.map(|place| trials.values(place, metric::SEEN)).unwrap_or_default();
                        Sheet { values, spec, seen }
                    })
                    .collect();
                let judged = rows(&sheets, &trials.ids, variants, has_twin, rule);
                for ((workload, tables), (rows, noise_floor)) in group.iter().zip(&mut of_group).zip(judged) {
                    let (workload, condition, metric) =
                        ((*workload).to_owned(), condition.clone(), known.name.to_string());
                    let (unit, better) = (known.unit, known.better);
                    tables.push(Table { workload, condition, metric, unit, better, rows, noise_floor, ranking: None });
                }
            }
        }
        tables.extend(of_group.into_iter().flatten());
    }
    tables
}

/// The workloads that are judged together, in the study's order: the benchmarks of one suite, and every other one alone.
fn together(record: &Record) -> Vec<Vec<&str>> {
    let mut groups: Vec<Vec<&str>> = vec![];
    let suite = |workload: &str| record.suites.get(workload);
    for workload in &record.study.workloads {
        match groups.last_mut().filter(|group| suite(workload).is_some() && suite(group[0]) == suite(workload)) {
            Some(group) => group.push(workload),
            None => groups.push(vec![workload]),
        }
    }
    groups
}

struct Sheet {
    values: Values,
    spec: MetricSpec,
    /// The shares of their time that a count can see.
    seen: Values,
}

impl Sheet {
    /// How the metric is measured in two variants: a count sees no more of them than of either.
    fn spec(&self, pair: [VariantId; 2]) -> MetricSpec {
        let share = |variant: VariantId| Some(self.seen.of(variant)).filter(|shares| !shares.is_empty());
        let least = pair.into_iter().map(|variant| share(variant).map_or(0.0, |shares| mean(&shares)));
        MetricSpec { seen: self.spec.seen.and_then(|_| least.reduce(f64::min)), ..self.spec }
    }

    fn row(&self, ids: &Ids<'_>, name: &str, comparison: Option<Comparison>, rule: DecisionRule) -> Row {
        let summary = Summary::new(&self.values.of(ids.variant(name)), rule.alpha);
        Row { variant: name.to_owned(), summary, comparison }
    }
}

/// The rows of each of some tables that are judged together, and the twin's.
fn rows(
    sheets: &[Sheet],
    ids: &Ids<'_>,
    variants: &[VariantLine],
    has_twin: bool,
    rule: DecisionRule,
) -> Vec<(Vec<Row>, Option<Row>)> {
    let Some((baseline, others)) = variants.split_first() else {
        return sheets.iter().map(|_| (vec![], None)).collect();
    };
    let names: Vec<&str> = others.iter().map(|variant| variant.name.as_str()).collect();
    let of_all = DecisionRule { family: rule.family * sheets.len() as u32, ..rule };
    let judged = compared(sheets, ids, &baseline.name, &names, of_all);
    let whole = |(sheet, rows): (&Sheet, Vec<Row>)| {
        let own = sheet.row(ids, &baseline.name, None, rule);
        let alone = DecisionRule { family: 1, ..rule };
        let mut twins = has_twin.then(|| compared(std::slice::from_ref(sheet), ids, &baseline.name, &[TWIN], alone));
        (std::iter::once(own).chain(rows).collect(), twins.as_mut().and_then(|twins| twins.pop()?.pop()))
    };
    sheets.iter().zip(judged).map(whole).collect()
}

/// The rows of these names in every table, judged as one family.
fn compared(sheets: &[Sheet], ids: &Ids<'_>, baseline: &str, names: &[&str], rule: DecisionRule) -> Vec<Vec<Row>> {
    let all = sheets.iter().flat_map(|sheet| names.iter().map(move |name| (sheet, *name)));
    let member = |(sheet, name): (&Sheet, &str)| {
        let [baseline, variant] = [baseline, name].map(|name| ids.variant(name));
        (sheet.spec([baseline, variant]), sheet.values.pairs(baseline, variant))
    };
    let members: Vec<(MetricSpec, Pairs)> = all.map(member).collect();
    let contrasts: Vec<Contrasts> =
        members.iter().map(|(spec, pairs)| Contrasts::of_pairs(pairs, *spec, rule.margin)).collect();
    let mut judged = members.iter().zip(infer::infer_family(&contrasts, 0, rule)).map(|((spec, pairs), inference)| {
        inference.map(|inference| conclude::conclude(pairs, &inference, *spec, rule))
    });
    let mut row = |sheet: &Sheet, name: &str| sheet.row(ids, name, judged.next().flatten(), rule);
    sheets.iter().map(|sheet| names.iter().map(|name| row(sheet, name)).collect()).collect()
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
    let groups = together(record);
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
        let alike = groups.iter().find(|group| group.contains(&table.workload.as_str())).map_or(1, Vec::len);
        let rule = DecisionRule { tables: alike as u32, ..rule };
        let Some(pairs) = pairs::Pairs::of(&there, &contrasts, ids, spec, rule) else { continue };
        let centres = ranking::centres(&pairs, &rows, ids);
        table.ranking = ranking::ranking(&pairs, &centres, ids, metric.better);
        known.insert(place, pairs);
    }
    known
}

/// How a metric is measured in the table that these are all values of.
pub(super) fn spec_of(metric: &Metric, values: &Values, record: &Record, trials: &Trials<'_>) -> MetricSpec {
    let floor = floor_bytes(&metric.name, record, trials);
    MetricSpec { floor, ..MetricSpec::of(metric, trials.least_seen(&record.study)) }.on_grid_of(&values.all())
}

/// Peak memory that any trial shows, because its launcher needed as much; 0 if unknown, or not part of the metric.
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
