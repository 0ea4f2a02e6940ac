//! Reading figures out of text, line by line. A line is a row of a table, a line of figures with their names, a line of a list
//! with the value before its name, ministat's word on a difference, a legend, a picture; or a title or remark, which is
//! kept as the heading of what follows or is counted as unread. A line with numbers that is none of them is a
//! problem; nothing is dropped in silence.

use super::header::Header;
use super::reader::{EXAMPLE, Reader, Row, RowForm, problem};
use super::words::{is_prose, is_told, shape};
use super::{Figure, Printing, Published, Summary, families};
use bakeoff_model::problem::Problems;

/// Digits that ministat prints.
const MINISTAT_DIGITS: i32 = 8;
/// With this many digits in a table of ministat's columns, its printing is known even where its blanks are lost.
const TELLING_DIGITS: usize = 7;
/// ministat's symbols, in its order.
const SYMBOLS: [&str; 7] = ["x", "+", "*", "%", "#", "@", "O"];

/// Reads all figures out of a text; `file` is its name, for problems.
///
/// # Errors
/// All problems of the text, each with its line and remedy.
pub fn read(file: &str, text: &str) -> Result<Published, Problems> {
    if is_json(text) {
        let remedy = "use `bakeoff stat`, which reads individual values from the JSON of many tools";
        return Err(Problems::new(file, text, vec![problem(0..0, "this looks like JSON".to_owned(), remedy)]));
    }
    let mut reader = Reader::default();
    let lines: Vec<&str> = text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r'])).collect();
    if let Some((at, _)) = text.match_indices("{|").find(|(at, _)| *at == 0 || text[..*at].ends_with('\n')) {
        let wiki = "this looks like a wiki table".to_owned();
        let wiki = problem(at..at + 2, wiki, "convert it to CSV, with titles such as `name,n,avg,sd`");
        return Err(Problems::new(file, text, vec![wiki]));
    }
    reader.has_legends = lines.iter().any(|line| Header::read(line, 0).is_some_and(|header| header.is_ministat()));
    let is_gap =
        |at: Option<usize>| at.and_then(|at| lines.get(at)).is_none_or(|line| line.trim().is_empty() || is_noise(line));
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let is_new = is_gap(at.checked_sub(1));
        reader.around.paragraph += usize::from(is_new);
        reader.around.is_alone = is_new && is_gap(Some(at + 1));
        reader.around.is_ruled = lines.get(at + 1).is_some_and(|below| is_rule(below));
        let below = lines.get(at + 1).map_or("", |below| below.trim_start_matches(['>', ' ']));
        reader.around.is_followed = below.starts_with(char::is_lowercase) && shape(below).numbers == 0;
        let quote = line.len() - line.trim_start_matches(['>', ' ']).len();
        let quote = if line.starts_with('>') { quote } else { 0 };
        reader.line(at + 1, &lines[at][quote.min(lines[at].len())..], start + quote);
        start += line.len();
    }
    reader.flush_pending(None, false);
    let (rows, sections) = (std::mem::take(&mut reader.rows), std::mem::take(&mut reader.sections));
    let printing = printing(&rows);
    let families::Resolved { mut summaries, places, headings, columns_unread } =
        families::resolve(rows, &sections, &mut reader.problems);
    let unused = sections.into_iter().enumerate().filter(|(index, _)| !headings.contains(index));
    reader.judge_left(unused.filter_map(|(_, heading)| heading).collect());
    let Reader { mut problems, mut stated, lines_left_out, mut unread, .. } = reader;
    problems.sort_by_key(|problem| problem.span.start);
    if summaries.is_empty() && problems.is_empty() {
        problems.push(problem(0..0, "the input has no figures".to_owned(), EXAMPLE));
    }
    if !problems.is_empty() {
        return Err(Problems::new(file, text, problems));
    }
    if printing == Printing::EightDigits {
        let figures = summaries.iter_mut().flat_map(Summary::figures_mut).flatten();
        figures.for_each(|figure| *figure = figure.with_significant(MINISTAT_DIGITS));
    }
    // Both are rows of a table, and no count of others.
    stated.retain_mut(|one| {
        let [subject, object] = [one.subject, one.object].map(|row| places.get(row).copied().flatten());
        (one.subject, one.object) = (subject.unwrap_or_default(), object.unwrap_or_default());
        subject.is_some() && object.is_some()
    });
    unread.sort_unstable();
    Ok(Published { summaries, printing, stated, lines_left_out, lines_unread: unread, columns_unread })
}

/// Whether a text is meant as JSON; `{old} avg 5` and `[1] a link` are not.
fn is_json(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix(['{', '[']).map(str::trim_start);
    let is_whole = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    inner.is_some_and(|inner| inner.starts_with(['"', '{', '}']) || is_whole())
}

fn printing(rows: &[Row]) -> Printing {
    let tables = || rows.iter().filter(|row| matches!(row.kind, RowForm::Ministat { .. }));
    let by_ministat = tables().count() > 0
        && !rows.iter().any(|row| row.summary.figures().any(is_padded))
        && (rows.iter().all(|row| matches!(row.kind, RowForm::Ministat { layout: true }))
            || tables().any(|row| row.summary.figures().map(Figure::significant).max() >= Some(TELLING_DIGITS)));
    if by_ministat { Printing::EightDigits } else { Printing::AsShown }
}

/// Whether there is a zero at the end of its fraction: ministat leaves these away, so somebody else has rounded.
fn is_padded(figure: &Figure) -> bool {
    let mantissa = figure.text.split(['e', 'E']).next().unwrap_or_default();
    mantissa.contains('.') && mantissa.ends_with(['0', '.'])
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
        } else if self.jmh(number, line, start) {
        } else if let Some(header) = Header::read(line, start) {
            self.open(true);
            self.header = Some(header);
        } else if !is_prose(text)
            && (self.row(number, line, start)
                || !is_told(text) && (self.list(number, line, start) || self.pairs(number, line, start)))
        {
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

    /// `x file`: a symbol of ministat's, and what it stands for. The rarer symbols follow the others.
    fn legend_of(&self, line: &str) -> Option<(String, String)> {
        let (symbol, name) = line.split_once(char::is_whitespace)?;
        let place = SYMBOLS.iter().position(|known| *known == symbol)?;
        let before = |index: usize| self.legend.iter().any(|(known, _)| known == SYMBOLS[index]);
        let follows = place < 3 || before(place - 1);
        let is_name = shape(name).words > 0 && !shape(name).is_entry && !line.ends_with(':');
        (self.has_legends && follows && is_name).then(|| (symbol.to_owned(), name.trim().to_owned()))
    }
}

/// A line below a heading.
fn is_rule(line: &str) -> bool {
    let text = line.trim();
    text.len() > 2 && text.chars().all(|c| "-=~_^*#".contains(c))
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
