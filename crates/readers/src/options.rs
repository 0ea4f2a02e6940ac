//! What is wanted of files: the format, which values, what tells samples and tables apart, and where a value belongs.

use super::columns::Columns;
use super::keys::{self, Filter, Keys, Projection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One number a line, or one column of them.
    Columns,
    /// What Go's `testing` prints.
    Go,
    /// JSON of one of the tools that are known.
    Json,
}

/// What is wanted of the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// The format; recognised if none.
    pub format: Option<Format>,
    /// For columns.
    pub columns: Columns,
    /// What tells groups of tables apart, all settings of a file if none: [`keys::CONFIG`].
    pub table: Option<Projection>,
    /// What tells tables apart; the name, without what tells samples apart, if none.
    pub row: Option<Projection>,
    /// What tells the samples of a table apart; the file, if none.
    pub col: Option<Projection>,
    /// What may differ among values of one sample without a word.
    pub ignore: Option<Projection>,
    /// Which values count.
    pub filter: Filter,
}

impl Options {
    /// Whether a value counts.
    pub fn wants(&self, place: &dyn Keys) -> bool {
        // A unit may be called as the file does, or by its base unit.
        struct AsWritten<'b>(&'b dyn Keys);
        impl Keys for AsWritten<'_> {
            fn get<'a>(&'a self, key: &str, without: &[&str]) -> std::borrow::Cow<'a, str> {
                match key {
                    ".unit" => self.0.get("unit as written", without),
                    key => self.0.get(key, without),
                }
            }
        }
        self.filter.is_all() || self.filter.wants(place) || self.filter.wants(&AsWritten(place))
    }

    /// Where a value belongs. As in benchstat, a key that is named anywhere is not part of `.config` and `.fullname`.
    pub(super) fn labels(&self, place: &dyn Keys) -> Labels {
        let asked = [&self.table, &self.row, &self.col, &self.ignore];
        let usual = [Some(keys::CONFIG), Some(".fullname"), Some(".file"), None];
        let named: Vec<&str> = asked
            .iter()
            .zip(usual)
            .flat_map(|(asked, usual)| match asked {
                Some(projection) => projection.keys().iter().map(String::as_str).collect(),
                None => usual.into_iter().collect::<Vec<_>>(),
            })
            .collect();
        let label = |asked: &Option<Projection>, usual: &str| match asked {
            Some(projection) => projection.label(place, &named),
            None => place.get(usual, &named).into_owned(),
        };
        let config = || keys::config(place, &named);
        let mut settings = BTreeMap::new();
        for key in self.table.as_ref().map_or(&[keys::CONFIG.to_owned()][..], Projection::keys) {
            if key == keys::CONFIG {
                settings.extend(config());
            } else {
                settings.insert(key.clone(), place.get(key, &named).into_owned());
            }
        }
        settings.retain(|_, value| !value.is_empty());
        let mut residue = if named.contains(&keys::CONFIG) { BTreeMap::new() } else { config().collect() };
        if !named.contains(&".fullname") {
            residue.insert(".fullname".to_owned(), place.get(".fullname", &named).into_owned());
        }
        Labels { settings, row: label(&self.row, ".fullname"), col: label(&self.col, ".file"), residue }
    }
}

/// Where a value belongs.
pub(super) struct Labels {
    pub(super) settings: BTreeMap<String, String>,
    pub(super) row: String,
    pub(super) col: String,
    /// Whatever else is known, which should be the same for all values of a sample.
    pub(super) residue: BTreeMap<String, String>,
}
