//! The rows of a table, below its titles. A title that is no figure is a column of names, if words stand in it. Titles
//! such as `scan avg` and `load avg` make two summaries of one row.

use super::header::{Header, split, unquoted};
use super::reader::{Aside, Reader, RowForm, nothing};
use super::words::{Column, Word, is_timed, is_unknown, is_value, number_in, shape, spelled};
use super::{Figure, Summary};
use std::ops::Range;

/// A column of ministat's, with the blank before it.
const MINISTAT_COLUMN: usize = 14;

/// What one row holds: its names, and a word for each figure.
struct Cells<'a> {
    names: Vec<String>,
    quantities: Vec<String>,
    unit: Option<Word<'a>>,
    asides: Vec<Aside>,
    values: Vec<Word<'a>>,
}

impl Reader {
    /// A row below titles; false if it is none.
    pub(super) fn row(&mut self, number: usize, line: &str, start: usize) -> bool {
        let Some(header) = self.header.clone() else { return false };
        let mut found = split(line, start, header.separator);
        if let Some(mean) = found.get(1).copied().filter(|_| header.is_hyperfine) {
            let parts = super::words::words(mean.text, mean.start, |c| c == '±');
            let sd = parts.get(1).copied().unwrap_or(Word { text: "-", start: mean.start });
            found.splice(1..2, [parts.first().copied().unwrap_or(mean), sd]);
        }
        let taken = match header.separator {
            Some(_) => self.separated(&header, &found, start..start + line.len()),
            None => self.between_blanks(&header, &found, shape(line).is_sentence),
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
            let is_sentence = found.iter().any(|word| shape(word.text).is_sentence);
            let has_value = found.iter().any(|word| is_value(unquoted(word.text)));
            let is_amid = self.figured.contains(&self.around.paragraph) && header.separator != Some('|');
            let is_broken = is_amid && (found.len() > 1 || found.iter().any(|word| word.text.contains(';')));
            if is_sentence || !(is_broken || found.len() > 1 && has_value) {
                return None;
            }
            let message =
                format!("the number of cells ({}) is not the number of titles ({})", found.len(), titles.len());
            self.problem(span, message, "give every title one cell; write `-` for an empty cell");
            return Some(None);
        }
        let mut cells = Cells { names: vec![], quantities: vec![], unit: None, asides: vec![], values: vec![] };
        for ((text, known), word) in titles.iter().zip(found) {
            let bare = unquoted(word.text);
            let before = cells.values.is_empty();
            let name = bare.replace("\"\"", "\"").replace("\\|", "|");
            match known.as_ref().map(|title| title.column) {
                Some(Column::Name) => cells.names.push(name),
                Some(Column::Quantity) => cells.quantities.push(name),
                Some(Column::Unit) => cells.unit = Some(*word),
                Some(_) => cells.values.push(*word),
                None if bare.is_empty() || (is_value(bare) && Figure::read(bare).is_none()) => {}
                None if header.is_hyperfine || is_figure(bare) => {
                    cells.asides.push((text.clone(), bare.to_owned(), before))
                }
                None => cells.names.push(name),
            }
        }
        Some(Some(cells))
    }

    fn between_blanks<'a>(&mut self, header: &Header, found: &[Word<'a>], told: bool) -> Option<Option<Cells<'a>>> {
        let figures = header.figures().count();
        let values = found.iter().rev().take_while(|word| is_value(word.text)).count();
        if found.len() < figures || values == 0 || 2 * values < figures || (told && values < figures) {
            return None;
        }
        let (name, values) = found.split_at(found.len() - figures);
        let is_extra = |(at, word): &(usize, &Word<'_>)| {
            let signed = || number_in(word.text).is_some_and(|written| written.is_marked || written.is_timed);
            (*at > 0 && Figure::read(word.text).is_some()) || signed()
        };
        if let Some((_, extra)) = name.iter().enumerate().find(is_extra) {
            let message = format!("this line has numbers without a title, such as `{}`", extra.text);
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
        self.fill(&mut common, &counts.map(|(_, count)| (Column::N, word(count), None)).collect::<Vec<_>>());
        if let Some(unit) = unit.filter(|unit| !unit.text.is_empty() && !is_unknown(unit.text)) {
            common.unit = Some(spelled(unquoted(unit.text)));
        }
        for quantity in of {
            let mut summary = common.clone();
            let words = quantities.iter().map(String::as_str).chain(quantity).collect::<Vec<_>>().join(" ");
            summary.quantity = (!words.is_empty()).then_some(words);
            let mut taken = vec![];
            for ((column, title), value) in header.figures().zip(&values) {
                if column == Column::N || title.quantity.as_deref() != quantity {
                    continue;
                }
                taken.push((column, word(value), title.unit.clone().or_else(|| common.unit.clone())));
            }
            self.fill(&mut summary, &taken);
            self.add(summary, kind.clone(), asides.clone(), span.clone());
        }
    }
}

/// Whether a cell is a number, as a figure is: perhaps with signs, a unit of time or a percent sign.
fn is_figure(cell: &str) -> bool {
    let mut words = cell.split_whitespace();
    let are_numbers = cell.split_whitespace().all(|word| number_in(word).is_some() || word == "±");
    let (first, unit) = (words.next().and_then(number_in), words.next());
    let signed = (are_numbers && unit.is_some())
        || first.is_some_and(|written| written.is_marked || written.is_timed || unit.is_some_and(is_timed));
    Figure::read(cell).is_some() || signed
}

fn kind(header: &Header, values: &[Word<'_>]) -> RowForm {
    let layout = values.windows(2).skip(1).all(|pair| pair[1].span().end - pair[0].span().end == MINISTAT_COLUMN);
    if header.is_ministat() { RowForm::Ministat { layout } } else { RowForm::Table }
}
