//! What has been read of a text so far: rows, the headings above them, titles, and lines whose meaning shows only with what
//! follows. Each kind of line is read in a file of its own; here is what all of them need. It does not choose between kinds.

use super::header::Header;
use super::words::{Column, Word, is_unknown, spelled, split_unit, words};
use super::{Figure, Stated, Summary};
use bakeoff_model::problem::Problem;
use std::ops::Range;

/// A longer line is a remark, not a heading.
const HEADING_WORDS: usize = 10;

pub(super) const EXAMPLE: &str = "write one line for each system, such as `A avg 0.203 min 0.187 max 0.295 n 75`; or a \
                       table with titles such as `name,n,avg,sd`; or ministat's output";

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
    pub(super) legend: Vec<(String, String)>,
    pub(super) rows_at_legend: usize,
    pub(super) header: Option<Header>,
    pub(super) rows: Vec<Row>,
    /// What stands above each part of the text.
    pub(super) sections: Vec<Option<Heading>>,
    pending: Vec<Heading>,
    pub(super) stated: Vec<Stated>,
    /// Whether lines that belong to the last of `stated` may follow.
    pub(super) stated_open: bool,
    pub(super) lines_left_out: usize,
    pub(super) unread: Vec<usize>,
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    /// A line that holds no figure: perhaps a heading, a remark; a problem if numbers are most of it.
    pub(super) fn heading(&mut self, line: usize, text: &str, span: Range<usize>) {
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
    pub(super) fn leave_pending(&mut self, but: Option<usize>, titles: bool) {
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
        self.problems.push(two_units(unit, known, span));
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
}

pub(super) fn problem(span: Range<usize>, message: String, remedy: &str) -> Problem {
    Problem { span, message, label: String::new(), remedy: remedy.to_owned() }
}

pub(super) fn two_units(unit: &str, known: &str, span: Range<usize>) -> Problem {
    problem(span, format!("the unit `{unit}` next to `{known}`"), "give all figures of a quantity in one unit")
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
