//! The words by which people name figures, and how a line is taken apart. Nothing here knows what the figures mean.

use std::ops::Range;

/// Which figure a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Name,
    N,
    Min,
    Max,
    Median,
    Mean,
    Sd,
}

/// The figure that a word names, with the unit that may stand in brackets or after an underscore: `Avg(s)`, `avg_ms`.
pub(super) fn column(word: &str) -> Option<(Column, Option<String>)> {
    let word = word.trim_matches(['"', '\'', '`', '*', ' ']);
    let unbracketed = word.trim_end_matches([')', ']']);
    let (name, unit) = match unbracketed.split_once(['(', '[']) {
        Some((name, unit)) => (name.trim_end_matches([' ', '_']), Some(unit)),
        None => (word, None),
    };
    known(name).map(|column| (column, unit.map(str::to_owned))).or_else(|| {
        let (name, unit) = name.rsplit_once('_')?;
        known(name).map(|column| (column, Some(unit.to_owned())))
    })
}

fn known(word: &str) -> Option<Column> {
    Some(match word.to_lowercase().trim_end_matches('.') {
        "name" | "variant" | "dataset" | "command" | "what" | "case" => Column::Name,
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
