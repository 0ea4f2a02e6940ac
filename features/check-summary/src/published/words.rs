//! The words by which people name figures, and how a line is taken apart. Nothing here knows what the figures mean.

use std::ops::Range;

/// Which figure a word names, or what else stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Name,
    Quantity,
    Unit,
    N,
    Min,
    Max,
    Median,
    Mean,
    Sd,
}

impl Column {
    pub(super) fn is_figure(self) -> bool {
        !matches!(self, Self::Name | Self::Quantity | Self::Unit)
    }
}

/// A title of a column: the figure, its unit, and of what it is, as `scan avg (s)` and `avg_ms` have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Title {
    pub(super) column: Column,
    pub(super) unit: Option<String>,
    pub(super) quantity: Option<String>,
}

/// What a title names; none if it is not known.
pub(super) fn title(word: &str) -> Option<Title> {
    if let Some((column, unit)) = column(word) {
        return Some(Title { column, unit, quantity: None });
    }
    let (bare, unit) = without_unit(trimmed(word));
    let bare = bare.rsplit_once('_').filter(|(_, last)| is_time(last)).map_or(bare, |(rest, _)| rest);
    let of = |name: &str, rest: &str| {
        let column = known(name).filter(|column| column.is_figure() && *column != Column::N)?;
        let rest = rest.trim_matches([' ', '_', '-', ':', ',']);
        let quantity = (!rest.is_empty() && !is_time(rest)).then(|| rest.to_owned());
        Some(Title { column, unit: unit.map(str::to_owned), quantity })
    };
    let between = [' ', '_', '-'];
    let last = bare.rsplit_once(between).and_then(|(rest, name)| of(name, rest));
    last.or_else(|| bare.split_once(between).and_then(|(name, rest)| of(name, rest)))
}

/// The figure that a word names, with the unit that may stand in brackets or after an underscore: `Avg(s)`, `avg_ms`.
/// `avg_t` and `avg_time` tell no unit.
pub(super) fn column(word: &str) -> Option<(Column, Option<String>)> {
    let word = trimmed(word);
    let (name, unit) = without_unit(word);
    known(name).map(|column| (column, unit.map(str::to_owned))).or_else(|| {
        let (name, unit) = name.rsplit_once('_')?;
        known(name).map(|column| (column, (!is_time(unit)).then(|| unit.to_owned())))
    })
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`', '*', ' '])
}

fn without_unit(word: &str) -> (&str, Option<&str>) {
    match word.trim_end_matches([')', ']']).split_once(['(', '[']) {
        Some((name, unit)) => (name.trim_end_matches([' ', '_']), Some(unit)),
        None => (word, None),
    }
}

fn is_time(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "t" | "time")
}

fn known(word: &str) -> Option<Column> {
    Some(match word.to_lowercase().trim_end_matches('.') {
        "name" | "variant" | "dataset" | "command" | "what" | "case" => Column::Name,
        "phase" | "metric" | "test" | "operation" | "op" | "field" | "workload" | "quantity" | "resource" => {
            Column::Quantity
        }
        word if word.starts_with("bench") => Column::Quantity,
        "unit" | "units" => Column::Unit,
        "n" | "count" | "samples" | "repeats" | "times" => Column::N,
        "min" | "minimum" | "smallest" | "best" => Column::Min,
        "max" | "maximum" | "largest" | "worst" => Column::Max,
        "median" | "med" => Column::Median,
        "avg" | "average" | "mean" => Column::Mean,
        "sd" | "std" | "stddev" | "stdev" | "std_dev" | "std-dev" | "sigma" | "σ" => Column::Sd,
        _ => return None,
    })
}

/// A part of a text: where it is, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Word<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The parts of a line between characters of a kind, which begins at `start` of its text; without those that are empty.
pub(super) fn words(line: &str, start: usize, between: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    cells(line, start, between).into_iter().filter(|word| !word.text.is_empty()).collect()
}

/// The same with those that are empty; blanks around each do not belong to it.
pub(super) fn cells(line: &str, start: usize, between: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    let mut found = vec![];
    let mut from = 0;
    let ends = line.char_indices().filter(|(_, c)| between(*c)).map(|(at, c)| (at, at + c.len_utf8()));
    for (end, next) in ends.chain([(line.len(), line.len())]) {
        let raw = &line[from..end];
        let text = raw.trim();
        found.push(Word { text, start: start + from + (raw.len() - raw.trim_start().len()) });
        from = next;
    }
    found
}

/// Cells of CSV: a separator between double quotes separates nothing.
pub(super) fn quoted_cells(line: &str, start: usize, separator: char) -> Vec<Word<'_>> {
    let quoted = std::cell::Cell::new(false);
    cells(line, start, |c| {
        quoted.set(quoted.get() != (c == '"'));
        c == separator && !quoted.get()
    })
}

/// A number with a unit stuck to it, taken apart: `0.203s`, `12ms`, `4.21`. What is a number too large to be one, such
/// as `1e999`, stays whole: it is not 1 of the unit `e999`.
pub(super) fn split_unit(word: &str) -> (&str, &str) {
    if word.parse::<f64>().is_ok() {
        return (word, "");
    }
    let is_number = |at: &usize| super::Figure::read(&word[..*at]).is_some();
    let at = (1..=word.len()).rev().filter(|at| word.is_char_boundary(*at)).find(is_number).unwrap_or(0);
    (&word[..at], &word[at..])
}

/// Whether a word stands where a number does: a number, or what is printed for none.
pub(super) fn is_value(word: &str) -> bool {
    let bare = word.to_lowercase();
    let not_finite = ["nan", "inf", "infinity"].contains(&bare.trim_start_matches(['+', '-']));
    super::Figure::read(word).is_some() || not_finite || is_unknown(word)
}

/// Printed for a figure that is not known.
pub(super) fn is_unknown(word: &str) -> bool {
    matches!(word, "-" | "–" | "—" | "n/a" | "N/A" | "NA")
}

/// A unit's dimension; none if it is not known. Two units of one dimension are of the same quantity.
pub(super) fn dimension(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "ns" | "us" | "µs" | "μs" | "ms" | "s" | "min" | "h" => "time",
        "B" | "kB" | "KB" | "KiB" | "MB" | "MiB" | "GB" | "GiB" | "bytes" => "size",
        _ => return None,
    })
}

/// One spelling for each unit.
pub(super) fn spelled(unit: &str) -> String {
    match unit.trim() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
        "byte" => "bytes",
        other => other,
    }
    .to_owned()
}
