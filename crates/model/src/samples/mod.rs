//! Samples: lists of numbers that somebody else measured, as `bakeoff stat` reads them: columns of numbers, the format of
//! Go's `testing`, and the JSON of hyperfine, pyperf, JMH and pytest-benchmark. A format is recognised by what stands in a file, or named. Reading
//! needs 8 bytes for each number and no more than a megabyte beside them (JSON is held whole). It opens nothing: readers
//! are handed in.
//!
//! Values with the same settings, labels and unit make one sample, in the order in which they were read.

pub mod columns;
pub(crate) mod decimal;
mod gathered;
mod go;
mod input;
mod json;
pub mod keys;
mod lines;
pub mod ministat;

pub use gathered::{Gathered, Kind, Rounded, Sample};

use crate::range::is_usable;
use columns::Columns;
use keys::{Filter, Keys, Projection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

/// A longer line is no line.
const LINE_MAX: usize = 1 << 20;

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

pub use crate::metric::Direction as Better;

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
    fn wants(&self, place: &dyn Keys) -> bool {
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

    /// Where a value belongs. As in benchstat, a key that is named anywhere is not part of the groups `.config` and
    /// `.fullname`.
    fn labels(&self, place: &dyn Keys) -> Labels {
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
struct Labels {
    settings: BTreeMap<String, String>,
    row: String,
    col: String,
    /// Whatever else is known, which should be the same for all values of a sample.
    residue: BTreeMap<String, String>,
}

/// Why a file cannot be read: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Error {
    /// `file:line`, or the file.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub remedy: String,
}

/// A file: its name for errors, and its label in tables.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// As the user gave it.
    pub name: &'a str,
    /// As it is called in reports.
    pub label: &'a str,
}

impl Origin<'_> {
    fn error(&self, line: u64, message: &str, remedy: &str) -> Error {
        Error { place: format!("{}:{line}", self.name), message: message.to_owned(), remedy: remedy.to_owned() }
    }

    fn whole(&self, message: &str, remedy: &str) -> Error {
        Error { place: self.name.to_owned(), message: message.to_owned(), remedy: remedy.to_owned() }
    }

    fn cannot_read(&self, error: &io::Error) -> Error {
        self.whole(&format!("cannot be read: {error}"), "")
    }

    fn outcome(&self, read: Result<(), lines::Stop<Error>>) -> Result<(), Error> {
        read.map_err(|stop| match stop {
            lines::Stop::Read(error) => self.cannot_read(&error),
            lines::Stop::Taker(error) => error,
        })
    }
}

/// Reads one file.
///
/// # Errors
/// At the first thing that is not as it should be, with its place.
pub fn read(reader: &mut dyn BufRead, origin: &Origin<'_>, options: &Options) -> Result<Gathered, Error> {
    let head = input::head(reader, origin)?;
    let format = options.format.unwrap_or_else(|| recognise(&head));
    let mut reader = head.chain(reader);
    let mut gathered = Gathered::default();
    gathered.kind = Some(match format {
        Format::Columns => {
            let values = columns::read(&mut reader, origin, &options.columns, &mut gathered.rounded)?;
            gathered.nameless(origin.label, values);
            Kind::Columns
        }
        Format::Go => {
            go::read(&mut reader, origin, options, &mut gathered)?;
            Kind::Go
        }
        Format::Json => json::read(&mut reader, origin, options, &mut gathered)?,
    });
    let mut values = gathered.samples.iter().flat_map(|sample| &sample.values);
    if let Some(&value) = values.find(|value| !is_usable(**value)) {
        return Err(origin.whole(&format!("{value:e} is {}", columns::beyond(value)), "choose another unit"));
    }
    if gathered.samples.iter().all(|sample| sample.values.is_empty()) {
        let (message, remedy) = match format {
            Format::Columns => ("there is no number in it", "a sample has a number a line"),
            _ => ("there is no value in it that is wanted", "does the filter fit, and the format? --format forces one"),
        };
        return Err(origin.whole(message, remedy));
    }
    Ok(gathered)
}

/// The format of a file that begins so.
pub fn recognise(beginning: &[u8]) -> Format {
    if matches!(beginning.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Format::Json;
    }
    if beginning.split(|byte| *byte == b'\n').any(go::is_likely) { Format::Go } else { Format::Columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised() {
        let check =
            |beginning: &str, expect: Format| assert_eq!(recognise(beginning.as_bytes()), expect, "{beginning}");
        check("", Format::Columns);
        check("1\n2\n", Format::Columns);
        check(" {\"a\": 1}", Format::Json);
        check("\n[{}]", Format::Json);
        check("goos: linux\nBenchmarkX 1 2 ns/op\n", Format::Go);
        check("BenchmarkX\n", Format::Go);
        check("Benchmarklower 1 2 ns/op\n", Format::Go);
        check("Unit B/op assume=exact\n", Format::Go);
        check("Benchmarks of a machine\n1\n", Format::Columns);
        check("Unit ms\n1\n", Format::Columns);
    }
}
