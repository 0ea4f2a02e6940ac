//! The statistics in pytest-benchmark's JSON, which are there without single times, too. JSON of other tools is named.

use super::reader::problem;
use super::{Figure, Published, Summary};
use bakeoff_model::problem::Problems;
use serde::Deserialize;
use serde_json::Number;

#[derive(Deserialize)]
struct Document {
    // Spelled so because the word itself is not used here (docs/concepts.md).
    #[serde(rename = "\u{62}enchmarks")]
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    group: Option<String>,
    name: String,
    fullname: Option<String>,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    rounds: u64,
    min: Option<Number>,
    max: Option<Number>,
    median: Option<Number>,
    mean: Option<Number>,
    stddev: Option<Number>,
}

/// Whether a text is meant as JSON; `{old} avg 5` and `[1] a link` are not.
pub(super) fn is_json(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix(['{', '[']).map(str::trim_start);
    let is_whole = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    inner.is_some_and(|inner| inner.starts_with(['"', '{', '}']) || is_whole())
}

/// Reads a file of pytest-benchmark's.
pub(super) fn read(file: &str, text: &str) -> Result<Published, Problems> {
    let refuse =
        |message: &str, remedy: &str| Problems::new(file, text, vec![problem(0..0, message.to_owned(), remedy)]);
    let of = if text.contains("\"jmhVersion\"") { "JMH's JSON" } else { "JSON, and not like pytest-benchmark's" };
    let parsed: Result<Document, _> = serde_json::from_slice(&bakeoff_readers::without_nan(text.as_bytes()));
    let Document { entries } = parsed.map_err(|_| {
        refuse(&format!("this looks like {of}"), "`bakeoff stat` reads single values from JSON of other tools")
    })?;
    if entries.is_empty() {
        return Err(refuse("there are no figures in the input", "pytest-benchmark writes one entry for each test"));
    }
    let figure = |number: Option<Number>| Figure::read(&number?.to_string());
    let summary = |Entry { group, name, fullname, stats }: Entry| {
        let at = text.find(&format!("\"{name}\"")).unwrap_or(0);
        Summary {
            name: fullname.unwrap_or(name),
            quantity: group,
            unit: Some("s".to_owned()),
            line: 1 + text[..at].matches('\n').count(),
            n: Some(stats.rounds).filter(|n| *n > 0),
            min: figure(stats.min),
            max: figure(stats.max),
            median: figure(stats.median),
            mean: figure(stats.mean),
            sd: figure(stats.stddev),
            ..Summary::default()
        }
    };
    Ok(Published { summaries: entries.into_iter().map(summary).collect(), ..Published::default() })
}
