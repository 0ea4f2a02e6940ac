//! What a process left, made the values of its benchmarks. The formats are read elsewhere; here the names are made,
//! several values of one benchmark become one, and what cannot be a measurement is refused.
//!
//! One process is one trial, so a benchmark has one value in it: the median of those that its harness gives (of Go's
//! `-count`, of the repetitions of Google Benchmark, of the single times of pytest-benchmark and criterion.rs), which one
//! interrupted measurement does not move. Of JMH's forks each counts as its mean, which is JMH's score.

use crate::names::{self, HarnessFormat};
use bakeoff_model::suite::{Left, Part, Parts};
use bakeoff_readers::{Format, Gathered, Options, Origin, Sample, Tool};
use bakeoff_stats::describe::median;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A longer name is none.
const NAME_MAX: usize = 500;

/// Reads it.
pub(crate) fn read(harness: &str, left: &Left) -> Result<Parts, String> {
    let known = names::find(harness).ok_or_else(|| format!("there is no harness `{harness}`"))?;
    match left {
        Left::Printed(bytes) if bytes.trim_ascii().is_empty() => {
            let command = known.command;
            Err(format!(
                "{}: the harness wrote nothing to standard output or to $BAKEOFF_HARNESS; {command}",
                known.title
            ))
        }
        Left::Printed(bytes) => of_bytes(known, "standard output", bytes),
        Left::File(bytes) => of_bytes(known, "$BAKEOFF_HARNESS", bytes),
        Left::Folder(files) if known.kind == Tool::Criterion => of_folder(known, files),
        Left::Folder(_) => Err(format!("{}: $BAKEOFF_HARNESS is a folder; {}", known.title, known.command)),
    }
}

fn of_bytes(known: &HarnessFormat, name: &str, bytes: &[u8]) -> Result<Parts, String> {
    let gathered = gathered(known, name, bytes)?;
    let failed = gathered.failed.clone();
    let mut parts = parts(known, &gathered)?;
    for (name, why) in failed {
        // It has no value, or should have none.
        parts.insert(readable(&name)?, Part { failed: Some(why), ..Part::default() });
    }
    match parts.is_empty() {
        true => Err(nothing(known, name)),
        false => Ok(parts),
    }
}

fn nothing(known: &HarnessFormat, name: &str) -> String {
    format!("{}: no benchmark in {name}; {}", known.title, known.command)
}

fn gathered(known: &HarnessFormat, name: &str, bytes: &[u8]) -> Result<Gathered, String> {
    let is_go = known.kind == Tool::Go;
    if is_go && !bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"Benchmark") || is_failure(line)) {
        return Err(nothing(known, name));
    }
    if !is_go && !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Err(format!("{}: {name} is not JSON; {}", known.title, known.command));
    }
    let options = Options { format: Some(if is_go { Format::Go } else { Format::Json }), ..Options::default() };
    let read = bakeoff_readers::read(&mut &*bytes, &Origin { name, label: "" }, &options);
    let gathered = read.map_err(|error| {
        // What the reader says of files in general is not what helps here.
        let own = Some(&error.remedy)
            .filter(|remedy| !remedy.is_empty() && !remedy.contains("format") && !remedy.starts_with("read are"));
        let remedy = own.map_or(known.command, String::as_str);
        format!("{}: {}: {}; {remedy}", known.title, error.place, error.message)
    })?;
    match gathered.kind {
        Some(kind) if kind != known.kind => {
            Err(format!("{}: {name} comes from another harness ({kind:?}); {}", known.title, known.command))
        }
        _ => Ok(gathered),
    }
}

fn is_failure(line: &[u8]) -> bool {
    line.starts_with(b"--- FAIL: Benchmark")
}

/// One function of criterion's, as it describes it.
#[derive(Debug, Deserialize)]
struct Described {
    full_id: String,
}

/// The files of criterion's: of each function `new/sample.json`, and beside it its description.
fn of_folder(known: &HarnessFormat, files: &BTreeMap<String, Vec<u8>>) -> Result<Parts, String> {
    let mut all = Parts::new();
    for (path, bytes) in files {
        let Some(folder) = path.strip_suffix("new/sample.json") else { continue };
        let described = files.get(&format!("{folder}new/benchmark.json"));
        let described = described.and_then(|bytes| serde_json::from_slice::<Described>(bytes).ok());
        let name = described.map_or_else(|| folder.trim_end_matches('/').to_owned(), |described| described.full_id);
        let gathered = gathered(known, path, bytes)?;
        let values = gathered.samples.iter().flat_map(|sample| sample.values.iter().copied()).collect();
        let own = all.entry(readable(&name)?).or_default();
        take(own, "sec/op", values);
    }
    if all.is_empty() { Err(nothing(known, "$BAKEOFF_HARNESS")) } else { Ok(all) }
}

/// The benchmarks of what was read.
fn parts(known: &HarnessFormat, gathered: &Gathered) -> Result<Parts, String> {
    let suffix = if known.kind == Tool::Go { common_suffix(&gathered.samples) } else { String::new() };
    let mut parts = Parts::new();
    for sample in &gathered.samples {
        let name = readable(&qualified(sample, &gathered.samples, &suffix))?;
        // Two that would have one name after all: their values are not mixed.
        let metric = metric(&sample.unit);
        let is_taken = |name: &String| parts.get(name).is_some_and(|part: &Part| part.values.contains_key(metric));
        let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
        let Some(name) = numbered.into_iter().find(|name| !is_taken(name)) else { continue };
        take(parts.entry(name).or_default(), metric, sample.values.clone());
    }
    Ok(parts)
}

/// Puts the median of some values into a benchmark. A time that is none makes it one that failed.
fn take(part: &mut Part, metric: &str, values: Vec<f64>) {
    let Some(value) = median(&values) else { return };
    if matches!(metric, "sec/op" | "ops/s") && value <= 0.0 {
        part.failed = Some(format!("the reported value ({value} {metric}) is not positive"));
        return;
    }
    part.values.insert(metric.to_owned(), value);
}

/// The metric of a unit; a unit of which there is none is kept under its own name.
fn metric(unit: &str) -> &str {
    if unit == "sec" { "sec/op" } else { unit }
}

/// The name of a sample; with the settings that tell it from others of the same name, such as the package.
fn qualified(sample: &Sample, all: &[Sample], suffix: &str) -> String {
    let name = sample.row.strip_suffix(suffix).unwrap_or(&sample.row);
    let is_namesake = |other: &&Sample| (&other.row, &other.unit) == (&sample.row, &sample.unit);
    let namesakes: Vec<&Sample> = all.iter().filter(is_namesake).collect();
    let differs = |key: &&String| namesakes.iter().any(|other| other.settings.get(*key) != sample.settings.get(*key));
    let telling: BTreeSet<&String> = namesakes.iter().flat_map(|other| other.settings.keys()).collect();
    let settings: Vec<String> = telling
        .into_iter()
        .filter(differs)
        .map(|key| format!("{key}={}", sample.settings.get(key).map_or("", String::as_str)))
        .collect();
    if settings.is_empty() { name.to_owned() } else { format!("{name} ({})", settings.join(", ")) }
}

/// The `-8` that all names of Go's end in: the number of processors, which is no part of what is measured.
fn common_suffix(samples: &[Sample]) -> String {
    let suffix = |sample: &Sample| {
        let (_, digits) = sample.row.rsplit_once('-')?;
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("-{digits}"))
    };
    let Some(first) = samples.first().and_then(suffix) else { return String::new() };
    if samples.iter().all(|sample| suffix(sample).as_ref() == Some(&first)) { first } else { String::new() }
}

/// A name as it may stand on any screen: what a terminal would obey is written out.
fn readable(name: &str) -> Result<String, String> {
    if name.len() > NAME_MAX {
        let begins: String = name.chars().take(40).collect();
        let begins = bakeoff_model::plain::clean(&begins);
        return Err(format!(
            "the benchmark name that begins with `{begins}` is too long ({} bytes); shorten it",
            name.len()
        ));
    }
    let own = |c: char| match bakeoff_model::plain::clean(&c.to_string()) == c.to_string() {
        true => c.to_string(),
        false => c.escape_unicode().to_string(),
    };
    let name: String = name.trim().chars().map(own).collect();
    Ok(if name.is_empty() { "(no name)".to_owned() } else { name })
}

#[cfg(test)]
mod tests;
