//! The format of Go's testing: a line for each trial that counts, with the metrics of the tables. `benchstat -col /variant`
//! compares the variants; its n and medians are those of the findings. A name in it cannot have blanks, and only part of it
//! can have slashes, so names are changed where they must be, and stay different from each other.

use crate::counting::{cells, value};
use bakeoff_command::Concluded;
use bakeoff_judge::findings::Findings;
use bakeoff_model::metric::{Direction, Metric, Unit, WALL, is_of_harness};
use bakeoff_model::plain::clean;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const NS_PER_S: f64 = 1e9;
/// Units that Go's tools convert where they stand between dashes; a metric of that name is no such unit.
const CONVERTED: [&str; 2] = ["ns", "MB"];

/// The whole file.
pub(crate) fn lines(concluded: &Concluded<'_>) -> String {
    let (record, findings) = (&*concluded.record.in_parts(), concluded.findings);
    let variants: Vec<&str> = findings.variants.iter().map(|variant| variant.name.as_str()).collect();
    let words = words(variants.iter().copied());
    let workloads = self::words(record.study.workloads.iter().map(String::as_str));
    let conditions = self::words(record.study.conditions.iter().map(String::as_str));
    let columns = columns(findings);
    let mut out = head(findings, &columns);
    // What Go calls the number of processors ends every name; without it, a name such as `gzip-9` would seem to have one.
    let processors = findings.places.first().map_or(1, |place| place.cpus.max(1));
    for cell in cells(record, &variants) {
        let name = format!(
            "Benchmark{}/variant={}/condition={}-{processors}",
            capitalised(&workloads[cell.workload]),
            words[cell.variant],
            conditions[cell.condition],
        );
        for trial in &cell.trials {
            let values: String = columns
                .iter()
                .filter_map(|column| {
                    Some(format!(" {} {}", value(trial, &column.metric.name)? * column.factor, column.unit))
                })
                .collect();
            if !values.is_empty() {
                let _ = writeln!(out, "{name} 1{values}");
            }
        }
    }
    out
}

/// A metric and its unit in Go's format.
struct Column<'a> {
    metric: &'a Metric,
    unit: String,
    factor: f64,
}

/// The metrics of the tables, each once: wall time first, if it is one.
fn columns(findings: &Findings) -> Vec<Column<'_>> {
    let mut columns: Vec<Column<'_>> = vec![];
    for metric in &findings.metrics {
        let in_table = findings.tables.iter().find(|table| table.metric == metric.name);
        let Some(unit) = in_table.map(|table| table.unit) else { continue };
        let (mut unit, factor) = unit_of(metric, unit);
        while columns.iter().any(|known| known.unit == unit) {
            unit = format!("{unit}_");
        }
        columns.push(Column { metric, unit, factor });
    }
    columns.sort_by_key(|column| column.metric.name != WALL);
    columns
}

fn unit_of(metric: &Metric, unit: Unit) -> (String, f64) {
    if is_of_harness(&metric.name) {
        return if metric.name == "sec/op" { ("ns/op".to_owned(), NS_PER_S) } else { (metric.name.to_string(), 1.0) };
    }
    let mut name = word(&metric.name).replace('-', "_");
    if CONVERTED.contains(&name.as_str()) {
        name.push('_');
    }
    match unit {
        Unit::Seconds if metric.name == WALL => ("ns/op".to_owned(), NS_PER_S),
        Unit::Seconds => (format!("{name}-sec/op"), 1.0),
        Unit::Bytes => (format!("{name}-B/op"), 1.0),
        Unit::Count => (format!("{name}/op"), 1.0),
        Unit::PerSecond => (format!("{name}/s"), 1.0),
        Unit::GuestInstructions => (format!("{name}-Ginstructions/op"), 1.0),
    }
}

/// What holds for all lines: where it was measured, if at one place, and of which units more is better.
fn head(findings: &Findings, columns: &[Column<'_>]) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: &str| {
        let value = clean(value);
        if !value.trim().is_empty() {
            let _ = writeln!(out, "{key}: {}", value.trim());
        }
    };
    line("study", &findings.study);
    if let [place] = findings.places.as_slice() {
        line("os", &place.os);
        line("kernel", &place.kernel);
        line("cpu", &place.cpu);
    }
    for column in columns.iter().filter(|column| column.metric.better == Direction::More) {
        let _ = writeln!(out, "Unit {} better=higher", column.unit);
    }
    out
}

/// A word for each name; different ones for different names.
fn words<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let mut words: BTreeMap<&str, String> = BTreeMap::new();
    for name in names {
        let mut own = word(name);
        while words.values().any(|taken| *taken == own) {
            own.push('_');
        }
        words.insert(name, own);
    }
    words
}

/// A name without blanks and slashes.
fn word(name: &str) -> String {
    let one = |c: char| if c.is_whitespace() || c == '/' { '_' } else { c };
    let word: String = clean(name).chars().map(one).collect();
    if word.is_empty() { "_".to_owned() } else { word }
}

/// Go's names begin with a capital letter.
fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    // Any other letter that is small would make it no name of a benchmark.
    let first = first.map(|c| if c.is_lowercase() { format!("_{c}") } else { c.to_string() });
    first.unwrap_or_default() + chars.as_str()
}
