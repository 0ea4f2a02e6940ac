//! What has been read of a text so far: rows, the headings above them, titles, and lines whose meaning shows only with
//! what follows. Each kind of line is read in a file of its own; here is what all of them need. It does not choose
//! between kinds.

use super::header::Header;
use super::words::{Column, Shape, Word, bare, is_prose, is_told, is_unknown, shape, spelled};
use super::{Figure, Stated, Summary};
use bakeoff_model::problem::Problem;
use std::collections::BTreeSet;
use std::ops::Range;

/// A longer line is a remark, not a heading, unless it stands alone.
const HEADING_WORDS: usize = 10;
/// A line of this number of bytes may go on in the next.
const SENTENCE: usize = 40;

pub(super) const EXAMPLE: &str = "give one line for each system, such as `A avg 0.203 min 0.187 max 0.295 n 75`, a \
    table with titles such as `name,n,avg,sd`, or ministat's output";

/// Figures as they were found; what they belong to is known only when all are.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name is what stands at the figures, its quantity what a column says.
    pub(super) summary: Summary,
    pub(super) section: usize,
    pub(super) kind: RowForm,
    pub(super) asides: Vec<Aside>,
    pub(super) span: Range<usize>,
}

/// What a figure is, its digits, and the unit that stands at them.
pub(super) type Value<'a> = (Column, Word<'a>, Option<String>);

/// A cell with a number in a column that is no figure: title, cell, and whether it stands before the figures.
pub(super) type Aside = (String, String, bool);

/// How figures were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowForm {
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
    /// A rule stands below it.
    is_ruled: bool,
    paragraph: usize,
    /// It goes on with the sentence of the line before.
    is_continued: bool,
    /// Titles of a table stand right below it.
    is_title: bool,
    shape: Shape,
}

/// What stands around a line: the number of its paragraph, whether it is all of it, and whether a rule or more words of
/// a sentence stand below it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    pub(super) paragraph: usize,
    pub(super) is_alone: bool,
    pub(super) is_ruled: bool,
    pub(super) is_followed: bool,
}

#[derive(Debug, Default)]
pub(super) struct Reader {
    /// ministat's symbols and what they stand for, and how many rows there were before them.
    pub(super) legend: Vec<(String, String)>,
    pub(super) has_legends: bool,
    pub(super) rows_at_legend: usize,
    pub(super) header: Option<Header>,
    /// Parameters among the titles of JMH's table, if these were read.
    pub(super) jmh: Option<Vec<String>>,
    pub(super) rows: Vec<Row>,
    /// What stands above each part of the text.
    pub(super) sections: Vec<Option<Heading>>,
    pending: Vec<Heading>,
    /// Lines that nothing was read of.
    left: Vec<Heading>,
    /// What stands around the line that is being read.
    pub(super) around: Around,
    /// Paragraphs with figures.
    pub(super) figured: BTreeSet<usize>,
    pub(super) stated: Vec<Stated>,
    /// Whether lines that belong to the last of `stated` may follow.
    pub(super) stated_open: bool,
    pub(super) lines_left_out: usize,
    pub(super) unread: Vec<usize>,
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    /// A line that holds no figure: perhaps a heading, a remark, or figures that nobody can read, which shows when all
    /// is read.
    pub(super) fn heading(&mut self, line: usize, text: &str, span: Range<usize>) {
        let Around { paragraph, is_alone, is_ruled, .. } = self.around;
        let is_continued = self.is_continued();
        let is_long = text.split_whitespace().count() > HEADING_WORDS && !is_alone;
        let is_remark = !is_ruled && (is_long || is_continued || text.ends_with(['.', '!', '?', ',', ';']));
        let is_remark = is_remark || is_prose(text) || (!is_ruled && (is_told(text) || text.starts_with('(')));
        let bare = bare(text, "#=-*_:`\"");
        let text = if bare.is_empty() || is_remark { text } else { bare }.to_owned();
        let shape = shape(&text);
        let is_title = false;
        self.pending.push(Heading { text, line, span, is_remark, is_ruled, paragraph, is_continued, is_title, shape });
    }

    /// Whether the line before is long and open, so that its sentence may go on.
    pub(super) fn is_continued(&self) -> bool {
        let before = self.pending.last().filter(|before| before.paragraph == self.around.paragraph);
        before.is_some_and(|before| before.text.len() >= SENTENCE && !before.text.ends_with(['.', ':', '!', '?']))
    }

    /// All lines that wait are left, but for one that became a heading. Those above the titles of a table are titles,
    /// too.
    pub(super) fn flush_pending(&mut self, except: Option<usize>, in_table: bool) {
        let here = self.around.paragraph;
        for (index, line) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            let Shape { is_value, is_timed, is_entry, names_figure, is_sentence, numbers, words } = line.shape;
            let is_time = is_timed && is_entry;
            let is_figure = (is_value || is_time || names_figure || numbers > words) && !is_sentence;
            if except == Some(index) && !is_figure {
                let is_title = in_table && line.paragraph == here;
                self.sections.push(Some(Heading { is_title, ..line }));
            } else if in_table && line.paragraph == here && !is_figure {
                self.unread.push(line.line);
            } else {
                self.left.push(line);
            }
        }
    }

    /// Lines that nothing was read of, when all are known: problems where they may be figures, unread otherwise. In
    /// a paragraph with figures every number is one, but in a sentence; elsewhere what has a figure's name, a time, or
    /// numbers only, and is not in a paragraph of sentences.
    pub(super) fn judge_left(&mut self, unused: Vec<Heading>) {
        for heading in unused {
            let may_be_figures = heading.shape.is_entry && !heading.is_title;
            if may_be_figures { self.left.push(heading) } else { self.unread.push(heading.line) }
        }
        let says = |line: &Heading| line.shape.is_sentence || (line.shape.numbers == 0 && line.shape.words >= 3);
        let prose: BTreeSet<usize> = self.left.iter().filter(|line| says(line)).map(|line| line.paragraph).collect();
        for line in std::mem::take(&mut self.left) {
            let Shape { numbers, is_sentence, is_entry, is_timed, names_figure, .. } = line.shape;
            let is_elsewhere =
                (is_entry && is_timed && !line.is_continued) || (is_entry && !prose.contains(&line.paragraph));
            let may_be_figures = names_figure || self.figured.contains(&line.paragraph) || is_elsewhere;
            if numbers > 0 && !is_sentence && may_be_figures {
                self.problem(line.span, "cannot read any figures in this line".to_owned(), EXAMPLE);
            } else {
                self.unread.push(line.line);
            }
        }
    }

    /// Figures follow: they belong to the heading above them, or go on with what was before. A table begins a part of
    /// its own.
    pub(super) fn open(&mut self, table: bool) {
        self.figured.insert(self.around.paragraph);
        let may_be = |line: &&Heading| !line.is_remark;
        let near = self.pending.last().filter(may_be).map(|_| self.pending.len() - 1);
        let ruled = self.pending.iter().rposition(|line| line.is_ruled);
        let heading = near.or(ruled).or_else(|| self.pending.iter().rposition(|line| may_be(&line)));
        let is_one = heading.is_some();
        self.flush_pending(heading, table);
        let section = self.sections.len().saturating_sub(1);
        let is_used = self.rows.iter().any(|row| row.section == section);
        if self.sections.is_empty() || (!is_one && table && is_used) {
            self.sections.push(None);
        }
    }

    /// A row, named as the legend says.
    pub(super) fn add(&mut self, mut summary: Summary, kind: RowForm, asides: Vec<Aside>, span: Range<usize>) {
        self.open(false);
        if let Some((symbol, name)) = self.legend.iter().find(|(symbol, _)| *symbol == summary.name) {
            (summary.symbol, summary.name) = (Some(symbol.clone()), name.clone());
        }
        self.rows.push(Row { summary, section: self.sections.len() - 1, kind, asides, span });
    }

    /// Puts figures, each perhaps with its unit, into a summary; problems where they are none.
    pub(super) fn fill(&mut self, summary: &mut Summary, values: &[Value<'_>]) {
        let mut seen = vec![];
        let mut is_bare = summary.unit.is_none() && summary.figures().next().is_some();
        for (column, word, unit) in values {
            if seen.contains(column) {
                let remedy = "write one summary per line, and each figure once";
                self.problem(word.span(), "this figure appears twice".to_owned(), remedy);
            }
            seen.push(*column);
            if word.text.is_empty() || is_unknown(word.text) {
                continue;
            }
            if *column != Column::N {
                // `avg 1 min 3 s` may be 63 s.
                let is_open = !is_bare || (summary.unit.is_some() && *column != Column::Min);
                self.check_unit(summary, unit.as_deref().map(spelled), is_open, word.span());
                is_bare = unit.is_none();
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

    /// One unit for all figures of a summary: what follows a figure with a unit may leave it out, unless it is `%`.
    fn check_unit(&mut self, summary: &mut Summary, unit: Option<String>, is_open: bool, span: Range<usize>) {
        match (unit, &summary.unit) {
            (Some(unit), None) if is_open => summary.unit = Some(unit),
            (Some(unit), Some(known)) if unit == *known && is_open => {}
            (None, known) if known.as_deref() != Some("%") => {}
            (unit, known) => {
                let known = known.as_deref().filter(|known| unit.as_deref() != Some(*known));
                self.problems.push(two_units(unit.as_deref(), known, span));
            }
        }
    }

    pub(super) fn count(&mut self, word: Word<'_>) -> Option<u64> {
        let n = word.text.parse::<u64>().ok().filter(|n| *n > 0);
        if n.is_none() {
            let message = format!("n is `{}`", word.text);
            self.problem(word.span(), message, "n is the number of values: 1, 2, 3 and so on");
        }
        n
    }

    pub(super) fn no_number(&mut self, word: Word<'_>) {
        let bare = word.text.to_lowercase();
        let remedy = match bare.trim_start_matches(['+', '-']) {
            "nan" => "write `-` for an unknown figure; ministat prints nan as Stddev if its sums fail",
            "inf" | "infinity" => "an infinite value has no mean; write `-` for an unknown figure",
            _ if Figure::read(&word.text.replace(',', "")).is_some() => "write the number without commas",
            _ if word.text.parse::<f64>().is_ok() => "the number is too large or too small; choose another unit",
            _ => "write a plain number, such as 4.213 or 1.5e-3, or `-` for an unknown figure",
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

pub(super) fn two_units(unit: Option<&str>, known: Option<&str>, span: Range<usize>) -> Problem {
    let unit = unit.map_or("no unit".to_owned(), |unit| format!("the unit `{unit}`"));
    let known = known.map_or("a figure without a unit".to_owned(), |known| format!("`{known}`"));
    let remedy = "give all figures of a quantity in the same unit, and write the unit after each";
    problem(span, format!("{unit} next to {known}"), remedy)
}

/// A summary of which nothing is known but its name and line.
pub(super) fn nothing(name: String, line: usize) -> Summary {
    Summary { name, line, ..Summary::default() }
}
