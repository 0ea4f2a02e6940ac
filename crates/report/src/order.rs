//! The order in which the variants of a place are printed, the same in all its tables: the baseline, then the others by
//! the deciding metric, the best first; those without a comparison come last. The findings keep the plan's order.

use bakeoff_judge::findings::{Findings, Row, Table};
use bakeoff_model::metric::Direction;
use std::collections::BTreeMap;

/// Where each variant stands. Where the deciding metric has no table, no variant has a place, and the plan's order remains.
pub(crate) struct Order<'a>(BTreeMap<&'a str, usize>);

impl<'a> Order<'a> {
    pub(crate) fn of(findings: &'a Findings, workload: &str, condition: &str) -> Self {
        let deciding = findings.tables.iter().find(|table| {
            table.metric == findings.method.deciding_metric
                && table.workload == workload
                && table.condition == condition
        });
        Self(deciding.map(places).unwrap_or_default())
    }

    /// The rows of a table of the place.
    pub(crate) fn sorted<'r, R>(&self, rows: &'r [R], variant: impl Fn(&R) -> &str) -> Vec<&'r R> {
        let mut sorted: Vec<&R> = rows.iter().collect();
        sorted.sort_by_key(|row| self.0.get(variant(row)).copied().unwrap_or(usize::MAX));
        sorted
    }
}

fn places(deciding: &Table) -> BTreeMap<&str, usize> {
    let Some((baseline, others)) = deciding.rows.split_first() else { return BTreeMap::new() };
    let mut compared: Vec<(&Row, f64)> =
        others.iter().filter_map(|row| Some((row, row.comparison.as_ref()?.departure()))).collect();
    compared.sort_by(|(_, one), (_, other)| match deciding.better {
        Direction::Less => one.total_cmp(other),
        Direction::More => other.total_cmp(one),
    });
    let rows = std::iter::once(baseline).chain(compared.into_iter().map(|(row, _)| row));
    rows.enumerate().map(|(place, row)| (row.variant.as_str(), place)).collect()
}
