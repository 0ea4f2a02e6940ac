//! Samples: lists of numbers that somebody else measured, as `bakeoff stat` reads them: columns, the format of Go's
//! `testing`, and the JSON of hyperfine, pyperf, JMH, pytest-benchmark, Google Benchmark and criterion.rs. A format is
//! recognised, or named. Reading needs 8 bytes for each number and a megabyte (JSON is held whole). It opens nothing.
//!
//! Values with the same settings, labels and unit make one sample, in the order in which they were read.

pub mod columns;
mod gathered;
mod go;
mod input;
mod json;
pub mod keys;
pub mod lines;
mod nan;
mod options;
mod origin;
mod rounded;

pub use gathered::{Gathered, Sample, Tool};
pub use json::place::{Labels, with_parameters};
pub(crate) use nan::without_nan;
pub use options::{Format, Options};
pub use origin::{Error, Origin};
pub use rounded::Rounded;

use bakeoff_model::range::is_usable;
use std::io::{BufRead, Read as _};

use bakeoff_model::metric::Direction as Better;

/// Reads one file.
pub fn read(reader: &mut dyn BufRead, origin: &Origin<'_>, options: &Options) -> Result<Gathered, Error> {
    let head = input::head(reader, origin)?;
    let format = options.format.unwrap_or_else(|| recognise(&head));
    let mut reader = head.chain(reader);
    let mut gathered = Gathered::default();
    gathered.kind = Some(match format {
        Format::Columns => {
            let column = columns::read(&mut reader, origin, &options.columns, &mut gathered.rounded)?;
            gathered.nameless(origin.label, column);
            Tool::Columns
        }
        Format::Go => {
            go::read(&mut reader, origin, options, &mut gathered)?;
            Tool::Go
        }
        Format::Json => json::read(&mut reader, origin, options, &mut gathered)?,
    });
    let mut values = gathered.samples.iter().flat_map(|sample| &sample.values);
    if let Some(&value) = values.find(|value| !is_usable(**value)) {
        return Err(origin.whole(&format!("{value:e} is {}", columns::beyond(value)), "choose another unit"));
    }
    if gathered.samples.iter().all(|sample| sample.values.is_empty()) {
        if let Some((name, why)) = gathered.failed.first() {
            return Err(origin.whole(&format!("the input has no values; `{name}`: {why}"), ""));
        }
        let (message, remedy) = match format {
            Format::Columns => ("the input contains no numbers", "write one number per line"),
            _ if options.filter.is_all() => ("the input contains no values", "set the format with --format"),
            _ => ("the input contains no matching values", "check --filter, or set the format with --format"),
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
