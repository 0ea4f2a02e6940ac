//! The titles of a table, and what stands between its columns: blanks, commas, semicolons, tabs or bars. Lines are split
//! here; what a row below the titles means is read elsewhere.

use super::Figure;
use super::words::{Column, Title, Word, cells, number_in, quoted_cells, title, words};

/// ministat's columns.
const MINISTAT: [Column; 6] = [Column::N, Column::Min, Column::Max, Column::Median, Column::Mean, Column::Sd];
/// A cell of more words is a part of a sentence.
const TITLE_WORDS: usize = 5;

/// Titles of a table, and what stands between its columns.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// The text of each title, and what it is if it is known.
    pub(super) titles: Vec<(String, Option<Title>)>,
    pub(super) separator: Option<char>,
    /// hyperfine's table in Markdown: the mean has its standard deviation behind it, and what is no figure is no name.
    pub(super) is_hyperfine: bool,
}

impl Header {
    /// A line of titles: names of figures and, between separators, others. Between blanks all but the first must be known.
    pub(super) fn read(line: &str, start: usize) -> Option<Self> {
        let separator = ['|', '\t', ';', ','].into_iter().find(|c| line.trim_matches('|').contains(*c));
        let mut titles = split(line, start, separator);
        titles.dedup_by(|unit, title| {
            let is_unit = separator.is_none() && unit.text.starts_with(['(', '[']);
            title.text = if is_unit { &line[title.start - start..unit.span().end - start] } else { title.text };
            is_unit
        });
        if line.ends_with('.') || !titles.iter().all(|word| may_be_title(word.text)) {
            return None;
        }
        let known = |text: &str| match separator {
            Some(_) => title(text),
            None => super::words::column(text).map(|(column, unit)| Title { column, unit, quantity: None }),
        };
        let titles: Vec<_> = titles.iter().map(|word| (unquoted(word.text).to_owned(), known(word.text))).collect();
        let columns: Vec<Column> = titles.iter().filter_map(|(_, known)| Some(known.as_ref()?.column)).collect();
        let figures = columns.iter().filter(|column| column.is_figure()).count();
        let tells_middle = columns.iter().any(|column| matches!(column, Column::Mean | Column::Median));
        let is_header = match separator {
            None => figures >= 2 && titles.iter().skip(usize::from(tells_middle)).all(|(_, known)| known.is_some()),
            Some(_) => figures >= 2 || (figures == 1 && tells_middle && titles.len() > 1),
        };
        let mut header = Self { titles, separator, is_hyperfine: false };
        if let [(command, _), (mean, Some(title)), ..] = header.titles.as_slice()
            && (separator, command.as_str()) == (Some('|'), "Command")
            && mean.starts_with("Mean")
            && mean.contains('[')
        {
            let sd = Title { column: Column::Sd, ..title.clone() };
            header.titles.insert(2, ("Stddev".to_owned(), Some(sd)));
            header.is_hyperfine = true;
        }
        is_header.then_some(header)
    }

    /// Whether these are ministat's titles.
    pub(super) fn is_ministat(&self) -> bool {
        self.separator.is_none() && self.figures().map(|(column, _)| column).eq(MINISTAT)
    }

    /// The figures among the titles.
    pub(super) fn figures(&self) -> impl Iterator<Item = (Column, &Title)> {
        let known = self.titles.iter().filter_map(|(_, known)| known.as_ref());
        known.filter(|title| title.column.is_figure()).map(|title| (title.column, title))
    }
}

/// Whether a cell can be a title: some words, and no number if it names a figure.
fn may_be_title(text: &str) -> bool {
    let has_number = title(text).is_some() && text.split_whitespace().any(|word| number_in(word).is_some());
    Figure::read(unquoted(text)).is_none() && text.split_whitespace().count() <= TITLE_WORDS && !has_number
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
            // `\|` is a bar in a cell.
            let before = std::cell::Cell::new(' ');
            cells(inner.trim_end_matches('|'), start, |c| before.replace(c) != '\\' && c == '|')
        }
        Some(separator) => quoted_cells(line, start, separator),
    }
}
