//! JSON of other tools: hyperfine's `--export-json`, pyperf's, JMH's, pytest-benchmark's, Google Benchmark's and
//! samples of criterion.rs; some others are refused by name. Only the fields that matter are named; all others may
//! change as they like.

mod criterion;
mod google;
mod jmh;
pub(super) mod place;
mod pytest;

use super::{Better, Error, Gathered, Options, Origin, Tool};
use place::{Labels, means, texts, with_parameters};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::io::Read;

/// Larger files of JSON are not read: they would have to be in memory as a whole.
const BYTES_MAX: u64 = 1 << 30;

/// How our own journals begin, which hold a value of JSON in each line.
const JOURNAL: &[u8] = b"{\"line\":\"study\"";

/// The forms that are read.
const REMEDY: &str = "use the JSON output of hyperfine (--export-json), pyperf (-o), JMH (-rf json), \
                      pytest-benchmark (--benchmark-json), Google Benchmark (--benchmark_format=json) or criterion \
                      (sample.json)";
/// What remains for tools whose JSON is not read.
const REMEDY_NUMBERS: &str = "write only the numbers, one per line, to a separate file for each sample";

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct Document {
    // The two names are spelled so because the words themselves are not used here (docs/understanding/terms.md).
    /// hyperfine's.
    #[serde(rename = "\u{72}esults")]
    commands: Option<Vec<Command>>,
    /// pyperf's and pytest-benchmark's.
    #[serde(rename = "\u{62}enchmarks")]
    suite: Option<Vec<Entry>>,
    #[serde(default)]
    metadata: Metadata,
    #[serde(flatten)]
    others: Others,
}

/// What tells the JSON of some tools.
#[derive(Debug, Deserialize)]
struct Others {
    #[serde(rename = "context")]
    google: Option<IgnoredAny>,
    #[serde(rename = "HostEnvironmentInfo")]
    dot_net: Option<IgnoredAny>,
    #[serde(rename = "sampling_mode")]
    criterion_sample: Option<IgnoredAny>,
    #[serde(rename = "median_abs_dev")]
    criterion_estimates: Option<IgnoredAny>,
}

impl Others {
    /// The file of a tool that is known by name only, and what to do with it.
    fn refusal(&self) -> Option<(&'static str, &'static str)> {
        if self.dot_net.is_some() {
            Some(("this is BenchmarkDotNet JSON; Bakeoff cannot read this format", REMEDY_NUMBERS))
        } else if self.criterion_estimates.is_some() {
            Some((
                "these are criterion estimates, without individual times",
                "use criterion's sample.json; it has the individual times",
            ))
        } else {
            None
        }
    }
}

/// hyperfine's of both versions of its JSON: the times themselves, or a measurement with several metrics for each.
#[derive(Debug, Deserialize)]
struct Command {
    command: String,
    name: Option<String>,
    measurements: Option<Vec<Measurement>>,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Option<Vec<Option<i32>>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Measurement {
    time_wall_clock: Option<Quantity>,
    exit_code: Option<i32>,
}

#[derive(Debug, Deserialize)]
struct Quantity {
    value: f64,
    unit: Option<String>,
}

/// pyperf's, with metadata and processes; or pytest-benchmark's.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    metadata: Metadata,
    #[serde(rename = "runs", default)]
    processes: Vec<Process>,
    #[serde(flatten)]
    pytest: pytest::Entry,
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

/// Reads one file into what has been gathered; says whose it was.
pub(super) fn read(
    reader: &mut dyn Read,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<Tool, Error> {
    let mut text = vec![];
    let read = reader.take(BYTES_MAX + 1).read_to_end(&mut text).map_err(|error| origin.cannot_read(&error))?;
    if read as u64 > BYTES_MAX {
        return Err(origin.whole("the JSON is larger than 1 GB", "write only the numbers, one per line"));
    }
    if text.starts_with(JOURNAL) {
        return Err(origin.whole(
            "this is a journal; Bakeoff can read journals only from regular files",
            "name the journal file itself",
        ));
    }
    if text.trim_ascii_start().starts_with(b"[") {
        for entry in parse::<Vec<jmh::Entry>>(&text, origin)? {
            jmh::read(entry, origin, options, gathered)?;
        }
        return Ok(Tool::Jmh);
    }
    let document: Document = parse(&text, origin)?;
    if let Some((what, remedy)) = document.others.refusal() {
        return Err(origin.whole(what, remedy));
    }
    if document.others.google.is_some() {
        google::read(parse(&text, origin)?, origin, options, gathered)?;
        return Ok(Tool::Google);
    }
    if document.others.criterion_sample.is_some() {
        criterion::read(&parse(&text, origin)?, origin, options, gathered)?;
        return Ok(Tool::Criterion);
    }
    match document {
        Document { commands: Some(commands), .. } => {
            // One command with several parameters is several things.
            let repeats = |one: &Command| {
                commands.iter().any(|other| other.title() == one.title() && other.parameters != one.parameters)
            };
            let named: Vec<String> =
                commands.iter().filter(|one| repeats(one)).map(|one| one.title().to_owned()).collect();
            for command in commands {
                let has_variants = named.iter().any(|name| name == command.title());
                hyperfine(command, has_variants, origin, options, gathered)?;
            }
            Ok(Tool::Hyperfine)
        }
        Document { suite: Some(entries), .. } if entries.iter().any(|entry| entry.pytest.is_one()) => {
            for entry in entries {
                pytest::read(entry.pytest, origin, options, gathered)?;
            }
            Ok(Tool::Pytest)
        }
        Document { suite: Some(entries), metadata, .. } => {
            for entry in entries {
                pyperf(&entry, &metadata, origin, options, gathered)?;
            }
            Ok(Tool::Pyperf)
        }
        _ => Err(origin.whole("this JSON is not from a supported tool", REMEDY)),
    }
}

fn parse<T: DeserializeOwned>(text: &[u8], origin: &Origin<'_>) -> Result<T, Error> {
    serde_json::from_slice(&super::without_nan(text)).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        origin.error(error.line() as u64, message, REMEDY)
    })
}

impl Command {
    /// Its name, or the command itself.
    fn title(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.command)
    }

    /// The times and exit codes of its measurements, if it has any.
    fn spread(&mut self, origin: &Origin<'_>) -> Result<(), Error> {
        let Some(measurements) = self.measurements.take() else { return Ok(()) };
        self.exit_codes = Some(measurements.iter().map(|one| Some(one.exit_code.unwrap_or(0))).collect());
        let quantities = measurements.into_iter().filter_map(|one| one.time_wall_clock);
        let in_seconds = |Quantity { value, unit }| match unit.as_deref() {
            None | Some("second" | "s") => Ok(value),
            Some(other) => {
                let message = format!("`{}` has times in the unknown unit `{other}`", self.title());
                Err(origin.whole(&message, "hyperfine 2.0 writes seconds"))
            }
        };
        self.times = Some(quantities.map(in_seconds).collect::<Result<_, _>>()?);
        Ok(())
    }
}

fn hyperfine(
    mut command: Command,
    has_variants: bool,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    command.spread(origin)?;
    let title = command.title().to_owned();
    let Command { times, exit_codes, parameters, .. } = command;
    let parameters = texts(parameters);
    let full = if has_variants { with_parameters(&title, parameters.iter()) } else { title.clone() };
    let place = Labels {
        name: &title,
        full,
        stem: has_variants.then_some(title.as_str()),
        file: origin.label,
        unit: "sec",
        parameters,
        ..Labels::default()
    };
    if !options.wants(&place) {
        return Ok(());
    }
    let failed = exit_codes.iter().flatten().filter(|code| **code != Some(0)).count();
    if failed > 0 {
        let runs = exit_codes.iter().flatten().count();
        let failed = format!("{}: `{}` failed in {failed} of its {runs} runs", origin.name, place.name);
        gathered.notes.push(format!("{failed}; all its times are used anyway"));
    }
    let Some(times) = times.filter(|times| !times.is_empty()) else {
        let message = format!("`{}` has no individual times", place.full);
        return Err(origin.whole(
            &message,
            "a mean alone cannot be judged; export the individual times, as hyperfine does by default",
        ));
    };
    times.into_iter().for_each(|time| gathered.add(options, &place, "sec", Better::Less, time));
    Ok(())
}

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
    let place = Labels { name, full: name.to_owned(), file: origin.label, unit, ..Labels::default() };
    if !options.wants(&place) {
        return Ok(());
    }
    let processes: Vec<&[f64]> = entry.processes.iter().map(|process| process.values.as_slice()).collect();
    let means = means("pyperf", "process", &processes, gathered);
    if means.is_empty() {
        return Err(
            origin.whole(&format!("`{name}` has no values"), "perhaps pyperf only calibrated it; run it in full")
        );
    }
    means.into_iter().for_each(|mean| gathered.add(options, &place, unit, Better::Less, mean));
    Ok(())
}
