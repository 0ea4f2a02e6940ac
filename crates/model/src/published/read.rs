//! Reading figures out of text, line by line. A line is a row of a table, a line of figures with their names, a line of a list
//! with the value before its name, ministat's word on a difference, a legend, a picture; or a title or remark, which is
//! kept as the heading of what follows or is counted as unread. A line with numbers that is none of them is a
//! problem; nothing is dropped in silence.

use super::table::Header;
use super::words::{Column, Word, is_unknown, spelled, split_unit, words};
use super::{Figure, Printing, Published, Stated, Summary, families};
use crate::problem::{Problem, Problems};
use std::ops::Range;

/// Digits that ministat prints.
const MINISTAT_DIGITS: i32 = 8;
/// With so many digits in a table of ministat's columns, its printing is known even where its blanks are lost.
const TELLING_DIGITS: usize = 7;
/// A longer line is a remark, not a heading.
const HEADING_WORDS: usize = 10;
/// ministat's symbols, in its order.
const SYMBOLS: [&str; 7] = ["x", "+", "*", "%", "#", "@", "O"];

const EXAMPLE: &str = "write one line for each, such as `A avg 0.203 min 0.187 max 0.295 n 75`; or a table with titles \
                       such as `name,n,avg,sd`; or ministat's output";

/// Reads all figures out of a text; `file` is its name, for problems.
///
/// # Errors
/// All problems of the text, each with its line and remedy.
pub fn read(file: &str, text: &str) -> Result<Published, Problems> {
    let mut reader = Reader::default();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        reader.line(number, line.trim_end_matches(['\n', '\r']), start);
        start += line.len();
    }
    reader.leave_pending(None, false);
    if reader.rows.is_empty() && reader.problems.is_empty() {
        reader.problem(0..0, "there are no figures in it".to_owned(), EXAMPLE);
    }
    let Reader { mut problems, rows, sections, mut stated, lines_left_out, mut unread, .. } = reader;
    if !problems.is_empty() {
        return Err(Problems::new(file, text, problems));
    }
    let printing = printing(&rows);
    let families::Resolved { mut summaries, places, headings, columns_unread } =
        families::resolve(rows, &sections, &mut problems);
    if !problems.is_empty() {
        return Err(Problems::new(file, text, problems));
    }
    if printing == Printing::EightDigits {
        summaries.iter_mut().for_each(as_ministat_prints);
    }
    // Both are rows of a table, and no count of others.
    stated.retain_mut(|one| {
        let [subject, object] = [one.subject, one.object].map(|row| places.get(row).copied().flatten());
        (one.subject, one.object) = (subject.unwrap_or_default(), object.unwrap_or_default());
        subject.is_some() && object.is_some()
    });
    let unused = sections.iter().enumerate().filter(|(index, _)| !headings.contains(index));
    unread.extend(unused.filter_map(|(_, section)| section.as_ref().map(|heading| heading.line)));
    unread.sort_unstable();
    Ok(Published { summaries, printing, stated, lines_left_out, lines_unread: unread, columns_unread })
}

fn printing(rows: &[Row]) -> Printing {
    let tables = || rows.iter().filter(|row| matches!(row.kind, Kind::Ministat { .. }));
    let by_ministat = tables().count() > 0
        && !rows.iter().any(|row| figures(&row.summary).any(is_padded))
        && (rows.iter().all(|row| matches!(row.kind, Kind::Ministat { layout: true }))
            || tables().any(|row| figures(&row.summary).map(Figure::significant).max() >= Some(TELLING_DIGITS)));
    if by_ministat { Printing::EightDigits } else { Printing::AsShown }
}

fn figures(summary: &Summary) -> impl Iterator<Item = &Figure> {
    let Summary { min, max, median, mean, sd, .. } = summary;
    [min, max, median, mean, sd].into_iter().flatten()
}

/// Whether there is a zero at the end of its fraction: ministat leaves these away, so somebody else has rounded.
fn is_padded(figure: &Figure) -> bool {
    let mantissa = figure.text.split(['e', 'E']).next().unwrap_or_default();
    mantissa.contains('.') && mantissa.ends_with(['0', '.'])
}

fn as_ministat_prints(summary: &mut Summary) {
    let Summary { min, max, median, mean, sd, .. } = summary;
    for figure in [min, max, median, mean, sd].into_iter().flatten() {
        *figure = figure.with_significant(MINISTAT_DIGITS);
    }
}

/// Figures as they were found; what they belong to is known only when all are.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name is what stands at the figures, its quantity what a column says.
    pub(super) summary: Summary,
    pub(super) section: usize,
    pub(super) kind: Kind,
    /// Cells with numbers in columns that are no figures: title, cell, and whether they stand before the figures.
    pub(super) asides: Vec<(String, String, bool)>,
    pub(super) span: Range<usize>,
}

/// How figures were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A row of a table.
    Table,
    /// A row of ministat's columns, perhaps in its layout.
    Ministat { layout: bool },
    /// A line with several figures and their names.
    Pairs,
    /// Lines with one figure each, how many; and whether a colon stands between.
    Keyed { lines: usize, colon: bool },
    /// Values before their names, one for each list.
    Listed { values: Vec<Figure> },
}

/// A line that may be the heading of what follows.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    pub(super) text: String,
    pub(super) line: usize,
    span: Range<usize>,
    /// Too long for a heading.
    is_remark: bool,
    has_number: bool,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// ministat's symbols and what they stand for, and how many rows there were before them.
    legend: Vec<(String, String)>,
    rows_at_legend: usize,
    pub(super) header: Option<Header>,
    pub(super) rows: Vec<Row>,
    /// What stands above each part of the text.
    pub(super) sections: Vec<Option<Heading>>,
    pending: Vec<Heading>,
    pub(super) stated: Vec<Stated>,
    /// Whether lines that belong to the last of `stated` may follow.
    pub(super) stated_open: bool,
    lines_left_out: usize,
    unread: Vec<usize>,
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str, start: usize) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        if self.difference(number, line, start) {
            return;
        }
        self.stated_open = false;
        if is_noise(line) {
            self.lines_left_out += 1;
        } else if let Some(header) = Header::read(line, start) {
            self.open(true);
            self.header = Some(header);
        } else if self.row(number, line, start) || self.list(number, line, start) || self.pairs(number, line, start) {
        } else if let Some((symbol, name)) = self.legend_of(text) {
            if self.rows.len() > self.rows_at_legend || symbol == SYMBOLS[0] {
                self.legend.clear();
                self.rows_at_legend = self.rows.len();
            }
            self.legend.retain(|(known, _)| *known != symbol);
            self.legend.push((symbol, name));
        } else {
            let at = start + line.len() - line.trim_start().len();
            self.heading(number, text, at..at + text.len());
        }
    }

    /// A line that holds no figure: perhaps a heading, a remark; a problem if numbers are most of it.
    fn heading(&mut self, line: usize, text: &str, span: Range<usize>) {
        let parts = words(text, 0, char::is_whitespace);
        let is_number = |word: &&Word<'_>| !split_unit(word.text.trim_matches(['(', ',', ')', '~'])).0.is_empty();
        let is_word = |word: &&Word<'_>| !is_number(word) && word.text.chars().any(char::is_alphabetic);
        let (numbers, known) = (parts.iter().filter(is_number).count(), parts.iter().filter(is_word).count());
        let ends_in_number = parts.last().is_some_and(|word| is_number(&word));
        let is_sentence = known >= if ends_in_number { 6 } else { 3 } && 2 * numbers <= known;
        // `key = 3` was meant to be read.
        let is_value = ends_in_number && text.contains([':', '=']);
        if numbers > known || (is_value && !is_sentence) {
            return self.problem(span, "there are no figures in this line".to_owned(), EXAMPLE);
        }
        let is_remark = parts.len() > HEADING_WORDS || text.ends_with(['.', '!', '?', ',', ';']);
        let bare = text.trim_matches(|c: char| c.is_whitespace() || "#=-*_:`\"".contains(c));
        let bare = if bare.is_empty() { text } else { bare };
        let has_number = numbers > 0 && !is_sentence;
        self.pending.push(Heading { text: bare.to_owned(), line, span, is_remark, has_number });
    }

    /// All lines that wait are remarks, but for one that became a heading. Short ones with a number may have
    /// been meant as figures, unless they are titles of a table.
    fn leave_pending(&mut self, but: Option<usize>, titles: bool) {
        for (index, line) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            match line.has_number && !titles {
                _ if but == Some(index) => self.sections.push(Some(line)),
                true => self.problem(line.span, "there are no figures in this line".to_owned(), EXAMPLE),
                false => self.unread.push(line.line),
            }
        }
    }

    /// Figures follow: they belong to the heading above them, or go on with what was before. A table begins a part of its own.
    pub(super) fn open(&mut self, table: bool) {
        let heading = self.pending.iter().rposition(|line| !line.is_remark);
        self.leave_pending(heading, table);
        let section = self.sections.len().saturating_sub(1);
        let is_used = self.rows.iter().any(|row| row.section == section);
        if self.sections.is_empty() || (heading.is_none() && table && is_used) {
            self.sections.push(None);
        }
    }

    /// A row, named as the legend says.
    pub(super) fn add(
        &mut self,
        mut summary: Summary,
        kind: Kind,
        asides: Vec<(String, String, bool)>,
        span: Range<usize>,
    ) {
        self.open(false);
        if let Some((symbol, name)) = self.legend.iter().find(|(symbol, _)| *symbol == summary.name) {
            (summary.symbol, summary.name) = (Some(symbol.clone()), name.clone());
        }
        self.rows.push(Row { summary, section: self.sections.len() - 1, kind, asides, span });
    }

    /// Puts figures into a summary; problems where they are none.
    pub(super) fn fill(&mut self, summary: &mut Summary, values: &[(Column, Word<'_>)]) {
        let mut seen = vec![];
        for (column, word) in values {
            if seen.contains(column) {
                let remedy = "one summary a line, and each figure once";
                self.problem(word.span(), "this figure stands here twice".to_owned(), remedy);
            }
            seen.push(*column);
            if word.text.is_empty() || is_unknown(word.text) {
                continue;
            }
            match (column, Figure::read(word.text)) {
                (Column::N, _) => summary.n = self.count(*word),
                (Column::Min, Some(figure)) => summary.min = Some(figure),
                (Column::Max, Some(figure)) => summary.max = Some(figure),
                (Column::Median, Some(figure)) => summary.median = Some(figure),
                (Column::Mean, Some(figure)) => summary.mean = Some(figure),
                (Column::Sd, Some(figure)) => summary.sd = Some(figure),
                (Column::Name | Column::Quantity | Column::Unit, _) => {}
                (_, None) => self.no_number(*word),
            }
        }
    }

    /// One unit for all figures of a summary.
    pub(super) fn meet_unit(&mut self, known: &mut Option<String>, unit: &str, span: Range<usize>) {
        let unit = spelled(unit);
        match known {
            None => *known = Some(unit),
            Some(known) if *known != unit => self.two_units(&unit, known, span),
            Some(_) => {}
        }
    }

    fn two_units(&mut self, unit: &str, known: &str, span: Range<usize>) {
        self.problems.push(families::two_units(unit, known, span));
    }

    fn count(&mut self, word: Word<'_>) -> Option<u64> {
        let n = word.text.parse::<u64>().ok().filter(|n| *n > 0);
        if n.is_none() {
            let message = format!("n is `{}`", word.text);
            self.problem(word.span(), message, "n is the number of values: 1, 2, 3 and so on");
        }
        n
    }

    fn no_number(&mut self, word: Word<'_>) {
        let bare = word.text.to_lowercase();
        let remedy = match bare.trim_start_matches(['+', '-']) {
            "nan" => "write `-` for a figure that is not known; ministat prints nan as Stddev where its sums fail",
            "inf" | "infinity" => "a value that never ended has no mean; write `-` for a figure that is not known",
            _ if Figure::read(&word.text.replace(',', "")).is_some() => "write it without commas",
            _ if word.text.parse::<f64>().is_ok() => "it is too large, or too small: choose another unit",
            _ => "write a plain number, such as 4.213 or 1.5e-3, or `-` for a figure that is not known",
        };
        self.problem(word.span(), format!("`{}` is not a number", word.text), remedy);
    }

    pub(super) fn problem(&mut self, span: Range<usize>, message: String, remedy: &str) {
        self.problems.push(problem(span, message, remedy));
    }

    /// `x file`: a symbol of ministat's, and what it stands for. The rarer symbols follow the others.
    fn legend_of(&self, line: &str) -> Option<(String, String)> {
        let (symbol, name) = line.split_once(char::is_whitespace)?;
        let place = SYMBOLS.iter().position(|known| *known == symbol)?;
        let before = |index: usize| self.legend.iter().any(|(known, _)| known == SYMBOLS[index]);
        let follows = place < 3 || before(place - 1);
        let is_name = name.split_whitespace().any(|word| Figure::read(word).is_none()) && !line.ends_with(':');
        (follows && is_name).then(|| (symbol.to_owned(), name.trim().to_owned()))
    }
}

pub(super) fn problem(span: Range<usize>, message: String, remedy: &str) -> Problem {
    Problem { span, message, label: String::new(), remedy: remedy.to_owned() }
}

/// A summary of which nothing is known but its name and line.
pub(super) fn nothing(name: String, line: usize) -> Summary {
    Summary {
        name,
        line,
        quantity: None,
        unit: None,
        symbol: None,
        n: None,
        min: None,
        max: None,
        median: None,
        mean: None,
        sd: None,
    }
}

/// Pictures that ministat draws, rules, and the line below the titles of a table in Markdown.
fn is_noise(line: &str) -> bool {
    let text = line.trim();
    let picture = |c: char| " |_AMx+*%#@O-:".contains(c);
    let framed = text.len() > 1 && ["|", "+"].iter().any(|end| text.starts_with(end) && text.ends_with(end));
    framed && text.chars().all(picture)
        || text.starts_with('|') && text.chars().all(picture) && text.contains("---")
        || !text.contains(char::is_alphanumeric)
        || text == "[no plot, span is zero width]"
}
