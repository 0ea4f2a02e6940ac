//! The titles of a table, and what stands between its columns: blanks, commas, semicolons, tabs or bars. Lines are split
//! here; what a row below the titles means is read elsewhere.

use super::Figure;
use super::words::{Column, Title, Word, cells, quoted_cells, title, words};

/// Titles of a table, and what stands between its columns.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// The text of each title, and what it is if it is known.
    pub(super) titles: Vec<(String, Option<Title>)>,
    pub(super) separator: Option<char>,
}

impl Header {
    /// A line of titles: names of figures and, between separators, others. Between blanks all must be known.
    pub(super) fn read(line: &str, start: usize) -> Option<Self> {
        let separator = ['|', '\t', ';', ','].into_iter().find(|c| line.trim_matches('|').contains(*c));
        let titles = split(line, start, separator);
        if titles.iter().any(|word| Figure::read(unquoted(word.text)).is_some()) {
            return None;
        }
        let known = |word: &Word<'_>| match separator {
            Some(_) => title(word.text),
            None => super::words::column(word.text).map(|(column, unit)| Title { column, unit, quantity: None }),
        };
        let titles: Vec<_> = titles.iter().map(|word| (unquoted(word.text).to_owned(), known(word))).collect();
        let columns = || titles.iter().filter_map(|(_, known)| known.as_ref()).map(|title| title.column);
        let figures = columns().filter(|column| column.is_figure()).count();
        let tells_middle = columns().any(|column| matches!(column, Column::Mean | Column::Median));
        let is_header = match separator {
            None => figures >= 2 && titles.iter().all(|(_, known)| known.is_some()),
            Some(_) => figures >= 2 || (figures == 1 && tells_middle && titles.len() > 1),
        };
        is_header.then_some(Self { titles, separator })
    }

    /// The figures among the titles.
    pub(super) fn figures(&self) -> impl Iterator<Item = (Column, &Title)> {
        let known = self.titles.iter().filter_map(|(_, known)| known.as_ref());
        known.filter(|title| title.column.is_figure()).map(|title| (title.column, title))
    }
}

/// A cell without its quotes.
pub(super) fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).map_or(cell, str::trim)
}

/// Cells between separators, with bars at both ends taken off; or words between blanks.
pub(super) fn split(line: &str, start: usize, separator: Option<char>) -> Vec<Word<'_>> {
    match separator {
        None => words(line, start, char::is_whitespace),
        Some('|') => {
            let inner = line.trim().trim_start_matches('|');
            let start = start + (line.len() - line.trim_start().len()) + (line.trim().len() - inner.len());
            cells(inner.trim_end_matches('|'), start, |c| c == '|')
        }
        Some(separator) => quoted_cells(line, start, separator),
    }
}
