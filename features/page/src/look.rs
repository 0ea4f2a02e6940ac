//! What the charts share about variants: in which order they stand, what they are called, and in which colour. The order and the
//! verdicts are the screen's.

use crate::cells::{Cell, PlaceCells};
use crate::mark::Mark;
use crate::text::{name, variant_id};
use bakeoff_judge::findings::{Findings, Table};
use bakeoff_model::metric::Unit;
use bakeoff_model::plain::clean;
use bakeoff_report::Brief;
use bakeoff_report::format::{decimals_of, fitting, fixed, units};
use maud::{Markup, html};

/// Significant digits of a value that is looked up.
const DIGITS: usize = 4;

/// The findings, seen from a chart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) findings: &'a Findings,
    /// The study's workloads and conditions.
    pub(crate) workloads: &'a [String],
    pub(crate) conditions: &'a [String],
    /// The metric of the charts.
    pub(crate) metric: &'a str,
}

impl<'a> Look<'a> {
    pub(crate) fn workload(&self, workload: &str) -> Option<usize> {
        self.workloads.iter().position(|known| known == workload)
    }

    pub(crate) fn condition(&self, condition: &str) -> Option<usize> {
        self.conditions.iter().position(|known| known == condition)
    }

    /// The cells in the screen's order, the baseline and its twin next to each other.
    pub(crate) fn in_order<'c, 'r>(&self, cells: &'c [Cell<'r>], brief: &Brief<'_>) -> Vec<&'c Cell<'r>> {
        let baseline = self.findings.variants.first().map_or("", |variant| variant.name.as_str());
        let place = |cell: &&Cell<'_>| {
            let variant = if cell.is_twin() { baseline } else { cell.variant };
            let place = brief.rows.iter().position(|row| row.variant == variant).unwrap_or(usize::MAX);
            (place, cell.is_twin())
        };
        let mut cells: Vec<&Cell<'r>> = cells.iter().collect();
        cells.sort_by_key(place);
        cells
    }

    /// By which number the page calls a cell's variant; the twin comes after all others.
    pub(crate) fn cell_id(&self, cell: &Cell<'_>) -> usize {
        variant_id(self.findings, cell.variant).unwrap_or(self.findings.variants.len())
    }

    pub(crate) fn cell_text(&self, cell: &Cell<'_>) -> String {
        if cell.is_twin() { "the baseline’s twin".to_owned() } else { clean(cell.variant) }
    }

    pub(crate) fn cell_name(&self, cell: &Cell<'_>) -> Markup {
        html! { @if cell.is_twin() { span.quiet { "its twin" } } @else { (name(cell.variant)) } }
    }

    /// The table of a place.
    pub(crate) fn table(&self, place: &PlaceCells<'_>) -> Option<&'a Table> {
        self.table_of(place.workload, place.condition)
    }

    /// The same by its names.
    pub(crate) fn table_of(&self, workload: &str, condition: &str) -> Option<&'a Table> {
        let is_it =
            |table: &&Table| table.metric == self.metric && table.workload == workload && table.condition == condition;
        self.findings.tables.iter().find(is_it)
    }

    /// The colour of a variant's values at a place: that of its verdict there.
    pub(crate) fn class(&self, place: &PlaceCells<'_>, variant: &str) -> &'static str {
        let row = self.table(place).and_then(|table| table.rows.iter().find(|row| row.variant == variant));
        row.and_then(|row| row.comparison.as_ref()).map_or("", |comparison| Mark::of(comparison).class)
    }
}

/// How values of one chart are written: one unit and one number of decimals for all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    pub(crate) size: f64,
    pub(crate) name: &'static str,
    pub(crate) decimals: usize,
}

/// The unit that fits a value of a chart.
pub(crate) fn unit_of(unit: Unit, value: f64) -> Written {
    let (size, name) = fitting(value, units(unit));
    let amount = value / size;
    let is_whole = size == 1.0 && unit == Unit::Count && amount.fract() == 0.0;
    Written { size, name, decimals: if is_whole || amount == 0.0 { 0 } else { decimals_of(amount, DIGITS) } }
}

impl Written {
    /// The number, without the unit.
    pub(crate) fn write(&self, value: f64) -> String {
        fixed(value / self.size, self.decimals)
    }

    /// The number with no more digits than it needs, for ticks.
    pub(crate) fn tick(&self, value: f64) -> String {
        let amount = value / self.size;
        let least = (0..6).find(|decimals| {
            let shift = 10f64.powi(*decimals);
            ((amount * shift).round() / shift - amount).abs() <= 1e-6 * amount.abs()
        });
        fixed(amount, least.map_or(self.decimals, |decimals| decimals as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_chart_share_a_unit() {
        let unit = unit_of(Unit::Seconds, 0.0921);
        assert_eq!((unit.name, unit.write(0.0869), unit.write(0.0921)), ("ms", "86.90".to_owned(), "92.10".to_owned()));
        assert_eq!((unit.tick(0.09), unit.tick(0.0925)), ("90".to_owned(), "92.5".to_owned()));
        assert_eq!(unit_of(Unit::Count, 12.0).write(3.0), "3");
        assert_eq!(unit_of(Unit::Bytes, 0.0).write(0.0), "0");
    }
}
