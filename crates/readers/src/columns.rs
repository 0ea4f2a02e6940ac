//! One column of numbers, a value a line. Nothing is dropped without a word: blank lines and what follows a `#` are
//! comments, every other line must have a number in the column that is asked for, or the first that does not is an
//! error with its place.

use super::lines;
use super::origin::{Error, LINE_MAX, Origin};
use super::rounded::Rounded;
use bakeoff_model::decimal;
use bakeoff_model::range::is_usable;
use std::io::BufRead;

/// Longer words are shown in part.
const SHOWN_MAX: usize = 40;
/// An integer of fewer digits is exact.
const EXACT_DIGITS: usize = 15;

/// The column, and what stands between columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// Which column, from 1.
    pub column: usize,
    /// Characters of which any number in a row separate columns.
    pub delimiters: Vec<u8>,
}

impl Default for Columns {
    fn default() -> Self {
        Self { column: 1, delimiters: b" \t".to_vec() }
    }
}

/// Reads all values, and counts those that were rounded.
pub(super) fn read(
    reader: &mut dyn BufRead,
    origin: &Origin<'_>,
    columns: &Columns,
    rounded: &mut Rounded,
) -> Result<Vec<f64>, Error> {
    let mut separates = [false; 256];
    columns.delimiters.iter().for_each(|byte| separates[usize::from(*byte)] = true);
    let mut values = vec![];
    let mut number = 0;
    let whole_lines = columns.column == 1 && !columns.delimiters.iter().any(|byte| decimal::may_have(*byte));
    let read = lines::each(reader, LINE_MAX, |line| {
        number += 1;
        // Most lines are a number and nothing else.
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let whole = Some(bare).filter(|bare| whole_lines && bare.len() <= EXACT_DIGITS);
        if let Some(value) = whole.and_then(decimal::parse) {
            values.push(value);
            return Ok(());
        }
        let Some(word) = word(line, columns.column, &separates) else { return Ok(()) };
        match word {
            Ok(word) => {
                values.push(value(word, origin, number, rounded)?);
                Ok(())
            }
            Err(_) if line.len() >= LINE_MAX => Err(origin.error(number, "the line is longer than a megabyte", "")),
            Err(found) => {
                let message = format!("there are only {found} columns, but column {} is wanted", columns.column);
                Err(origin.error(number, &message, REMEDY_COLUMN))
            }
        }
    });
    origin.outcome(read)?;
    Ok(values)
}

const REMEDY_COLUMN: &str = "-C chooses another column, -d the characters between columns; a line that is no data \
                             begins with #";

/// The word in a column; none if the line is blank or a comment, and the number of columns if there are too few.
fn word<'a>(line: &'a [u8], column: usize, separates: &[bool; 256]) -> Option<Result<&'a [u8], usize>> {
    let line = line.trim_ascii_end();
    let mut rest = line;
    let mut found = 0;
    loop {
        let begin = rest.iter().position(|byte| !separates[usize::from(*byte)]);
        let Some(begin) = begin.filter(|begin| rest[*begin] != b'#') else {
            return if found == 0 { None } else { Some(Err(found)) };
        };
        rest = &rest[begin..];
        let end = rest.iter().position(|byte| separates[usize::from(*byte)]).unwrap_or(rest.len());
        found += 1;
        if found == column {
            return Some(Ok(rest[..end].trim_ascii()));
        }
        rest = &rest[end..];
    }
}

/// What is wrong with a number that cannot be reckoned with.
pub(super) fn beyond(value: f64) -> &'static str {
    if value.abs() > 1.0 {
        "too large: squares and ratios of such numbers are no numbers any more"
    } else {
        "too small: squares and ratios of such numbers are no numbers any more"
    }
}

/// A number that can be reckoned with, or an error that says what stands there instead.
pub(super) fn value(word: &[u8], origin: &Origin<'_>, line: u64, rounded: &mut Rounded) -> Result<f64, Error> {
    let slowly = || std::str::from_utf8(word).ok()?.parse::<f64>().ok();
    let parsed = decimal::parse(word).or_else(slowly);
    match parsed {
        Some(value) if is_usable(value) => {
            if word.len() > EXACT_DIGITS && is_rounded(word, value) {
                rounded.count(origin, line, word, value);
            }
            Ok(value)
        }
        Some(value) => {
            let shown = shown(word);
            let digits = word.iter().any(u8::is_ascii_digit);
            let message = match value.is_nan() {
                _ if digits => format!("{shown} is {}", beyond(value)),
                true => format!("{shown} is not a value"),
                false => format!("{shown} is not finite"),
            };
            let remedy = "take the line out, or put # before it, and say so where you publish the numbers";
            Err(origin.error(line, &message, if digits { "choose another unit" } else { remedy }))
        }
        None => {
            let message = format!("{} is not a number", shown(word));
            Err(origin.error(line, &message, REMEDY_COLUMN))
        }
    }
}

/// Whether an integer lost digits. Decimal fractions are rounded anyhow, and nobody minds.
fn is_rounded(word: &[u8], value: f64) -> bool {
    let text = std::str::from_utf8(word).unwrap_or_default();
    match text.parse::<i128>() {
        Ok(integer) => value.abs() < 1e38 && value as i128 != integer,
        Err(_) => word.iter().all(u8::is_ascii_digit),
    }
}

/// What somebody wrote, for a message: its beginning, without control characters.
pub(super) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let short: String = text.chars().take(SHOWN_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    let more = if text.chars().count() > SHOWN_MAX { "…" } else { "" };
    format!("`{short}{more}`")
}
