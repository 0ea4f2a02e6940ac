//! The words by which people name figures, and how a line is taken apart. Nothing here knows what the figures mean.

use std::ops::Range;

/// Which figure a word names, or what else stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Name,
    Quantity,
    Unit,
    N,
    Min,
    Max,
    Median,
    Mean,
    Sd,
}

impl Column {
    pub(super) fn is_figure(self) -> bool {
        !matches!(self, Self::Name | Self::Quantity | Self::Unit)
    }
}

/// A title of a column: the figure, its unit, and of what it is, as `scan avg (s)` and `avg_ms` have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Title {
    pub(super) column: Column,
    pub(super) unit: Option<String>,
    pub(super) quantity: Option<String>,
}

/// What a title names; none if it is not known.
pub(super) fn title(word: &str) -> Option<Title> {
    if let Some((column, unit)) = column(word) {
        return Some(Title { column, unit, quantity: None });
    }
    let (bare, unit) = without_unit(trimmed(word));
    let bare = bare.rsplit_once('_').filter(|(_, last)| is_time(last)).map_or(bare, |(rest, _)| rest);
    let of = |name: &str, rest: &str| {
        let rest = rest.trim_matches([' ', '_', '-', ':', ',']);
        // `std error` is another figure.
        let is_other = rest.to_lowercase().starts_with("err");
        let column = known(name).filter(|column| column.is_figure() && *column != Column::N && !is_other)?;
        let quantity = (!rest.is_empty() && !is_time(rest)).then(|| rest.to_owned());
        Some(Title { column, unit: unit.map(str::to_owned), quantity })
    };
    let between = [' ', '_', '-'];
    let last = bare.rsplit_once(between).and_then(|(rest, name)| of(name, rest));
    last.or_else(|| bare.split_once(between).and_then(|(name, rest)| of(name, rest)))
}

/// The figure that a word names, with the unit that may stand in brackets or after an underscore: `Avg(s)`, `avg_ms`.
/// `avg_t` and `avg_time` tell no unit.
pub(super) fn column(word: &str) -> Option<(Column, Option<String>)> {
    let word = trimmed(word);
    let (name, unit) = without_unit(word);
    known(name).map(|column| (column, unit.map(str::to_owned))).or_else(|| {
        let (name, unit) = name.rsplit_once('_')?;
        known(name).map(|column| (column, (!is_time(unit)).then(|| unit.to_owned())))
    })
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`', '*', ' '])
}

/// A name without the unit in brackets at its end, and that unit.
pub(super) fn without_unit(word: &str) -> (&str, Option<&str>) {
    match word.trim_end_matches([')', ']']).split_once(['(', '[']) {
        Some((name, unit)) => (name.trim_end_matches([' ', '_']), Some(unit)),
        None => (word, None),
    }
}

fn is_time(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "t" | "time")
}

fn known(word: &str) -> Option<Column> {
    Some(match word.to_lowercase().trim_end_matches('.') {
        "name" | "variant" | "dataset" | "command" | "what" | "case" => Column::Name,
        "phase" | "metric" | "test" | "operation" | "op" | "field" | "workload" | "quantity" | "resource" => {
            Column::Quantity
        }
        word if word.starts_with("bench") => Column::Quantity,
        "unit" | "units" => Column::Unit,
        "n" | "count" | "samples" | "repeats" | "times" => Column::N,
        "min" | "minimum" | "smallest" | "best" => Column::Min,
        "max" | "maximum" | "largest" | "worst" => Column::Max,
        "median" | "med" => Column::Median,
        "avg" | "average" | "mean" => Column::Mean,
        "std dev" | "standard deviation" | "sd" | "std" | "stddev" | "stdev" | "std_dev" | "std-dev" | "sigma"
        | "σ" => Column::Sd,
        _ => return None,
    })
}

/// A name without the marks around it; dashes of an option stay.
pub(super) fn bare<'a>(text: &'a str, marks: &str) -> &'a str {
    let is_mark = |c: char| c.is_whitespace() || marks.contains(c);
    let start = text.len() - text.trim_start_matches(is_mark).len();
    let dashes = start - text[..start].trim_end_matches('-').len();
    let kept = if text.trim_end().ends_with('-') { start } else { start - dashes };
    text[kept..].trim_end_matches(is_mark)
}

/// A part of a text: where it is, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Word<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The parts of a line between characters of a kind, which begins at `start` of its text; without those that are empty.
pub(super) fn words(line: &str, start: usize, between: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    cells(line, start, between).into_iter().filter(|word| !word.text.is_empty()).collect()
}

/// The same with those that are empty; blanks around each do not belong to it.
pub(super) fn cells(line: &str, start: usize, between: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    let mut found = vec![];
    let mut from = 0;
    let ends = line.char_indices().filter(|(_, c)| between(*c)).map(|(at, c)| (at, at + c.len_utf8()));
    for (end, next) in ends.chain([(line.len(), line.len())]) {
        let raw = &line[from..end];
        let text = raw.trim();
        found.push(Word { text, start: start + from + (raw.len() - raw.trim_start().len()) });
        from = next;
    }
    found
}

/// Cells of CSV: a separator between double quotes separates nothing.
pub(super) fn quoted_cells(line: &str, start: usize, separator: char) -> Vec<Word<'_>> {
    let quoted = std::cell::Cell::new(false);
    cells(line, start, |c| {
        quoted.set(quoted.get() != (c == '"'));
        c == separator && !quoted.get()
    })
}

/// A number with a unit stuck to it, taken apart: `0.203s`, `12ms`, `4.21`. What is a number too large to be one, such
/// as `1e999`, stays whole: it is not 1 of the unit `e999`.
pub(super) fn split_unit(word: &str) -> (&str, &str) {
    if word.parse::<f64>().is_ok() {
        return (word, "");
    }
    let is_number = |at: &usize| super::Figure::read(&word[..*at]).is_some();
    let at = (1..=word.len()).rev().filter(|at| word.is_char_boundary(*at)).find(is_number).unwrap_or(0);
    (&word[..at], &word[at..])
}

/// Whether what stands at a number can be its unit: it has no digits and no signs, and is neither `x` nor a footnote.
pub(super) fn looks_like_a_unit(word: &str) -> bool {
    let fits = |c: char| c.is_alphabetic() || "/%²".contains(c);
    let is_letter = word.chars().count() == 1 && !"smhdBbkKMGTWJVACg%".contains(word);
    word.chars().count() <= 12 && word.chars().all(fits) && !is_letter
}

/// Whether a word stands where a number does: a number, or what is printed for none.
pub(super) fn is_value(word: &str) -> bool {
    let bare = word.to_lowercase();
    let not_finite = ["nan", "inf", "infinity"].contains(&bare.trim_start_matches(['+', '-']));
    super::Figure::read(word).is_some() || not_finite || is_unknown(word)
}

/// Printed for a figure that is not known.
pub(super) fn is_unknown(word: &str) -> bool {
    matches!(word, "-" | "–" | "—" | "n/a" | "N/A" | "NA" | "null" | "None")
}

/// Signs at a number that say more than its digits: about, less than, plus or minus, a footnote.
const MARKS: &[char] =
    &['~', '<', '>', '≈', '≤', '≥', '±', '*', '†', '‡', '^', '$', '€', '£', '=', '+', '-', '−', '/', '|'];
const BRACKETS: &[char] = &['(', ')', '[', ']', '{', '}', '"', '\'', '`', ',', ';', ':', '.', '!', '?'];

/// Between a name and its number.
pub(super) const SIGNS: &[char] = &[':', '=', '<', '>', '≤', '≥', '~', '≈'];

/// A number as people write it, perhaps with signs, separators of thousands and a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    /// It has signs or separators: its digits alone are not what it says.
    pub(super) is_marked: bool,
    /// It has a unit of time, or is a percentage.
    pub(super) is_timed: bool,
    pub(super) is_whole: bool,
}

/// The number that a word is; none of a word, a version or a date.
pub(super) fn number_in(word: &str) -> Option<Written> {
    let bare = word.trim_matches(BRACKETS).trim_start_matches(['+', '-', '−']);
    let inner = bare.trim_matches(MARKS).trim_matches(BRACKETS);
    let joined = inner.replace([',', '\'', '_', '\u{a0}', '\u{202f}', '\u{2009}'], "");
    let (digits, rest) = split_unit(&joined);
    if digits.is_empty() {
        return None;
    }
    // As the shell prints times.
    if let Some(seconds) = rest.strip_prefix('m').filter(|rest| rest.ends_with('s') && number_in(rest).is_some()) {
        return Some(Written { is_marked: false, is_timed: true, is_whole: !seconds.contains('.') });
    }
    // A range, or a number with a footnote.
    let more =
        rest.strip_prefix("..").or_else(|| rest.strip_prefix(['-', '–', '…', '±', '(', '[', '^', '*', '+', '/', '~']));
    let is_two = more.is_some_and(|more| number_in(more).is_some());
    if !(is_two || rest.chars().all(|c| c.is_alphabetic() || "/%²".contains(c))) {
        return None;
    }
    let is_whole = !digits.contains('.') && !is_two;
    Some(Written { is_marked: is_two || joined.len() != bare.len(), is_timed: is_timed(rest), is_whole })
}

/// A unit of time, or a percent sign.
pub(super) fn is_timed(unit: &str) -> bool {
    let unit = spelled(unit.trim_matches(BRACKETS));
    unit == "%" || dimension(&unit) == Some("time")
}

/// What a line is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) numbers: usize,
    pub(super) words: usize,
    /// Words enough for a sentence, in which numbers are few.
    pub(super) is_sentence: bool,
    /// It ends in a number right after a colon or an equals sign.
    pub(super) is_value: bool,
    /// It is a short label with a decimal number or a time at its end, or made of numbers.
    pub(super) is_entry: bool,
    /// That is a time.
    pub(super) is_timed: bool,
    /// It names a figure, or has a plus-minus.
    pub(super) names_figure: bool,
}

/// Whether a word is the name of a figure or of a time, and of nothing else.
pub(super) fn names_figure(word: &str) -> bool {
    let bare = word.trim_matches(BRACKETS).to_lowercase();
    let known = title(&bare).is_some_and(|title| title.column.is_figure() && title.column != Column::N);
    matches!(bare.as_str(), "real" | "user" | "sys" | "elapsed" | "wall")
        || known && !matches!(bare.as_str(), "best" | "worst" | "smallest" | "largest")
}

/// The words of a line; `A:5.2` and `n=3` are two, `07:52:57` is one.
pub(super) fn pieces(line: &str, start: usize) -> Vec<Word<'_>> {
    fn halves(word: Word<'_>) -> Vec<Word<'_>> {
        let at = word.text.find(SIGNS).filter(|at| word.text[..*at].contains(char::is_alphabetic));
        if at.is_some() { words(word.text, word.start, |c| SIGNS.contains(&c)) } else { vec![word] }
    }
    words(line, start, char::is_whitespace).into_iter().flat_map(halves).collect()
}

/// Lines whose numbers are never figures: of a shell, of diff(1), of psql; an uptime, a date with its
/// time, a vote, a telephone number.
pub(super) fn is_prose(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let is_phone = ["tel", "phone", "fax", "mobile"].iter().any(|label| lower.starts_with(label))
        && lower.chars().filter(char::is_ascii_digit).count() > 3
        && lower.trim_start_matches(char::is_alphabetic).chars().all(|c| c.is_ascii_digit() || " +-/().:".contains(c));
    let is_marked = ["$ ", "% ./", "# ./", "@@ "].iter().any(|mark| lower.starts_with(mark));
    let is_clock = |word: &str| word.split(':').count() == 3 && word.chars().all(|c| c == ':' || c.is_ascii_digit());
    let is_year = |word: &str| word.parse().is_ok_and(|year: u32| (1970..2100).contains(&year));
    let is_now = lower.split_whitespace().any(is_clock) && lower.split_whitespace().any(is_year);
    let has_load = ["load average:", "load averages:"].iter().any(|label| lower.contains(label));
    let is_tail = lower.starts_with('(') && (lower.ends_with(" rows)") || lower.ends_with(" row)"));
    is_phone || is_marked || is_now || is_tail || has_load || ["+1", "-1"].contains(&&*lower)
}

/// Whether words tell that a line with few numbers is a sentence: a pronoun, or a verb.
pub(super) fn is_told(text: &str) -> bool {
    const SUBJECTS: &str = " we you they it then there see ";
    const VERBS: &str = " was were is are has have had did does will would means took takes ran got saw used ";
    let parts = pieces(text, 0);
    let numbers = parts.iter().filter(|word| is_number(word)).count();
    let pairs = parts.windows(2).filter(|pair| is_figure(&pair[0]) && is_number(&pair[1])).count();
    let is_unit = |word: &Word<'_>| dimension(word.text.trim_matches(BRACKETS)).is_some();
    let content = parts.iter().filter(|word| !is_number(word) && !is_figure(word) && !is_unit(word));
    let content: Vec<String> = content.map(|word| word.text.trim_matches(BRACKETS).to_lowercase()).collect();
    let has = |list: &str| content.iter().any(|word| list.contains(&format!(" {word} ")));
    let is_closed = content.len() > 3 && text.ends_with('.');
    let is_sentence = has(SUBJECTS) || text.starts_with("I ") || (content.len() > 2 && has(VERBS)) || is_closed;
    let is_figured = text.contains([':', '=']) || pairs > 1;
    is_sentence && !is_figured && content.len() > 1 && numbers <= content.len()
}

fn is_number(word: &Word<'_>) -> bool {
    number_in(word.text).is_some()
}

fn is_figure(word: &Word<'_>) -> bool {
    column(word.text).is_some_and(|(column, _)| column.is_figure())
}

/// A day, such as `2010-05-31`: three numbers, one of them a year.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.trim_matches(BRACKETS).split(['-', '/', '.']).collect();
    let are_numbers = parts.iter().all(|part| part.parse::<u16>().is_ok() && [1, 2, 4].contains(&part.len()));
    parts.len() == 3 && are_numbers && parts.iter().filter(|part| part.len() == 4).count() == 1
}

/// The shape of a line.
pub(super) fn shape(text: &str) -> Shape {
    if is_prose(text) {
        return Shape::default();
    }
    let parts = pieces(text, 0);
    let written: Vec<Option<Written>> =
        parts.iter().map(|word| number_in(word.text).filter(|_| !is_date(word.text))).collect();
    let is_word = |at: &usize| written[*at].is_none() && parts[*at].text.chars().any(char::is_alphabetic);
    let numbers = written.iter().flatten().count();
    let found = (0..parts.len()).filter(is_word).count();
    let unit_last = parts.last().is_some_and(|word| is_timed(word.text) || dimension(word.text).is_some());
    let last = parts.len().saturating_sub(1 + usize::from(unit_last && parts.len() > 1));
    let end = written.get(last).copied().flatten();
    let is_timed =
        end.is_some_and(|end| end.is_timed) || (end.is_some() && parts.last().is_some_and(|unit| is_timed(unit.text)));
    let after_sign = parts.get(last).is_some_and(|word| text[..word.start].trim_end().ends_with([':', '=']));
    let needs_words = if end.is_some() { 6 } else { 3 };
    let is_version = text.to_lowercase().contains("version");
    let is_label = last <= 4 && !is_version && (after_sign || !text.contains([':', '=']));
    // `old: 5.2 s on average` is a line of figures.
    let label = text.find(':').and_then(|at| parts.iter().position(|word| word.start > at)).filter(|at| *at < 4);
    let is_time =
        |pair: &[Word<'_>]| number_in(pair[0].text).is_some_and(|n| n.is_timed || self::is_timed(pair[1].text));
    let is_labelled = found < 6 && label.is_some_and(|at| parts[at..].windows(2).take(2).any(is_time));
    let pairs = (1..parts.len()).filter(|at| names_figure(parts[at - 1].text) && written[*at].is_some()).count();
    let plus_minus = ["±", "+-", "+/-"].iter().any(|sign| text.contains(sign));
    Shape {
        numbers,
        words: found,
        is_sentence: is_told(text) || (!is_labelled && found >= needs_words && 2 * numbers <= found && pairs < 2),
        is_value: end.is_some() && after_sign,
        is_entry: numbers > found
            || is_labelled
            || end.is_some_and(|end| is_label && (is_timed || !end.is_whole || end.is_marked)),
        is_timed,
        names_figure: numbers > 0 && (plus_minus || parts.iter().any(|word| names_figure(word.text))),
    }
}

/// Names of what is measured of a process, by `time` of the BSDs and of GNU, getrusage(2) and perf.
const RESOURCES: &str = "real|user|sys|system|wall|elapsed|cpu|maxrss|ixrss|idrss|isrss|minflt|majflt|nswap|inblock|oublock|msgsnd|\
    msgrcv|nsignals|nvcsw|nivcsw|utime|stime|rss|vsz|swaps|page reclaims|page faults|minor page faults|\
    major page faults|maximum resident set size|average shared memory size|average shared text size|\
    average unshared data size|average unshared stack size|integral shared memory size|\
    integral unshared data size|integral unshared stack size|block input operations|block output operations|\
    messages sent|messages received|signals received|context switches|voluntary context switches|\
    involuntary context switches|task clock|cpu migrations|cycles|instructions|branches|branch misses|cache misses|\
    cache references|max rss|peak rss|wall clock|user cpu|system cpu|sys cpu|cpu user|cpu system";

/// Whether a name is that of a resource, perhaps with its unit: what was measured, and not of what.
pub(super) fn is_resource(name: &str) -> bool {
    let name = without_unit(name).0.to_lowercase().replace(['_', '-'], " ");
    let name = name.trim_matches([' ', ':', '`', '*']);
    let name = name.strip_prefix("ru ").unwrap_or(name);
    let unit = name.rsplit_once([' ', ',']).filter(|(_, unit)| dimension(&spelled(unit)).is_some());
    let name = unit.map_or(name, |(bare, _)| bare.trim_end_matches(','));
    let name = name.strip_suffix(" time").unwrap_or(name);
    RESOURCES.split('|').any(|known| known == name)
}

/// A unit's dimension, that of a rate among them; none if it is not known. Two units of one dimension are of the same quantity.
pub(super) fn dimension(unit: &str) -> Option<&'static str> {
    Some(match unit {
        rate if rate.len() < 12 && rate.ends_with("/s") => dimension(&rate[..rate.len() - 2]).map(|_| "rate")?,
        "ns" | "us" | "µs" | "μs" | "ms" | "s" | "min" | "h" => "time",
        "B" | "kb" | "kB" | "KB" | "KiB" | "MB" | "MiB" | "GB" | "GiB" | "bytes" => "size",
        _ => return None,
    })
}

/// Whether a unit is that of a rate, such as `ops/us` and `MB/s`: more is better.
pub(crate) fn is_rate(unit: &str) -> bool {
    let per = |(what, time): (&str, &str)| dimension(&spelled(time)) == Some("time") && dimension(what) != Some("time");
    let is_short = |rate: &&str| unit.eq_ignore_ascii_case(rate);
    unit.rsplit_once('/').is_some_and(per) || ["fps", "rps", "qps", "tps", "iops", "Mbps", "Gbps"].iter().any(is_short)
}

/// Whether a word names a figure that is not read, such as `total`, `p99` and `cv`.
pub(super) fn is_other_figure(word: &str) -> bool {
    let word = word.trim_matches(BRACKETS).to_lowercase();
    let is_quantile = word.strip_prefix(['p', 'q']).is_some_and(|rank| rank.parse::<f64>().is_ok());
    is_quantile || ["total", "sum", "time", "score", "cv", "iqr", "se", "var", "rms", "took"].contains(&word.as_str())
}

/// One spelling for each unit.
pub(super) fn spelled(unit: &str) -> String {
    match unit.trim() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
        "usec" | "usecs" | "microsecond" | "microseconds" => "us",
        "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => "ns",
        "minute" | "minutes" => "min",
        "byte" => "bytes",
        other => other,
    }
    .to_owned()
}
