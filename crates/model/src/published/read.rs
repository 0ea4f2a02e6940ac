//! Reading figures out of text: ministat's whole output, or only its table; other tables with a line of titles, with
//! blanks, commas, semicolons, tabs or bars between the columns; and lines such as `A avg 0.203 min 0.187 n 75`. Which of
//! them it is, is seen line by line. A line that is none of them is a problem; nothing is dropped in silence.

use super::words::{Column, Word, cells, column, split_unit, words};
use super::{Figure, Printing, Published, Summary};
use crate::problem::{Problem, Problems};

/// Digits that ministat prints.
const MINISTAT_DIGITS: i32 = 8;
/// With so many digits in a table of ministat's columns, its printing is known even where its blanks are lost.
const TELLING_DIGITS: usize = 7;
/// A column of ministat's, with the blank before it.
const MINISTAT_COLUMN: usize = 14;

const EXAMPLE: &str = "write one line for each, such as `A avg 0.203 min 0.187 max 0.295 n 75`, or ministat's table";

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
    let Reader { mut problems, rows, unit, lines_left_out, .. } = reader;
    if rows.is_empty() && problems.is_empty() {
        problems.push(problem(0..0, "there are no figures in it".to_owned(), EXAMPLE));
    }
    if !problems.is_empty() {
        return Err(Problems::new(file, text, problems));
    }
    let by_ministat = rows.iter().any(|row| row.ministat_columns)
        && !rows.iter().any(|row| has_padding(&row.summary))
        && (rows.iter().all(|row| row.ministat_layout)
            || rows.iter().any(|row| digits(&row.summary) >= TELLING_DIGITS));
    let mut summaries: Vec<Summary> = rows.into_iter().map(|row| row.summary).collect();
    if by_ministat {
        summaries.iter_mut().for_each(as_ministat_prints);
    }
    let printing = if by_ministat { Printing::EightDigits } else { Printing::AsShown };
    Ok(Published { summaries, printing, unit, lines_left_out })
}

/// Whether some figure has a zero at the end of its fraction: ministat leaves these away, so somebody else has rounded.
fn has_padding(summary: &Summary) -> bool {
    let Summary { min, max, median, mean, sd, .. } = summary;
    let padded = |figure: &Figure| {
        let mantissa = figure.text.split(['e', 'E']).next().unwrap_or_default();
        mantissa.contains('.') && mantissa.ends_with(['0', '.'])
    };
    [min, max, median, mean, sd].into_iter().flatten().any(padded)
}

fn digits(summary: &Summary) -> usize {
    let Summary { min, max, median, mean, sd, .. } = summary;
    [min, max, median, mean, sd].into_iter().flatten().map(Figure::significant).max().unwrap_or(0)
}

fn as_ministat_prints(summary: &mut Summary) {
    let Summary { min, max, median, mean, sd, .. } = summary;
    for figure in [min, max, median, mean, sd].into_iter().flatten() {
        *figure = figure.with_significant(MINISTAT_DIGITS);
    }
}

fn problem(span: std::ops::Range<usize>, message: String, remedy: &str) -> Problem {
    Problem { span, message, label: String::new(), remedy: remedy.to_owned() }
}

/// Titles of a table, and what stands between its columns.
#[derive(Debug)]
struct Header {
    columns: Vec<Column>,
    separator: Option<char>,
}

#[derive(Debug)]
struct Row {
    summary: Summary,
    ministat_columns: bool,
    ministat_layout: bool,
}

#[derive(Debug, Default)]
struct Reader {
    /// ministat's symbols and what they stand for.
    legend: Vec<(String, String)>,
    header: Option<Header>,
    rows: Vec<Row>,
    unit: Option<String>,
    lines_left_out: usize,
    problems: Vec<Problem>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str, start: usize) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        if is_known_noise(line) {
            self.lines_left_out += 1;
        } else if let Some(header) = self.titles(line, start) {
            self.header = Some(header);
        } else if self.row(number, line, start) || self.pairs(number, line, start) {
        } else if let Some(entry) = legend(text) {
            self.legend.push(entry);
        } else if text.starts_with('#') {
            self.lines_left_out += 1;
        } else {
            let at = start + line.len() - line.trim_start().len();
            self.problems.push(problem(at..at + text.len(), "there are no figures in this line".to_owned(), EXAMPLE));
        }
    }

    /// A line of titles: names of figures and nothing else, but for at most one other word, for the names.
    fn titles(&mut self, line: &str, start: usize) -> Option<Header> {
        let separator = ['|', '\t', ';', ','].into_iter().find(|c| line.trim_matches('|').contains(*c));
        let titles = split(line, start, separator);
        let named: Vec<_> = titles.iter().map(|title| column(title.text)).collect();
        let figures = named.iter().flatten().filter(|(column, _)| *column != Column::Name).count();
        let unnamed = named.iter().filter(|known| known.is_none()).count();
        if figures < 2 || unnamed > 1 || (unnamed == 1 && (separator.is_none() || named[0].is_some())) {
            return None;
        }
        for unit in named.iter().flatten().filter_map(|(_, unit)| unit.as_deref()) {
            self.meet_unit(unit, titles[0].start..titles[titles.len() - 1].span().end);
        }
        let columns = named.into_iter().map(|known| known.map_or(Column::Name, |(column, _)| column)).collect();
        Some(Header { columns, separator })
    }

    /// A row below titles; false if it is none.
    fn row(&mut self, number: usize, line: &str, start: usize) -> bool {
        let Some(Header { columns, separator }) = &self.header else { return false };
        let (columns, separator) = (columns.clone(), *separator);
        let found = split(line, start, separator);
        let figures: Vec<Column> = columns.iter().copied().filter(|column| *column != Column::Name).collect();
        let (name, values): (String, Vec<(Column, Word<'_>)>) = if separator.is_some() {
            if found.len() != columns.len() {
                let (has, wants) = (found.len(), columns.len());
                if has < 2 {
                    return false;
                }
                let message = format!("this line has {has} cells where the titles have {wants}");
                self.problems.push(problem(
                    start..start + line.len(),
                    message,
                    "give every title one cell; `-` for none",
                ));
                return true;
            }
            let (names, values): (Vec<_>, Vec<_>) =
                columns.iter().copied().zip(found).partition(|(column, _)| *column == Column::Name);
            (names.first().map_or(String::new(), |(_, word)| word.text.to_owned()), values)
        } else {
            let looks_like_values = found.iter().rev().take_while(|word| is_value(word.text)).count();
            if found.len() < figures.len() || looks_like_values == 0 {
                return false;
            }
            let (name, values) = found.split_at(found.len() - figures.len());
            if let Some(extra) = name.iter().skip(1).find(|word| Figure::read(word.text).is_some()) {
                let message = format!("this line has more numbers than there are titles, such as `{}`", extra.text);
                self.problems.push(problem(
                    extra.span(),
                    message,
                    "give every number a title, or put commas between the columns",
                ));
                return true;
            }
            let name: Vec<&str> = name.iter().map(|word| word.text).collect();
            (name.join(" "), figures.into_iter().zip(values.iter().copied()).collect())
        };
        let ministat_columns = columns == MINISTAT && separator.is_none();
        let ministat_layout = ministat_columns
            && values.windows(2).skip(1).all(|pair| pair[1].1.span().end - pair[0].1.span().end == MINISTAT_COLUMN);
        let name = name.trim_matches([' ', ':', '"', '`', '*']).to_owned();
        self.add(number, name, &values, start..start + line.len(), [ministat_columns, ministat_layout]);
        true
    }

    /// A line of words with numbers; false if it is none.
    fn pairs(&mut self, number: usize, line: &str, start: usize) -> bool {
        let found = words(line, start, |c| c.is_whitespace() || ",;=:()".contains(c));
        let is_pair = |pair: &[Word<'_>]| {
            column(pair[0].text).is_some_and(|(c, _)| c != Column::Name) && is_value(split_unit(pair[1].text).0)
                || column(pair[0].text).is_some_and(|(c, _)| c != Column::Name) && is_value(pair[1].text)
        };
        let Some(first) = found.windows(2).position(is_pair) else { return false };
        let name = line[..found[first].start - start].trim_matches([' ', '\t', ':', ',', ';', '=', '(', '-']);
        let mut values: Vec<(Column, Word<'_>)> = vec![];
        let mut at = first;
        while at < found.len() {
            let Some((figure, unit)) = column(found[at].text).filter(|(c, _)| *c != Column::Name) else {
                let message = format!("`{}` stands where the name of a figure should", found[at].text);
                self.problems.push(problem(found[at].span(), message, "known are n, min, max, median, avg and sd"));
                return true;
            };
            let Some(value) = found.get(at + 1) else {
                let message = format!("`{}` has no number", found[at].text);
                self.problems.push(problem(found[at].span(), message, "write the number behind it, or leave it out"));
                return true;
            };
            let (digits, stuck) = split_unit(value.text);
            let is_unit = |word: &&Word<'_>| column(word.text).is_none() && looks_like_a_unit(word.text);
            let apart = found.get(at + 2).filter(|_| stuck.is_empty()).filter(is_unit);
            for unit in unit.as_deref().into_iter().chain(apart.map(|word| word.text)).chain([stuck]) {
                if !unit.is_empty() && !digits.is_empty() {
                    self.meet_unit(unit, value.span());
                }
            }
            let text = if digits.is_empty() { value.text } else { digits };
            values.push((figure, Word { text, start: value.start }));
            at += if apart.is_some() { 3 } else { 2 };
        }
        self.add(number, name.to_owned(), &values, start..start + line.len(), [false, false]);
        true
    }

    /// One unit for all.
    fn meet_unit(&mut self, unit: &str, span: std::ops::Range<usize>) {
        match &self.unit {
            None => self.unit = Some(unit.to_owned()),
            Some(known) if known != unit => {
                let message = format!("the unit `{unit}` beside `{known}`");
                self.problems.push(problem(span, message, "give all figures in one unit"));
            }
            Some(_) => {}
        }
    }

    fn add(
        &mut self,
        line: usize,
        name: String,
        values: &[(Column, Word<'_>)],
        span: std::ops::Range<usize>,
        ministat: [bool; 2],
    ) {
        let mut summary =
            Summary { name: String::new(), line, n: 0, min: None, max: None, median: None, mean: None, sd: None };
        let mut seen = vec![];
        let known = self.problems.len();
        for (column, word) in values {
            if seen.contains(column) {
                let remedy = "one summary a line, and each figure once";
                self.problems.push(problem(word.span(), "this figure stands here twice".to_owned(), remedy));
            }
            seen.push(*column);
            if matches!(word.text, "" | "-" | "–" | "—" | "n/a" | "N/A" | "NA") {
                continue;
            }
            match (column, Figure::read(word.text)) {
                (Column::N, _) => summary.n = self.count(*word),
                (Column::Min, Some(figure)) => summary.min = Some(figure),
                (Column::Max, Some(figure)) => summary.max = Some(figure),
                (Column::Median, Some(figure)) => summary.median = Some(figure),
                (Column::Mean, Some(figure)) => summary.mean = Some(figure),
                (Column::Sd, Some(figure)) => summary.sd = Some(figure),
                (Column::Name, _) => {}
                (_, None) => self.no_number(*word),
            }
        }
        if known == self.problems.len() && summary.n == 0 {
            let remedy = "without the number of values nothing can be said; add it, such as `n 75`";
            self.problems.push(problem(span, "n is missing".to_owned(), remedy));
        }
        summary.name = self.unique(&name);
        self.rows.push(Row { summary, ministat_columns: ministat[0], ministat_layout: ministat[1] });
    }

    fn count(&mut self, word: Word<'_>) -> u64 {
        let n = word.text.parse::<u64>().unwrap_or(0);
        if n == 0 {
            let message = format!("n is `{}`", word.text);
            self.problems.push(problem(word.span(), message, "n is the number of values: 1, 2, 3 and so on"));
        }
        n
    }

    fn no_number(&mut self, word: Word<'_>) {
        let bare = word.text.to_lowercase();
        let remedy = match bare.trim_start_matches(['+', '-']) {
            "nan" => "write `-` for a figure that is not known; ministat prints nan as Stddev where its sums fail",
            "inf" | "infinity" => "a value that never ended has no mean; write `-` for a figure that is not known",
            _ if Figure::read(&word.text.replace(',', "")).is_some() => "write it without commas",
            _ if word.text.parse::<f64>().is_ok() => "it is too large for a number",
            _ => "write a plain number, such as 4.213 or 1.5e-3, or `-` for a figure that is not known",
        };
        self.problems.push(problem(word.span(), format!("`{}` is not a number", word.text), remedy));
    }

    /// A name for a summary: what the legend says of a symbol, or a letter for none; numbered where it is taken.
    fn unique(&self, name: &str) -> String {
        let long = self.legend.iter().find(|(symbol, _)| symbol == name).map_or(name, |(_, long)| long);
        let letter = || (b'A'..=b'Z').nth(self.rows.len()).map_or("summary".to_owned(), |c| char::from(c).to_string());
        let name = if long.is_empty() { letter() } else { long.to_owned() };
        let taken = |name: &String| self.rows.iter().any(|row| row.summary.name == *name);
        let numbered = (2..).map(|i| format!("{name} ({i})"));
        std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
    }
}

const MINISTAT: [Column; 6] = [Column::N, Column::Min, Column::Max, Column::Median, Column::Mean, Column::Sd];

/// Cells between separators, with bars at both ends taken off; or words between blanks.
fn split(line: &str, start: usize, separator: Option<char>) -> Vec<Word<'_>> {
    match separator {
        None => words(line, start, char::is_whitespace),
        Some('|') => {
            let inner = line.trim().trim_start_matches('|');
            let start = start + (line.len() - line.trim_start().len()) + (line.trim().len() - inner.len());
            cells(inner.trim_end_matches('|'), start, |c| c == '|')
        }
        Some(separator) => cells(line, start, |c| c == separator),
    }
}

fn is_value(word: &str) -> bool {
    let bare = word.to_lowercase();
    let not_finite = ["nan", "inf", "infinity"].contains(&bare.trim_start_matches(['+', '-']));
    Figure::read(word).is_some() || not_finite || matches!(word, "-" | "–" | "—" | "n/a" | "N/A" | "NA")
}

fn looks_like_a_unit(word: &str) -> bool {
    let fits = |c: char| c.is_alphabetic() || "/%²".contains(c);
    word.chars().count() <= 12 && word.chars().all(fits)
}

/// `x file`: a symbol of ministat's, and what it stands for.
fn legend(line: &str) -> Option<(String, String)> {
    let (symbol, name) = line.split_once(char::is_whitespace)?;
    let is_symbol = ["x", "+", "*", "%", "#", "@", "O"].contains(&symbol);
    (is_symbol && !name.trim().is_empty()).then(|| (symbol.to_owned(), name.trim().to_owned()))
}

/// Lines that ministat prints around its table, and the line below the titles of a table in Markdown.
fn is_known_noise(line: &str) -> bool {
    let text = line.trim();
    let picture = |c: char| " |_AMx+*%#@O-:".contains(c);
    let framed = text.len() > 1 && ["|", "+"].iter().any(|end| text.starts_with(end) && text.ends_with(end));
    let below = ["Difference at ", "No difference proven at ", "(Student's t, pooled s"];
    framed && text.chars().all(picture)
        || text.starts_with('|') && text.chars().all(picture) && text.contains("---")
        || below.iter().any(|begin| text.starts_with(begin))
        || text.contains(" +/- ") && line.starts_with(char::is_whitespace)
        || text == "[no plot, span is zero width]"
}
