//! Text of other tools around what is read: the events of `go test -json`, and forms that are known by name only. Here
//! no value is read.

use bakeoff_readers::{Error, Origin};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What tells a form that is not read, what it is, and what to do.
const FORMS: [(&[&str], &str, &str); 10] = [
    (&["| Command", "| Mean ["], "hyperfine's Markdown", SUMMARY),
    (&["command,mean,stddev,median"], "hyperfine's CSV", SUMMARY),
    (&["Mode", "Cnt", "Score", "Units"], "JMH's text", SUMMARY),
    (&["Time (mean ± σ):"], "the output of hyperfine", "use the individual times in the file from --export-json"),
    (
        &["Rounds", "Iterations", "StdDev"],
        "the output of pytest-benchmark",
        "use the individual times in the file from --benchmark-json",
    ),
    (&["Min", "Max", "Median", "Avg", "Stddev"], "ministat's output", SUMMARY),
    (&["Performance counter stats for"], "the output of perf stat", NUMBERS),
    (&["Maximum resident set size (kbytes)"], "the output of GNU time", NUMBERS),
    (&["time:   ["], "the output of criterion.rs", "use the individual times in its sample.json files"),
    (&["<?xml"], "XML", NUMBERS),
];
const SUMMARY: &str = "it has summaries but no individual values; use `bakeoff check-summary`";
const NUMBERS: &str = "write only the numbers, one per line, to a file for each sample";

/// The form of a text that is known by name, as an error.
pub(crate) fn refusal(beginning: &[u8], origin: &Origin<'_>) -> Option<Error> {
    let text = String::from_utf8_lossy(beginning);
    let found = FORMS.iter().find(|(signs, ..)| {
        // All signs are in one line.
        text.lines().any(|line| signs.iter().all(|sign| line.contains(sign)))
    });
    found.map(|(_, what, remedy)| origin.whole(&format!("this looks like {what}"), remedy))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    output: String,
}

/// Whether a text begins as `go test -json` does.
pub(crate) fn is_go_json(beginning: &[u8]) -> bool {
    let first = beginning.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| serde_json::from_slice::<Event>(line).is_ok())
}

/// What the tests printed, package by package.
pub(crate) fn go_text(text: &[u8], origin: &Origin<'_>) -> Result<String, Error> {
    let mut packages: BTreeMap<String, String> = BTreeMap::new();
    for (number, line) in (1u64..).zip(text.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let event = serde_json::from_slice::<Event>(line)
            .map_err(|error| origin.error(number, &format!("this is not an event of `go test -json`: {error}"), ""))?;
        if event.action == "output" {
            packages.entry(event.package).or_default().push_str(&event.output);
        }
    }
    Ok(packages.into_values().collect::<Vec<_>>().join("\n"))
}
