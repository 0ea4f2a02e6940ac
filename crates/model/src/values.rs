//! Values: numbers that a workload reports, in its marks or in what it prints, turned into the base units of
//! their metrics. It finds what a study's [`ValueSpec`]s ask for in text that others have read.

use crate::marks::ParsedValues;
use crate::metric::{Measurements, Unit};
use crate::range::is_usable;
use crate::study::{Take, ValueSource, ValueSpec};
use regex::bytes::{Regex, RegexBuilder};

/// Longer texts are shown in part.
const SHOWN_MAX: usize = 60;
/// A regular expression may need so much memory, in bytes.
const REGEX_MAX: usize = 1 << 20;

/// Why a value is not there: which one, where it was looked for, and what was found instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("value `{name}`: {why}")]
pub struct Missing {
    /// The value.
    pub name: String,
    /// In one line.
    pub why: String,
}

/// All values that a trial reported (`parsed` marks, printed `stdout`), in base units, and why the others are missing.
pub fn read(specs: &[ValueSpec], parsed: &ParsedValues, stdout: &[u8]) -> (Measurements, Vec<Missing>) {
    let (mut values, mut missing) = (Measurements::new(), vec![]);
    for spec in specs {
        match value(spec, parsed, stdout) {
            Ok(value) => values.insert(spec.name.clone(), value),
            Err(why) => missing.push(Missing { name: spec.name.clone(), why }),
        }
    }
    (values, missing)
}

/// Whether a value can be looked for there at all: is the regular expression one?
pub fn check(source: &ValueSource) -> Result<(), String> {
    match source {
        ValueSource::Mark => Ok(()),
        ValueSource::Regex(regex) => compile(regex).map(|_| ()),
        ValueSource::Json(path) if path.split('.').any(str::is_empty) => {
            Err(format!("a part of the JSON path `{path}` is empty"))
        }
        ValueSource::Csv { column, .. } if column.trim().is_empty() => {
            Err("a column needs a name or a number".to_owned())
        }
        ValueSource::Csv { column, .. } if column.trim() == "0" => Err("column numbers start at 1".to_owned()),
        ValueSource::Json(_) | ValueSource::Csv { .. } => Ok(()),
    }
}

fn value(spec: &ValueSpec, parsed: &ParsedValues, stdout: &[u8]) -> Result<f64, String> {
    let printed = match &spec.from {
        ValueSource::Mark => return marked(spec, parsed),
        ValueSource::Regex(regex) => by_regex(regex, stdout)?,
        ValueSource::Json(path) => by_path(path, stdout)?,
        ValueSource::Csv { column, take } => by_column(column, *take, stdout)?,
    };
    usable(printed * spec.scale)
}

fn usable(value: f64) -> Result<f64, String> {
    if is_usable(value) { Ok(value) } else { Err(format!("{value:e} is too large or too small; choose another unit")) }
}

/// A mark's own unit counts more than the study's, but it must be one of the same kind.
fn marked(spec: &ValueSpec, parsed: &ParsedValues) -> Result<f64, String> {
    let Some((number, unit)) = parsed.get(&spec.name) else {
        let names: Vec<&str> = parsed.keys().map(String::as_str).collect();
        let others = if names.is_empty() { "no values".to_owned() } else { format!("only {}", names.join(", ")) };
        return Err(format!("there is no mark `value {} …`; the marks report {others}", spec.name));
    };
    let Some(unit) = unit else { return usable(number * spec.scale) };
    let (base, scale) =
        Unit::of(unit).ok_or_else(|| format!("the mark has the unknown unit `{unit}`; available: {}", Unit::KNOWN))?;
    if base != spec.unit {
        return Err(format!("the mark is in `{unit}`, but the study expects {}", spec.unit.word()));
    }
    usable(number * scale)
}

fn compile(regex: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(regex).multi_line(true).crlf(true).size_limit(REGEX_MAX).build();
    compiled.map_err(|error| {
        // It says what it means in the last of several lines.
        let text = error.to_string();
        let what = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("/{regex}/ is not a regular expression: {what}")
    })
}

fn by_regex(regex: &str, stdout: &[u8]) -> Result<f64, String> {
    let compiled = compile(regex)?;
    let last = compiled.find_iter(stdout).last();
    let captures = last.and_then(|last| compiled.captures_at(stdout, last.start()));
    let group = captures.and_then(|captures| captures.get(1).or_else(|| captures.get(0)));
    let found = group.ok_or_else(|| format!("/{regex}/ matches nothing in {}", output(stdout)))?;
    let text = String::from_utf8_lossy(found.as_bytes());
    number(&text).ok_or_else(|| format!("/{regex}/ found {}, not a number", shown(&text)))
}

/// The output is one JSON value, or else its last line is that is an object or a list.
fn by_path(path: &str, stdout: &[u8]) -> Result<f64, String> {
    let whole = || serde_json::from_slice::<serde_json::Value>(stdout).ok();
    let of_line = |line: &[u8]| {
        let line = line.trim_ascii();
        let may_be = line.starts_with(b"{") || line.starts_with(b"[");
        if may_be { serde_json::from_slice::<serde_json::Value>(line).ok() } else { None }
    };
    let json = whole().or_else(|| stdout.rsplit(|byte| *byte == b'\n').find_map(of_line));
    let mut json = json.ok_or_else(|| format!("JSON field `{path}`: there is no JSON in {}", output(stdout)))?;
    // What an error names stands in alphabetical order.
    json.sort_all_objects();
    let mut at = &json;
    let mut walked = String::new();
    for part in path.split('.') {
        let next = match at {
            serde_json::Value::Object(fields) => fields.get(part),
            serde_json::Value::Array(list) => part.parse::<usize>().ok().and_then(|index| list.get(index)),
            _ => None,
        };
        let place = if walked.is_empty() { "the JSON".to_owned() } else { format!("`{walked}`") };
        at = next.ok_or_else(|| format!("JSON field `{path}`: {place} has no `{part}`; it {}", has(at)))?;
        walked = if walked.is_empty() { part.to_owned() } else { format!("{walked}.{part}") };
    }
    let found = match at {
        serde_json::Value::Number(number) => number.as_f64(),
        serde_json::Value::String(text) => number(text),
        _ => None,
    };
    found.ok_or_else(|| format!("JSON field `{path}` is {}, not a number", shown(&at.to_string())))
}

/// What there is in a JSON value, for errors.
fn has(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(fields) if fields.is_empty() => "is empty".to_owned(),
        serde_json::Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            let list = names.join(", ");
            format!("has {}", if list.len() > SHOWN_MAX { shown(&list) } else { list })
        }
        serde_json::Value::Array(list) => format!("is a list of size {}, indexed from 0", list.len()),
        other => format!("is {}", shown(&other.to_string())),
    }
}

fn by_column(column: &str, take: Take, stdout: &[u8]) -> Result<f64, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(stdout);
    let damaged = |error: csv::Error| format!("CSV column `{column}`: the output is not CSV: {error}");
    let headings = reader.byte_headers().map_err(damaged)?.clone();
    let by_name = headings.iter().position(|heading| heading == column.trim().as_bytes());
    let by_number = || column.trim().parse::<usize>().ok()?.checked_sub(1);
    let at = by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<_> = headings.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
        format!("there is no CSV column `{column}`; the heading line has {}", shown(&names.join(", ")))
    })?;
    let (mut rows, mut sum, mut last, mut max) = (0u64, 0.0, 0.0, f64::NEG_INFINITY);
    let mut row = csv::ByteRecord::new();
    while reader.read_byte_record(&mut row).map_err(damaged)? {
        let line = row.position().map_or(0, csv::Position::line);
        let cell = row.get(at).ok_or_else(|| {
            format!("CSV column `{column}`: line {line} ends after column {}: {}", row.len(), shown_row(&row))
        })?;
        let text = String::from_utf8_lossy(cell);
        last = number(&text)
            .ok_or_else(|| format!("CSV column `{column}`: line {line} has {}, not a number", shown(&text)))?;
        rows += 1;
        sum += last;
        max = last.max(max);
    }
    if rows == 0 {
        return Err(format!("CSV column `{column}`: there are no rows below the heading line in {}", output(stdout)));
    }
    Ok(match take {
        Take::Last => last,
        Take::Sum => sum,
        Take::Mean => sum / rows as f64,
        Take::Max => max,
    })
}

fn shown_row(row: &csv::ByteRecord) -> String {
    let cells: Vec<_> = row.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
    shown(&cells.join(","))
}

/// A finite number. Words such as `inf` are none, nor are digits grouped by commas: which of them is the point?
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.chars().next().filter(|first| first.is_ascii_digit() || *first == '.')?;
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// The output as errors call it: its size and its last line.
fn output(stdout: &[u8]) -> String {
    let last = stdout.rsplit(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    match last {
        None => "the standard output (empty)".to_owned(),
        Some(line) => {
            let line = &line[..line.len().min(4 * SHOWN_MAX)];
            format!("the standard output (last line: {})", shown(&String::from_utf8_lossy(line)))
        }
    }
}

fn shown(text: &str) -> String {
    let short: String = text.trim().chars().take(SHOWN_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    let more = if text.trim().chars().count() > SHOWN_MAX { "…" } else { "" };
    format!("`{short}{more}`")
}

#[cfg(test)]
mod tests;
