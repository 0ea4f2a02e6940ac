//! The values of a table with titles, whose reader is elsewhere, as samples.

use super::json::place::{Labels, with_parameters};
use super::{Better, Gathered, Options, Origin, Tool};
use std::collections::BTreeMap;

/// A value of a table with titles: what tells it apart from others, and the value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableValue {
    /// Each factor with its level.
    pub factors: BTreeMap<String, String>,
    /// In the unit of the table.
    pub value: f64,
}

/// The samples of a table, all of whose values have one unit.
pub fn table(values: Vec<TableValue>, unit: &str, better: Better, origin: &Origin<'_>, options: &Options) -> Gathered {
    let mut gathered = Gathered::default();
    gathered.kind = Some(Tool::Titled);
    for TableValue { factors, value } in values {
        let full = with_parameters("", factors.iter());
        let place = Labels { full, stem: Some(""), file: origin.label, unit, parameters: factors, ..Labels::default() };
        if options.wants(&place) {
            gathered.add(options, &place, unit, better, value);
        }
    }
    gathered
}
