//! Tables: a line of titles, and rows below it, with blanks, commas, semicolons, tabs or bars between the columns. A
//! title that is no figure is a column of names, if words stand in it. Titles such as `scan avg` and `load avg` make two
//! summaries of one row.

use super::read::{Kind, Reader, nothing};
use super::words::{Column, Title, Word, cells, is_unknown, is_value, quoted_cells, spelled, title, words};
use super::{Figure, Summary};
use std::ops::Range;

/// A column of ministat's, with the blank before it.
const MINISTAT_COLUMN: usize = 14;

const MINISTAT: [Column; 6] = [Column::N, Column::Min, Column::Max, Column::Median, Column::Mean, Column::Sd];

/// Titles of a table, and what stands between its columns.
#[derive(Debug, Clone)]
pub(super) struct Header {
    /// The text of each title, and what it is if it is known.
    titles: Vec<(String, Option<Title>)>,
    separator: Option<char>,
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

    fn figures(&self) -> impl Iterator<Item = (Column, &Title)> {
        let known = self.titles.iter().filter_map(|(_, known)| known.as_ref());
        known.filter(|title| title.column.is_figure()).map(|title| (title.column, title))
    }
}

/// What one row holds: its names, and a word for each figure.
struct Cells<'a> {
    names: Vec<String>,
    quantities: Vec<String>,
    unit: Option<Word<'a>>,
    asides: Vec<(String, String, bool)>,
    values: Vec<Word<'a>>,
}

impl Reader {
    /// A row below titles; false if it is none.
    pub(super) fn row(&mut self, number: usize, line: &str, start: usize) -> bool {
        let Some(header) = self.header.clone() else { return false };
        let found = split(line, start, header.separator);
        let taken = match header.separator {
            Some(_) => self.separated(&header, &found, start..start + line.len()),
            None => self.between_blanks(&header, &found),
        };
        match taken {
            Some(Some(taken)) => self.summaries(number, &header, taken, start..start + line.len()),
            Some(None) => {}
            None => return false,
        }
        true
    }

    /// None if it is no row; nothing in it if it is a problem.
    fn separated<'a>(&mut self, header: &Header, found: &[Word<'a>], span: Range<usize>) -> Option<Option<Cells<'a>>> {
        let titles = &header.titles;
        if found.len() != titles.len() {
            if found.len() < 2 || !found.iter().any(|word| is_value(unquoted(word.text))) {
                return None;
            }
            let message = format!("this line has {} cells where the titles have {}", found.len(), titles.len());
            self.problem(span, message, "give every title one cell; `-` for none");
            return Some(None);
        }
        let mut cells = Cells { names: vec![], quantities: vec![], unit: None, asides: vec![], values: vec![] };
        for ((text, known), word) in titles.iter().zip(found) {
            let bare = unquoted(word.text);
            let before = cells.values.is_empty();
            match known.as_ref().map(|title| title.column) {
                Some(Column::Name) => cells.names.push(bare.to_owned()),
                Some(Column::Quantity) => cells.quantities.push(bare.to_owned()),
                Some(Column::Unit) => cells.unit = Some(*word),
                Some(_) => cells.values.push(*word),
                None if bare.is_empty() || is_unknown(bare) => {}
                None if Figure::read(bare).is_some() => cells.asides.push((text.clone(), bare.to_owned(), before)),
                None => cells.names.push(bare.to_owned()),
            }
        }
        Some(Some(cells))
    }

    fn between_blanks<'a>(&mut self, header: &Header, found: &[Word<'a>]) -> Option<Option<Cells<'a>>> {
        let figures = header.figures().count();
        let values = found.iter().rev().take_while(|word| is_value(word.text)).count();
        if found.len() < figures || values == 0 || 2 * values < figures {
            return None;
        }
        let (name, values) = found.split_at(found.len() - figures);
        if let Some(extra) = name.iter().skip(1).find(|word| Figure::read(word.text).is_some()) {
            let message = format!("this line has more numbers than there are titles, such as `{}`", extra.text);
            let remedy = "give every number a title, or put commas between the columns";
            self.problem(extra.span(), message, remedy);
            return Some(None);
        }
        let name: Vec<&str> = name.iter().map(|word| word.text).collect();
        let (names, values) = (vec![name.join(" ")], values.to_vec());
        Some(Some(Cells { names, quantities: vec![], unit: None, asides: vec![], values }))
    }

    /// A summary for each quantity that the titles name; n is of all of them.
    fn summaries<'a>(&mut self, number: usize, header: &Header, cells: Cells<'a>, span: Range<usize>) {
        let Cells { names, quantities, unit, asides, values } = cells;
        let (names, quantities) = if names.is_empty() { (quantities, vec![]) } else { (names, quantities) };
        // `*` alone is a symbol of ministat's.
        let plain = |name: &'_ String| name.trim_matches([' ', ':', '`', '*']).to_owned();
        let names: Vec<String> =
            names.iter().map(|name| if plain(name).is_empty() { name.clone() } else { plain(name) }).collect();
        let name = names.join(" ").trim().to_owned();
        let mut of: Vec<Option<&str>> = vec![];
        for (_, title) in header.figures().filter(|(column, _)| *column != Column::N) {
            if !of.contains(&title.quantity.as_deref()) {
                of.push(title.quantity.as_deref());
            }
        }
        let kind = kind(header, &values);
        let word = |word: &Word<'a>| Word { text: unquoted(word.text), start: word.start };
        let counts = header.figures().zip(&values).filter(|((column, _), _)| *column == Column::N);
        let mut common: Summary = nothing(name, number);
        self.fill(&mut common, &counts.map(|(_, count)| (Column::N, word(count))).collect::<Vec<_>>());
        if let Some(unit) = unit.filter(|unit| !unit.text.is_empty() && !is_unknown(unit.text)) {
            common.unit = Some(spelled(unquoted(unit.text)));
        }
        for quantity in of {
            let mut summary = common.clone();
            let told = quantities.iter().map(String::as_str).chain(quantity).collect::<Vec<_>>().join(" ");
            summary.quantity = (!told.is_empty()).then_some(told);
            let mut taken = vec![];
            for ((column, title), value) in header.figures().zip(&values) {
                if column == Column::N || title.quantity.as_deref() != quantity {
                    continue;
                }
                if let Some(unit) = title.unit.as_deref() {
                    self.meet_unit(&mut summary.unit, unit, value.span());
                }
                taken.push((column, word(value)));
            }
            self.fill(&mut summary, &taken);
            self.add(summary, kind.clone(), asides.clone(), span.clone());
        }
    }
}

fn kind(header: &Header, values: &[Word<'_>]) -> Kind {
    if header.separator.is_some() || header.titles.len() != MINISTAT.len() {
        return Kind::Table;
    }
    let is_ministat = header.figures().map(|(column, _)| column).eq(MINISTAT);
    let layout = values.windows(2).skip(1).all(|pair| pair[1].span().end - pair[0].span().end == MINISTAT_COLUMN);
    if is_ministat { Kind::Ministat { layout } } else { Kind::Table }
}

fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).map_or(cell, str::trim)
}

/// Cells between separators, with bars at both ends taken off; or words between blanks.
fn split(line: &str, start: usize, separator: Option<char>) -> Vec<Word<'_>> {
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
