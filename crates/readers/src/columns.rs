//! One column of numbers, a value a line, but for blank lines and what follows a `#`. Other lines are errors.

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
    /// Somebody named it: then the others are not needed, whatever stands in them.
    pub is_chosen: bool,
    /// Characters that separate columns: of blanks any number in a row, of others each one.
    pub delimiters: Vec<u8>,
}

impl Default for Columns {
    fn default() -> Self {
        Self { column: 1, is_chosen: false, delimiters: b" \t".to_vec() }
    }
}

/// Units that may stand behind a number: how they are called, the base unit, and what a value in them is multiplied with.
pub const UNITS: [(&[&str], &str, f64); 14] = [
    (&["ns", "nsec", "nanoseconds"], "sec", 1e-9),
    (&["us", "µs", "μs", "usec", "microseconds"], "sec", 1e-6),
    (&["ms", "msec", "milliseconds"], "sec", 1e-3),
    (&["s", "sec", "secs", "second", "seconds"], "sec", 1.0),
    (&["min", "minutes"], "sec", 60.0),
    (&["h", "hours"], "sec", 3600.0),
    (&["B", "bytes"], "B", 1.0),
    (&["kB"], "B", 1e3),
    (&["MB"], "B", 1e6),
    (&["GB"], "B", 1e9),
    (&["KiB"], "B", 1024.0),
    (&["MiB"], "B", 1_048_576.0),
    (&["GiB"], "B", 1_073_741_824.0),
    (&["%"], "%", 1.0),
];

/// The values of a file, and the base unit that stood at all of them.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) values: Vec<f64>,
    pub(super) unit: Option<&'static str>,
}

pub(super) fn read(
    reader: &mut dyn BufRead,
    origin: &Origin<'_>,
    columns: &Columns,
    rounded: &mut Rounded,
) -> Result<Column, Error> {
    let separators = Separators::of(&columns.delimiters);
    let (mut values, mut unit) = (vec![], None);
    let mut number = 0;
    let whole_lines = columns.column == 1 && !columns.delimiters.iter().any(|byte| decimal::may_have(*byte));
    let read = lines::each(reader, LINE_MAX, |line| {
        number += 1;
        // Most lines are a number and nothing else.
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let whole = Some(bare).filter(|bare| whole_lines && bare.len() <= EXACT_DIGITS);
        if let Some(value) = whole.and_then(decimal::parse) {
            same_unit(&mut unit, None, origin, number)?;
            values.push(value);
            return Ok(());
        }
        let Some(word) = separators.word(line, columns.column) else { return Ok(()) };
        match word {
            Ok((b"", _)) => Err(origin.error(number, &format!("column {} is empty", columns.column), REMEDY_EMPTY)),
            Ok((word, rest)) => {
                // Next to a chosen column only a known unit matters.
                let (digits, known) = match with_unit(word, rest, origin, number) {
                    Err(_) if columns.is_chosen => (word, None),
                    read => read?,
                };
                same_unit(&mut unit, known.map(|(base, _)| base), origin, number)?;
                let value = value(digits, origin, number, rounded)?;
                values.push(known.map_or(value, |(_, factor)| in_base(value, factor)));
                Ok(())
            }
            Err(_) if line.len() >= LINE_MAX => Err(origin.error(number, "the line is longer than 1 MiB", REMEDY_LONG)),
            Err(found) => {
                let message = format!("there is no column {}: the line has {found}", columns.column);
                Err(origin.error(number, &message, REMEDY_COLUMN))
            }
        }
    });
    origin.outcome(read)?;
    Ok(Column { values, unit: unit.flatten() })
}

/// Takes the unit of a line, none of a bare number; all lines must have one, or none.
fn same_unit(
    known: &mut Option<Option<&'static str>>,
    new: Option<&'static str>,
    origin: &Origin<'_>,
    line: u64,
) -> Result<(), Error> {
    let first = *known.get_or_insert(new);
    if first == new {
        return Ok(());
    }
    let name = |unit: Option<&str>| unit.map_or("no unit".to_owned(), |unit| format!("the unit {unit}"));
    let message = format!("this value has {}, but the values above have {}", name(new), name(first));
    Err(origin.error(line, &message, "use the same unit for all values in a file, or no unit for any of them"))
}

/// A unit's base unit, and its factor.
type Unit = (&'static str, f64);

fn known(unit: &[u8]) -> Option<Unit> {
    let is_it = |names: &&[&str]| names.iter().any(|name| name.as_bytes() == unit);
    UNITS.iter().find(|(names, ..)| is_it(names)).map(|(_, base, factor)| (*base, *factor))
}

/// A value in a base unit. Dividing by a power of ten is exact where multiplying by its inverse is not.
pub fn in_base(value: f64, factor: f64) -> f64 {
    if factor < 1.0 { value / (1.0 / factor).round() } else { value * factor }
}

/// Three digits, which may be the thousands of a number or its last ones.
fn is_group(word: &[u8]) -> bool {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits == 3 && [None, Some(&b'.'), Some(&b',')].contains(&word.get(3))
}

/// A rate, a half-width, or a unit that is one of several.
fn has_no_one_meaning(word: &[u8]) -> bool {
    word.contains(&b'/')
        || ["±", "+-"].iter().any(|sign| word.starts_with(sign.as_bytes()))
        || matches!(word, b"KB" | b"kb" | b"K" | b"k" | b"M" | b"m" | b"G" | b"g")
}

/// The number of a word without its unit, which may stand at it or be the word after it.
fn with_unit<'a>(
    word: &'a [u8],
    rest: &[u8],
    origin: &Origin<'_>,
    line: u64,
) -> Result<(&'a [u8], Option<Unit>), Error> {
    let digits = word.iter().rposition(|byte| byte.is_ascii_digit() || *byte == b'.').map_or(0, |last| last + 1);
    let is_number = std::str::from_utf8(&word[..digits]).is_ok_and(|text| text.parse::<f64>().is_ok());
    if let Some(unit) = known(&word[digits..]).filter(|_| is_number) {
        return Ok((&word[..digits], Some(unit)));
    }
    let mut others = rest.split(|byte| b" \t,;".contains(byte)).map(<[u8]>::trim_ascii).filter(|word| !word.is_empty());
    let is_begun = word.len() <= 3 && word != b"0" && word.iter().all(u8::is_ascii_digit);
    let next = others.next();
    if is_begun && next.is_some_and(is_group) && others.all(|word| is_group(word) || known(word).is_some()) {
        let message = format!("{} could be one number or several", shown(&[word, b" ", rest.trim_ascii()].concat()));
        return Err(origin.error(
            line,
            &message,
            "write numbers without blanks; if these are several columns, choose the first with `-C 1`",
        ));
    }
    if let Some(next) = next.filter(|next| has_no_one_meaning(next)) {
        let message = format!("{} after the number is not a known unit", shown(next));
        return Err(origin.error(
            line,
            &message,
            "write kB or KiB, MB or MiB, s or min; or read only the number with `-C 1`",
        ));
    }
    Ok((word, next.and_then(known)))
}

const REMEDY_EMPTY: &str = "remove the line or put # before it, and mention this when you publish the numbers";

const REMEDY_LONG: &str = "check that the file is text with one value per line";

const REMEDY_COLUMN: &str = "choose another column with -C, or other column separators with -d; put # before \
                             lines that are not data";

struct Separators {
    separates: [bool; 256],
    /// Those of which each one ends a column, so that one may be empty.
    ends: [bool; 256],
}

/// A word of a line, and what follows it.
type WordAndRest<'a> = (&'a [u8], &'a [u8]);

impl Separators {
    /// Tabs count one by one where they alone separate.
    fn of(delimiters: &[u8]) -> Self {
        let mut it = Self { separates: [false; 256], ends: [false; 256] };
        for byte in delimiters {
            it.separates[usize::from(*byte)] = true;
            it.ends[usize::from(*byte)] = *byte != b' ' && (*byte != b'\t' || delimiters == b"\t");
        }
        it
    }

    /// The word in a column, and the rest; none for a blank line or comment, the number of columns if there are too few.
    fn word<'a>(&self, line: &'a [u8], column: usize) -> Option<Result<WordAndRest<'a>, usize>> {
        let is = |table: &[bool; 256], byte: &u8| table[usize::from(*byte)];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut rest = line.strip_suffix(b"\r").unwrap_or(line);
        let is_blank = |rest: &[u8]| rest.iter().all(|byte| is(&self.separates, byte) || byte.is_ascii_whitespace());
        if is_blank(rest) && !rest.iter().any(|byte| is(&self.ends, byte)) {
            return None;
        }
        let (mut found, mut is_open) = (0, false);
        loop {
            // Blanks before a column are none of it.
            let begin = rest.iter().position(|byte| !is(&self.separates, byte) || is(&self.ends, byte));
            rest = &rest[begin.unwrap_or(rest.len())..];
            if rest.first() == Some(&b'#') || (rest.is_empty() && !is_open) {
                return if found == 0 { None } else { Some(Err(found)) };
            }
            let end = rest.iter().position(|byte| is(&self.separates, byte)).unwrap_or(rest.len());
            found += 1;
            if found == column {
                return Some(Ok((rest[..end].trim_ascii(), &rest[end..])));
            }
            if end == rest.len() {
                return Some(Err(found));
            }
            // Blanks around a separator are a part of it.
            let after = &rest[end..];
            let blanks = after.iter().take_while(|byte| is(&self.separates, byte) && !is(&self.ends, byte)).count();
            let one = usize::from(after.get(blanks).is_some_and(|byte| is(&self.ends, byte)));
            is_open = one > 0;
            rest = &after[blanks + one..];
        }
    }
}

/// What is wrong with a number that cannot be reckoned with.
pub(super) fn beyond(value: f64) -> &'static str {
    if value.abs() > 1.0 { "too large to compute with" } else { "too small to compute with" }
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
            let remedy = "remove the line or put # before it, and mention this when you publish the numbers";
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

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin<'_> = Origin { name: "f", label: "f" };

    fn read_with(text: &str, delimiters: &str, column: usize) -> Result<(Vec<f64>, &'static str), Error> {
        let columns = Columns { column, is_chosen: column > 1, delimiters: delimiters.as_bytes().to_vec() };
        let read = read(&mut text.as_bytes(), &ORIGIN, &columns, &mut Rounded::default())?;
        Ok((read.values, read.unit.unwrap_or_default()))
    }

    #[test]
    fn an_empty_cell_is_none_of_the_next_column() {
        for (text, delimiters, column, expect) in [
            ("1,2,3\n4,5,6\n", ",", 2, Ok(vec![2.0, 5.0])),
            ("1,,3\n", ",", 3, Ok(vec![3.0])),
            (",2,3\n", ",", 2, Ok(vec![2.0])),
            ("1, ,3\n", ", ", 3, Ok(vec![3.0])),
            ("1 , 2 ,3\n", " ,", 2, Ok(vec![2.0])),
            ("1\t\t3\n", "\t", 3, Ok(vec![3.0])),
            ("a   2\n  b 3\n", " \t", 2, Ok(vec![2.0, 3.0])),
            ("1,,3\n", ",", 2, Err("f:1: column 2 is empty")),
            ("1,2\n1,\n", ",", 2, Err("f:2: column 2 is empty")),
            ("1, ,3\n", ", ", 2, Err("f:1: column 2 is empty")),
            ("1\t\t3\n", "\t", 2, Err("f:1: column 2 is empty")),
            ("1;2\n", ";", 3, Err("f:1: there is no column 3: the line has 2")),
            ("a 2  \n", " ", 3, Err("f:1: there is no column 3: the line has 2")),
        ] {
            let found =
                read_with(text, delimiters, column).map(|(values, _)| values).map_err(|error| error.to_string());
            assert_eq!(found, expect.map_err(str::to_owned), "{text:?}");
        }
    }

    #[test]
    fn units_are_read_or_refused_and_thousands_are_no_ones() {
        for (text, expect) in [
            ("1.5 ms\n1600 us\n2ms\n", Ok((vec![0.0015, 0.0016, 0.002], "sec"))),
            ("1.5s\n", Ok((vec![1.5], "sec"))),
            ("4 KiB x\n1 B\n", Ok((vec![4096.0, 1.0], "B"))),
            ("1.5 label\n2 3\n", Ok((vec![1.5, 2.0], ""))),
            ("1\n2 ms\n", Err("f:2: this value has the unit sec, but the values above have no unit")),
            ("2 ms\n1\n", Err("f:2: this value has no unit, but the values above have the unit sec")),
            ("2 ms\n1 MB\n", Err("f:2: this value has the unit B, but the values above have the unit sec")),
            ("2 KB\n", Err("f:1: `KB` after the number is not a known unit")),
            ("10 MB/s\n", Err("f:1: `MB/s` after the number is not a known unit")),
            ("1.5 ± 0.1\n", Err("f:1: `±` after the number is not a known unit")),
            ("1.5 +- 0.1\n", Err("f:1: `+-` after the number is not a known unit")),
            ("1 000\n", Err("f:1: `1 000` could be one number or several")),
            ("1 000 ms\n", Err("f:1: `1 000 ms` could be one number or several")),
            ("1 000.5\n", Err("f:1: `1 000.5` could be one number or several")),
            ("12 345 678\n", Err("f:1: `12 345 678` could be one number or several")),
            ("1,000\n", Err("f:1: `1,000` is not a number")),
            ("1\u{a0}000\n", Err("f:1: `1\u{a0}000` is not a number")),
        ] {
            let found = read_with(text, " \t", 1).map_err(|error| error.to_string());
            assert_eq!(found, expect.map_err(str::to_owned), "{text:?}");
        }
        for (text, delimiters, column, expect) in [
            ("x 1.5 ms\nx 1600 us\n", " \t", 2, Ok((vec![0.0015, 0.0016], "sec"))),
            ("x,1.5,ms\nx,1600,us\n", ",", 2, Ok((vec![0.0015, 0.0016], "sec"))),
            ("x 1.5 ms\nx 16 y\n", " ", 2, Err("f:2: this value has no unit, but the values above have the unit sec")),
            ("x 1 MB/s\nx 1 000\n", " ", 2, Ok((vec![1.0, 1.0], ""))),
        ] {
            let found = read_with(text, delimiters, column).map_err(|error| error.to_string());
            assert_eq!(found, expect.map_err(str::to_owned), "{text:?}");
        }
    }
}
