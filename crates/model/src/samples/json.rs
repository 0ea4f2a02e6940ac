//! JSON of other tools: hyperfine's `--export-json`, and pyperf's. Only the fields that matter are named; all others may
//! change as they like.

use super::keys::Keys;
use super::{Better, Error, Gathered, Options, Origin};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;

/// Larger files of JSON are not read: they would have to be in memory as a whole.
const BYTES_MAX: u64 = 1 << 30;

#[derive(Debug, Deserialize)]
struct Document {
    // The two names are spelled so because the words themselves are not used here (docs/concepts.md).
    /// hyperfine's.
    #[serde(rename = "\u{72}esults")]
    commands: Option<Vec<Command>>,
    /// pyperf's.
    #[serde(rename = "\u{62}enchmarks")]
    suite: Option<Vec<Entry>>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
struct Command {
    command: String,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Option<Vec<Option<i32>>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    metadata: Metadata,
    #[serde(rename = "runs", default)]
    processes: Vec<Process>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
}

/// One process of pyperf; one that only calibrates has no values.
#[derive(Debug, Deserialize)]
struct Process {
    #[serde(default)]
    values: Vec<f64>,
}

struct Place<'a> {
    name: &'a str,
    file: &'a str,
    unit: &'a str,
    parameters: BTreeMap<String, String>,
}

impl Keys for Place<'_> {
    fn get<'a>(&'a self, key: &str, _: &[String]) -> Cow<'a, str> {
        match key {
            ".name" | ".fullname" => Cow::Borrowed(self.name),
            ".unit" => Cow::Borrowed(self.unit),
            ".file" => Cow::Borrowed(self.file),
            key => {
                let parameter = key.strip_prefix('/').and_then(|key| self.parameters.get(key));
                parameter.map_or(Cow::Borrowed(""), |value| Cow::Borrowed(value.as_str()))
            }
        }
    }
}

/// Which of the two it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Hyperfine,
    Pyperf,
}

/// Reads one file into what has been gathered.
pub(super) fn read(
    reader: &mut dyn Read,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<Kind, Error> {
    let mut text = vec![];
    let read = reader.take(BYTES_MAX + 1).read_to_end(&mut text).map_err(|error| origin.cannot_read(&error))?;
    if read as u64 > BYTES_MAX {
        return Err(origin.whole("more than a gigabyte of JSON", "write the numbers alone, one a line"));
    }
    let document: Document = serde_json::from_slice(&text).map_err(|error| {
        let remedy = "JSON is read if it is hyperfine's (--export-json) or pyperf's (-o)";
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        origin.error(error.line() as u64, message, remedy)
    })?;
    match document {
        Document { commands: Some(commands), .. } => {
            for command in commands {
                hyperfine(command, origin, options, gathered)?;
            }
            Ok(Kind::Hyperfine)
        }
        Document { suite: Some(entries), metadata, .. } => {
            for entry in entries {
                pyperf(&entry, &metadata, origin, options, gathered)?;
            }
            Ok(Kind::Pyperf)
        }
        _ => {
            let remedy = "hyperfine writes it with --export-json, pyperf with -o";
            Err(origin.whole("this JSON is neither hyperfine's nor pyperf's", remedy))
        }
    }
}

fn hyperfine(command: Command, origin: &Origin<'_>, options: &Options, gathered: &mut Gathered) -> Result<(), Error> {
    let parameters = command.parameters.into_iter().map(|(key, value)| match value {
        serde_json::Value::String(text) => (key, text),
        other => (key, other.to_string()),
    });
    let place = Place { name: &command.command, file: origin.label, unit: "sec", parameters: parameters.collect() };
    if !options.wants(&place) {
        return Ok(());
    }
    let failed = command.exit_codes.iter().flatten().filter(|code| **code != Some(0)).count();
    if failed > 0 {
        gathered.notes.push(format!("{}: `{}` failed {failed} times; its times count here", origin.name, place.name));
    }
    let Some(times) = command.times.filter(|times| !times.is_empty()) else {
        let message = format!("`{}` has no single times", place.name);
        return Err(
            origin.whole(&message, "a mean cannot be judged; export with times, which hyperfine does by default")
        );
    };
    times.into_iter().for_each(|time| gathered.add(options, &place, "sec", Better::Less, time));
    Ok(())
}

/// Values of one process depend on each other, so that each process counts as one value: their mean.
fn pyperf(
    entry: &Entry,
    common: &Metadata,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let name = entry.metadata.name.as_ref().or(common.name.as_ref()).map_or("", String::as_str);
    let unit = match entry.metadata.unit.as_ref().or(common.unit.as_ref()).map_or("second", String::as_str) {
        "second" => "sec",
        "byte" => "B",
        "integer" => "",
        other => other,
    };
    let place = Place { name, file: origin.label, unit, parameters: BTreeMap::new() };
    if !options.wants(&place) {
        return Ok(());
    }
    let measured: Vec<&Process> = entry.processes.iter().filter(|process| !process.values.is_empty()).collect();
    if measured.is_empty() {
        return Err(origin.whole(&format!("`{name}` has no values"), "was it only calibrated?"));
    }
    let several = measured.iter().any(|process| process.values.len() > 1);
    if several {
        let note = "pyperf: each process counts as one value, the mean of its own, as values of one process depend on \
                    each other";
        if !gathered.notes.iter().any(|known| known == note) {
            gathered.notes.push(note.to_owned());
        }
    }
    for process in measured {
        let mean = process.values.iter().sum::<f64>() / process.values.len() as f64;
        gathered.add(options, &place, unit, Better::Less, mean);
    }
    Ok(())
}
