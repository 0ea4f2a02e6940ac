//! hyperfine's JSON, field by field, so that scripts for hyperfine read it: an entry for each variant, workload and condition,
//! of the trials that count. It has no verdicts; those are in the other formats.

use crate::counting::{Cell, cells, value};
use bakeoff_command::{CommandError, Concluded};
use bakeoff_model::metric;
use bakeoff_model::plain::{clean, escaped};
use bakeoff_model::record::Record;
use bakeoff_stats::describe;
use serde::Serialize;
use std::collections::BTreeMap;

/// The factor whose levels are the commands of `compare`; no parameter can have this name.
const COMMAND: &str = "command";

#[derive(Serialize)]
struct Document {
    results: Vec<Entry>,
}

/// hyperfine's `BenchmarkResult`; times in seconds.
#[derive(Serialize)]
struct Entry {
    command: String,
    mean: f64,
    /// None of a single time.
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<i32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

/// The whole file. A variant of which no trial counts is not in it: hyperfine knows no such thing.
pub(crate) fn json(concluded: &Concluded<'_>) -> Result<String, CommandError> {
    let Concluded { record, findings, .. } = concluded;
    if !record.study.clock.is_of_seconds() {
        let error = "cannot write hyperfine's JSON: the format needs seconds, but this study measured instructions";
        return Err(CommandError::usage(error).hint("use --export-findings or --export-csv instead"));
    }
    let variants: Vec<&str> = findings.variants.iter().map(|variant| variant.name.as_str()).collect();
    let entries = cells(record, &variants).iter().filter_map(|cell| entry(record, cell)).collect();
    let text = serde_json::to_string_pretty(&Document { results: entries })? + "\n";
    Ok(escaped(&text).into_owned())
}

fn entry(record: &Record, cell: &Cell<'_>) -> Option<Entry> {
    let timed: Vec<_> = cell.trials.iter().filter_map(|trial| Some((*trial, value(trial, metric::WALL)?))).collect();
    let times: Vec<f64> = timed.iter().map(|(_, wall)| *wall).collect();
    let values = |metric: &str| timed.iter().filter_map(|(trial, _)| value(trial, metric)).collect::<Vec<f64>>();
    let mean = |values: &[f64]| if values.is_empty() { 0.0 } else { describe::mean(values) };
    let memory = values(metric::MAXRSS);
    Some(Entry {
        command: command(record, cell),
        mean: mean(&times),
        stddev: describe::sd(&times),
        median: describe::median(&times)?,
        user: mean(&values(metric::USER)),
        system: mean(&values(metric::SYS)),
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        max: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        memory_usage_byte: (memory.len() == times.len()).then(|| memory.iter().map(|bytes| *bytes as u64).collect()),
        // Only trials that did what they should are here.
        exit_codes: vec![0; times.len()],
        parameters: parameters(record, cell),
        times,
    })
}

/// The variant's name, which is the command where there is no other; and where it was run, if that may be several places.
fn command(record: &Record, cell: &Cell<'_>) -> String {
    let mut at: Vec<&str> = vec![];
    at.extend(Some(cell.workload).filter(|_| record.study.workloads.len() > 1));
    at.extend(Some(cell.condition).filter(|_| record.study.conditions.len() > 1));
    let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    clean(&format!("{}{at}", cell.variant))
}

/// The levels of the variant, and its workload and condition where there are several.
fn parameters(record: &Record, cell: &Cell<'_>) -> BTreeMap<String, String> {
    let variant = record.study.variants.iter().find(|variant| variant.name == cell.variant);
    // Of commands, the command itself is no parameter; those that were put into it are.
    let is_command = |factor: &str| factor == COMMAND && variant.is_some_and(|variant| variant.run.is_some());
    let levels = variant.into_iter().flat_map(|variant| &variant.levels).filter(|(factor, _)| !is_command(factor));
    let mut parameters: BTreeMap<String, String> =
        levels.map(|(factor, level)| (clean(factor), clean(level))).collect();
    let study = &record.study;
    let places = [("workload", cell.workload, &study.workloads), ("condition", cell.condition, &study.conditions)];
    for (name, value, _) in places.into_iter().filter(|(_, _, all)| all.len() > 1) {
        parameters.entry(name.to_owned()).or_insert_with(|| clean(value));
    }
    parameters
}
