//! Samples: lists of numbers that somebody else measured, as `bakeoff stat` reads them: columns of numbers, the format of
//! Go's `testing`, hyperfine's JSON and pyperf's. A format is recognised by what stands in a file, or named. Reading
//! needs 8 bytes for each number and no more than a megabyte beside them (JSON is held whole). It opens nothing: readers
//! are handed in.
//!
//! Values with the same labels for table, sample and unit make one sample, in the order in which they were read.

pub mod columns;
pub(crate) mod decimal;
mod go;
mod json;
pub mod keys;
mod lines;
pub mod ministat;

use columns::Columns;
use keys::{Filter, Keys, Projection};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead};

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
    /// hyperfine's or pyperf's JSON.
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
    /// What tells tables apart; the name, without what tells samples apart, if none.
    pub row: Option<Projection>,
    /// What tells the samples of a table apart; the file, if none.
    pub col: Option<Projection>,
    /// Which values count.
    pub filter: Filter,
}

impl Options {
    fn wants(&self, place: &dyn Keys) -> bool {
        // A unit may be called as the file does, or by its base unit.
        struct AsWritten<'b>(&'b dyn Keys);
        impl Keys for AsWritten<'_> {
            fn get<'a>(&'a self, key: &str, without: &[String]) -> std::borrow::Cow<'a, str> {
                match key {
                    ".unit" => self.0.get("unit as written", without),
                    key => self.0.get(key, without),
                }
            }
        }
        self.filter.is_all() || self.filter.wants(place) || self.filter.wants(&AsWritten(place))
    }

    /// Labels of the table and of the sample that a value belongs to.
    fn labels(&self, place: &dyn Keys) -> (String, String) {
        let label = |projection: &Option<Projection>, other: &Option<Projection>, usual: &str| match projection {
            Some(projection) => {
                let parts: Vec<String> = projection.parts().chain(other.iter().flat_map(Projection::parts)).collect();
                projection.label(place, &parts)
            }
            None => {
                let parts: Vec<String> = other.iter().flat_map(Projection::parts).collect();
                place.get(usual, &parts).into_owned()
            }
        };
        let row = label(&self.row, &self.col, ".fullname");
        (row, label(&self.col, &self.row, ".file"))
    }
}

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Label of its table; empty where there is only one.
    pub row: String,
    /// Label of the sample.
    pub col: String,
    /// Base unit; empty if it is not known.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// All values, in the order in which they were read.
    pub values: Vec<f64>,
}

/// What was read from some files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gathered {
    /// In the order in which they first appeared.
    pub samples: Vec<Sample>,
    /// The format that was read, if it was the same in all files.
    pub format: Option<Format>,
    /// What the reader of a report should know of the reading.
    pub notes: Vec<String>,
    /// Integers that lost digits.
    pub rounded: Rounded,
    index: std::collections::HashMap<(String, String, String), usize>,
}

impl Gathered {
    fn add(&mut self, options: &Options, place: &dyn Keys, unit: &str, better: Better, value: f64) {
        let at = self.place(options, place, unit, better);
        self.samples[at].values.push(value);
    }

    /// Where the sample of such values is, which may be new.
    fn place(&mut self, options: &Options, place: &dyn Keys, unit: &str, better: Better) -> usize {
        let (row, col) = options.labels(place);
        self.index_of(row, col, unit.to_owned(), better)
    }

    fn sample(&mut self, row: String, col: String, unit: String, better: Better) -> &mut Sample {
        let at = self.index_of(row, col, unit, better);
        &mut self.samples[at]
    }

    fn index_of(&mut self, row: String, col: String, unit: String, better: Better) -> usize {
        let samples = &mut self.samples;
        let key = (row.clone(), col.clone(), unit.clone());
        *self.index.entry(key).or_insert_with(|| {
            samples.push(Sample { row, col, unit, better, values: vec![] });
            samples.len() - 1
        })
    }

    /// Makes what was read comparable where nobody said how, by row or column: samples of files that hold one name each
    /// are compared by file, whatever the names; the names of a single file of JSON are compared with each other.
    pub fn arrange(&mut self, format: Option<Format>) {
        let distinct = |label: fn(&Sample) -> &str| {
            let mut labels: Vec<&str> = self.samples.iter().map(label).collect();
            labels.sort_unstable();
            labels.dedup();
            labels.len()
        };
        let (rows, cols) = (distinct(|sample| &sample.row), distinct(|sample| &sample.col));
        let one_name_each = self
            .samples
            .iter()
            .all(|sample| self.samples.iter().all(|other| other.col != sample.col || other.row == sample.row));
        if cols > 1 && rows > 1 && one_name_each {
            self.samples.iter_mut().for_each(|sample| sample.row.clear());
        } else if cols == 1 && rows > 1 && format == Some(Format::Json) {
            for sample in &mut self.samples {
                sample.col = std::mem::take(&mut sample.row);
            }
        }
    }

    /// Appends what was read from another file.
    pub fn append(&mut self, other: Self) {
        let first = self.samples.is_empty();
        self.format = if first { other.format } else { self.format.filter(|format| other.format == Some(*format)) };
        for Sample { row, col, unit, better, mut values } in other.samples {
            let sample = self.sample(row, col, unit, better);
            if sample.values.is_empty() {
                sample.values = values;
            } else {
                sample.values.append(&mut values);
            }
        }
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.rounded.append(other.rounded);
    }
}

/// Integers that a 64-bit floating-point number cannot hold, counted, with the first as an example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rounded {
    /// How many.
    pub count: u64,
    /// The first: its place, and what became of it.
    pub example: Option<String>,
}

impl Rounded {
    fn count(&mut self, origin: &Origin<'_>, line: u64, word: &[u8], value: f64) {
        self.count += 1;
        self.example.get_or_insert_with(|| {
            format!("{}:{line}: {} became {value:.0}", origin.name, String::from_utf8_lossy(word))
        });
    }

    fn append(&mut self, other: Self) {
        self.count += other.count;
        self.example = self.example.take().or(other.example);
    }
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
    let format = match options.format {
        Some(format) => format,
        None => recognise(reader.fill_buf().map_err(|error| origin.cannot_read(&error))?),
    };
    let mut gathered = Gathered { format: Some(format), ..Gathered::default() };
    match format {
        Format::Columns => {
            let values = columns::read(reader, origin, &options.columns, &mut gathered.rounded)?;
            gathered.sample(String::new(), origin.label.to_owned(), String::new(), Better::Less).values = values;
        }
        Format::Go => go::read(reader, origin, options, &mut gathered)?,
        Format::Json => {
            json::read(reader, origin, options, &mut gathered)?;
        }
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
    if beginning.trim_ascii_start().starts_with(b"{") {
        return Format::Json;
    }
    let go = |line: &[u8]| {
        let name = line.strip_prefix(go::PREFIX);
        name.is_some_and(|name| name.first().is_some_and(|first| !first.is_ascii_lowercase()))
    };
    if beginning.split(|byte| *byte == b'\n').any(go) { Format::Go } else { Format::Columns }
}
