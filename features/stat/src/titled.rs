//! Tables with a line of titles, columns of words (factors) and a column of values, as CSV, with tabs, semicolons or
//! blanks: a line for each value. A factor is a part of a value's name (`/FACTOR`). A column of numbers that is neither
//! the value nor a count of repeats is a factor too; if it is not clear which column has the values, it must be chosen.
//! Nothing is guessed.

use bakeoff_model::metric::Direction;
use bakeoff_model::plain::clean;
use bakeoff_readers::columns::{UNITS, in_base};
use bakeoff_readers::keys::Projection;
use bakeoff_readers::{Error, Gathered, Labels, Options, Origin, Tool, with_parameters};
use bakeoff_report::words::counted;
use std::collections::{BTreeMap, BTreeSet};

/// Titles of columns that count lines, and tell nothing apart; so does one without a title.
const COUNTERS: &str =
    "run runs rep repeat repetition \u{69}teration iter trial i id index sample block timestamp date";
/// Words in the titles of values; of the second list more is better.
const VALUES: &str = "time seconds wall elapsed real duration latency runtime value score measurement ms ns us";
const RATES: &str = "throughput rate ops qps rps fps bandwidth speed";
/// Words in the titles of what is measured next to a value; none of them is a factor.
const MEASURED: &str = "user sys system cpu maxrss rss memory cycles instructions";
/// What is counted in a second; any word in the plural is, too.
const AMOUNTS: &str = "b kb mb gb kib mib gib bit mbit gbit req op";

const MISSING: &str = "remove the line or comment it out with #, and mention the omission when you publish the numbers";

fn shown(text: &str) -> String {
    format!("`{}`", clean(text))
}

/// The separator of a table with titles that begins so; none if it is none.
pub(crate) fn separator(beginning: &[u8]) -> Option<char> {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().filter(|line| is_content(line));
    let (titles, first) = (lines.next()?, lines.next()?);
    [',', ';', '\t', ' '].into_iter().find(|separator| {
        let (titles, cells) = (split(titles, *separator), split(first, *separator));
        let are_words = titles.iter().all(|title| title.parse::<f64>().is_err() && !title.starts_with("**"));
        let is_number = |cell: &&String| cell.parse::<f64>().is_ok();
        titles.len() > 1 && titles.len() == cells.len() && are_words && cells.iter().any(|cell| is_number(&cell))
    })
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

/// The cells of a line; between double quotes nothing separates.
fn split(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in line.trim_end_matches('\r').chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
    }
    let cells = cells.into_iter().map(|cell| cell.trim().to_owned());
    if separator == ' ' { cells.filter(|cell| !cell.is_empty()).collect() } else { cells.collect() }
}

/// The words of a title, in small letters.
fn words(title: &str) -> Vec<String> {
    let parts = title.split(|c: char| !(c.is_alphanumeric() || c == '%' || c == '/'));
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// A table as it stands in a file.
struct Sheet {
    titles: Vec<String>,
    /// The cells of each line, with its number.
    rows: Vec<(u64, Vec<String>)>,
}

impl Sheet {
    fn of(text: &str, separator: char, origin: &Origin<'_>) -> Result<Self, Error> {
        let mut lines = (1u64..).zip(text.lines()).filter(|(_, line)| is_content(line));
        let titles = lines.next().map(|(_, line)| split(line, separator)).unwrap_or_default();
        let rows: Vec<(u64, Vec<String>)> = lines.map(|(number, line)| (number, split(line, separator))).collect();
        match rows.iter().find(|(_, cells)| cells.len() != titles.len()) {
            Some((number, cells)) => {
                let cells = counted(cells.len() as u32, "cell");
                let message = format!("this line has {cells}, but the line of titles has {}", titles.len());
                let remedy = "give every line one cell for each title, or read a column by its number with `-C N`";
                Err(origin.error(*number, &message, remedy))
            }
            None => Ok(Self { titles, rows }),
        }
    }

    fn column(&self, at: usize) -> impl Iterator<Item = &String> + Clone {
        self.rows.iter().map(move |(_, cells)| &cells[at])
    }

    fn is_numeric(&self, at: usize) -> bool {
        let mut known = self.column(at).filter(|cell| !is_missing(cell)).peekable();
        known.peek().is_some() && known.all(|cell| cell.parse::<f64>().is_ok())
    }

    fn has_several_levels(&self, at: usize) -> bool {
        self.column(at).any(|cell| *cell != self.rows[0].1[at])
    }

    /// Whether a column of numbers may as well be values as tell values apart.
    fn is_unclear(&self, at: usize) -> bool {
        let levels: BTreeSet<&String> = self.column(at).collect();
        has_word(&self.titles[at], &[VALUES, RATES, MEASURED]) || 2 * levels.len() > self.rows.len()
    }
}

/// The number in a cell.
fn number(line: u64, cells: &[String], at: usize, origin: &Origin<'_>) -> Result<f64, Error> {
    let cell = &cells[at];
    cell.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| {
        let message = match cell.as_str() {
            "" => format!("column {} is empty", at + 1),
            _ => format!("{} is not a number", shown(cell)),
        };
        origin.error(line, &message, MISSING)
    })
}

/// Reads one file into what has been gathered.
pub(crate) fn read(
    text: &str,
    separator: char,
    origin: &Origin<'_>,
    is_alone: bool,
    options: &Options,
) -> Result<Gathered, Error> {
    let sheet = Sheet::of(text.trim_start_matches('\u{feff}'), separator, origin)?;
    let titles = &sheet.titles;
    let numbers: Vec<usize> = (0..titles.len()).filter(|at| sheet.is_numeric(*at)).collect();
    let value = value_of(titles, &numbers, origin, options)?;
    let mut factors: Vec<usize> = (0..titles.len()).filter(|at| *at != value).collect();
    factors.retain(|at| !(numbers.contains(at) && is_one_of(COUNTERS, &titles[*at])) && sheet.has_several_levels(*at));
    let unclear: Vec<usize> =
        factors.iter().copied().filter(|at| numbers.contains(at) && sheet.is_unclear(*at)).collect();
    if let Some(column) = unclear.first().filter(|_| !options.columns.is_chosen) {
        let message = format!(
            "it is unclear whether the column {} contains values or the names of groups",
            shown(&titles[*column])
        );
        let remedy = format!("use `-C {}` to read only the column of values", value + 1);
        return Err(origin.whole(&message, &remedy));
    }
    factors.retain(|at| !unclear.contains(at));
    let is_rate = is_rate(&titles[value]);
    let (unit, factor) = if is_rate { ("", 1.0) } else { unit_of(&titles[value]) };
    let better = if is_rate { Direction::More } else { Direction::Less };
    let options = with_column(options, is_alone, factors.first().map(|at| titles[*at].as_str()));
    let mut gathered = Gathered::default();
    gathered.kind = Some(Tool::Titled);
    for (line, cells) in &sheet.rows {
        let value = in_base(number(*line, cells, value, origin)?, factor);
        let parameters: BTreeMap<String, String> =
            factors.iter().map(|at| (titles[*at].clone(), cells[*at].clone())).collect();
        let full = with_parameters("", parameters.iter());
        let place = Labels { full, stem: Some(""), file: origin.label, unit, parameters, ..Labels::default() };
        if options.wants(&place) {
            gathered.add(&options, &place, unit, better, value);
        }
    }
    Ok(gathered)
}

fn is_missing(cell: &str) -> bool {
    matches!(cell.to_lowercase().as_str(), "" | "na" | "n/a" | "nan" | "-" | "null" | "none")
}

/// The column of values: the one that was chosen, the only one with numbers, or the only one that is called like it.
fn value_of(titles: &[String], numbers: &[usize], origin: &Origin<'_>, options: &Options) -> Result<usize, Error> {
    let chosen = options.columns.column;
    if options.columns.is_chosen && chosen > titles.len() {
        let message = format!("there is no column {chosen}: the last column is {}", titles.len());
        return Err(origin.whole(&message, "choose another column with -C"));
    }
    if options.columns.is_chosen {
        return Ok(chosen - 1);
    }
    let is_value = |column: &&usize| has_word(&titles[**column], &[VALUES, RATES]);
    let counters = |column: &&usize| !is_one_of(COUNTERS, &titles[**column]);
    let named: Vec<usize> = numbers.iter().filter(is_value).copied().collect();
    let others: Vec<usize> = numbers.iter().filter(counters).copied().collect();
    match (named.as_slice(), others.as_slice()) {
        ([one], _) | ([], [one]) => Ok(*one),
        ([], []) => {
            let remedy = "remove the lines whose value is not a number, or comment them out with #, and mention the \
                omission when you publish the numbers";
            Err(origin.whole("this looks like a table with titles, but no column contains only numbers", remedy))
        }
        (several, others) => {
            let several = if several.is_empty() { others } else { several };
            let names: Vec<String> =
                several.iter().map(|column| format!("{} {}", column + 1, shown(&titles[*column]))).collect();
            let message = format!(
                "this looks like a table with titles, and several columns could contain the values: {}",
                names.join(", ")
            );
            Err(origin.whole(&message, "choose column N with `-C N`"))
        }
    }
}

/// Whether a list has the word, in any letter case, or there is none.
fn is_one_of(list: &str, word: &str) -> bool {
    word.is_empty() || list.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

fn has_word(title: &str, lists: &[&str]) -> bool {
    words(title).iter().any(|word| lists.iter().any(|list| is_one_of(list, word)))
}

/// Whether a title is one of a rate, such as `throughput`, `MB/s`, `req_s` or `frames per second`.
fn is_rate(title: &str) -> bool {
    let words = words(title);
    let is_time = |word: &String| UNITS.iter().any(|(names, base, _)| *base == "sec" && names.contains(&word.as_str()));
    let is_amount =
        |word: &str| is_one_of(AMOUNTS, word) || (word.ends_with('s') && word.len() > 2 && !is_one_of(VALUES, word));
    has_word(title, &[RATES, "per"])
        || words.iter().any(|word| word.split_once('/').is_some_and(|(_, time)| is_time(&time.to_owned())))
        || words.windows(2).any(|pair| is_amount(&pair[0]) && is_time(&pair[1]))
}

/// The base unit that a title names, such as `time_ms` or `wall (s)`, and its factor.
fn unit_of(title: &str) -> (&'static str, f64) {
    // The least of several, and not minutes.
    if title == "min" {
        return ("", 1.0);
    }
    let parts: Vec<&str> = title.split(|c: char| !(c.is_alphanumeric() || "µ%/".contains(c))).collect();
    let known =
        |word: &&str| UNITS.iter().find(|(names, ..)| names.contains(word)).map(|(_, base, factor)| (*base, *factor));
    parts.iter().rev().filter(|word| !word.is_empty()).find_map(known).unwrap_or(("", 1.0))
}

/// Without another choice the first factor's levels are compared, of several files each file's.
fn with_column(options: &Options, is_alone: bool, factor: Option<&str>) -> Options {
    let usual = factor.filter(|_| options.col.is_none()).and_then(|factor| {
        let file = if is_alone { "" } else { ".file," };
        Projection::parse(&format!("{file}/{}", factor.replace([' ', ','], "_"))).ok()
    });
    Options { col: options.col.clone().or(usual), ..options.clone() }
}
