//! The format of `go test -bench` and of every tool that writes it: lines `BenchmarkName N value unit value unit …`,
//! between them `key: value` lines that hold for what follows, and `Unit` lines, which hold for all files. Read as
//! golang.org/x/perf's `benchfmt` does: all other lines are another program's output, and skipped. What begins like a
//! line of values but is none is noted or refused, never skipped in silence. Units are made base units: `ns/op` becomes
//! `sec/op`.

use super::columns::shown;
use super::keys::Keys;
use super::origin::{Error, LINE_MAX, Origin};
use super::{Better, Gathered, Options, columns, lines};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

/// What begins the line of a value.
const PREFIX: &str = "Benchmark";
/// What begins the line of one that failed.
const FAILED: &str = "--- FAIL: Benchmark";
/// Of the lines that do not count, at most this many numbers are written out.
const TOLD_MAX: usize = 10;

/// Whether a line is one that hardly anything but this format has.
pub(super) fn is_likely(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    if !line.starts_with(first) {
        return false;
    }
    match first.strip_prefix(PREFIX.as_bytes()) {
        Some(name) => {
            let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
            name.first().is_some_and(|first| !first.is_ascii_lowercase()) || words.next().is_some_and(is_number)
        }
        None => first == b"Unit" && words.any(|word| word.contains(&b'=')),
    }
}

/// A name, the settings of the file where it stands, and a unit.
struct GoLabels<'a> {
    name: &'a str,
    file: &'a str,
    settings: &'a BTreeMap<String, String>,
    unit: &'a str,
    unit_as_written: &'a str,
}

impl GoLabels<'_> {
    /// The name's parts: what stands before the first `/`, and the others; the number of processors is one of them.
    fn parts(&self) -> (&str, impl Iterator<Item = &str>, Option<&str>) {
        let (name, processors) = match self.name.rsplit_once('-') {
            Some((name, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                (name, Some(digits))
            }
            _ => (self.name, None),
        };
        let mut parts = name.split('/');
        (parts.next().unwrap_or_default(), parts, processors)
    }
}

impl Keys for GoLabels<'_> {
    fn get<'a>(&'a self, key: &str, without: &[&str]) -> Cow<'a, str> {
        let (base, mut parts, processors) = self.parts();
        let named = |part: &&str, key: &str| part.split_once('=').is_some_and(|(name, _)| key.get(1..) == Some(name));
        let mut part = |key: &str| {
            let part = parts.find(|part| named(part, key)).and_then(|part| part.split_once('='));
            Cow::Borrowed(part.map_or("", |(_, value)| value))
        };
        match key {
            ".name" => Cow::Borrowed(base),
            ".fullname" if !without.iter().any(|key| *key == ".name" || key.starts_with('/')) => {
                Cow::Borrowed(self.name)
            }
            ".fullname" => {
                let base = if without.contains(&".name") { "*" } else { base };
                let kept = parts.filter(|part| !without.iter().any(|key| key.starts_with('/') && named(part, key)));
                let mut full = kept.fold(base.to_owned(), |full, part| format!("{full}/{part}"));
                if let Some(processors) = processors.filter(|_| !without.contains(&"/gomaxprocs")) {
                    full += &format!("-{processors}");
                }
                Cow::Owned(full)
            }
            ".unit" => Cow::Borrowed(self.unit),
            // So that a filter may name the unit as the file does.
            "unit as written" => Cow::Borrowed(self.unit_as_written),
            ".file" => Cow::Borrowed(self.file),
            "/gomaxprocs" => processors.map_or_else(|| part(key), Cow::Borrowed),
            key if key.starts_with('/') => part(key),
            key => self.settings.get(key).map_or(Cow::Borrowed(""), |value| Cow::Borrowed(value.as_str())),
        }
    }

    fn settings(&self) -> Option<&BTreeMap<String, String>> {
        Some(self.settings)
    }
}

/// A unit in base units, and the factor that leads there. Whole units of time are converted, and as in `benchfmt` every
/// `ns` and `MB` above the line.
fn tidy(unit: &str) -> (Cow<'_, str>, f64) {
    let (numerator, rest) = unit.find('/').map_or((unit, ""), |at| unit.split_at(at));
    let (end, factor) = match numerator {
        "ns" => ("sec", 1e-9),
        "µs" | "us" => ("sec", 1e-6),
        "ms" => ("sec", 1e-3),
        "s" => ("sec", 1.0),
        "MB" => ("B", 1e6),
        _ if unit.contains("ns") || unit.contains("MB") => return tidy_tokens(unit),
        _ => return (Cow::Borrowed(unit), 1.0),
    };
    (Cow::Owned(format!("{end}{rest}")), factor)
}

/// The same for a unit of several tokens with `-`, `*`, `/` or blanks between; after `/` they are below the line.
fn tidy_tokens(unit: &str) -> (Cow<'_, str>, f64) {
    let (mut tidied, mut factor, mut below) = (String::new(), 1.0, false);
    for piece in unit.split_inclusive(|c: char| matches!(c, '*' | '/' | '-') || c.is_whitespace()) {
        let token = piece.trim_end_matches(|c: char| matches!(c, '*' | '/' | '-') || c.is_whitespace());
        let separator = &piece[token.len()..];
        let (base, size) = match token {
            "ns" if !below => ("sec", 1e-9),
            "MB" if !below => ("B", 1e6),
            token => (token, 1.0),
        };
        factor *= size;
        tidied += base;
        tidied += separator;
        below = match separator {
            "/" => true,
            "*" => false,
            _ => below,
        };
    }
    (Cow::Owned(tidied), factor)
}

/// Which direction is better: of rates more, of everything else less, if no file says.
fn better(unit: &str) -> Better {
    if unit.ends_with("/s") || unit.ends_with("/sec") { Better::More } else { Better::Less }
}

/// What surrounds a line.
struct Around<'a> {
    origin: &'a Origin<'a>,
    options: &'a Options,
    settings: &'a BTreeMap<String, String>,
}

impl Around<'_> {
    /// Where the values of a name in a unit belong.
    fn unit(&self, name: &str, unit_as_written: &str, gathered: &mut Gathered) -> KnownUnit {
        let (unit, factor) = tidy(unit_as_written);
        let place = GoLabels { name, file: self.origin.label, settings: self.settings, unit: &unit, unit_as_written };
        let wanted = self.options.wants(&place);
        let sample = wanted.then(|| gathered.place(self.options, &place, &unit, better(&unit)));
        KnownUnit { as_written: unit_as_written.to_owned(), factor, sample }
    }
}

/// What was found out about the last line, as the next one is mostly like it.
#[derive(Default)]
struct LastLine {
    name: String,
    units: Vec<KnownUnit>,
}

struct KnownUnit {
    as_written: String,
    factor: f64,
    /// None if it is not wanted.
    sample: Option<usize>,
}

/// Lines that begin like values and have none.
#[derive(Default)]
struct Odd {
    numbers: Vec<u64>,
    count: usize,
    first: String,
}

impl Odd {
    fn add(&mut self, number: u64, what: String) {
        self.count += 1;
        if self.numbers.len() < TOLD_MAX {
            self.numbers.push(number);
        }
        if self.first.is_empty() {
            self.first = what;
        }
    }

    /// The note on all of them.
    fn note(&self, origin: &Origin<'_>) -> Option<String> {
        let (first, others) = self.numbers.split_first()?;
        let mut note = format!("{}:{first}: {}; this line is ignored", origin.name, self.first);
        if !others.is_empty() {
            let lines: Vec<String> = others.iter().map(u64::to_string).collect();
            let are = if self.count == 2 { "is line" } else { "are lines" };
            note += &format!("; so {are} {}", lines.join(", "));
        }
        match self.count - self.numbers.len() {
            0 => {}
            more => note += &format!(" and {more} more"),
        }
        Some(note)
    }
}

pub(super) fn read(
    reader: &mut dyn BufRead,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let mut known = LastLine::default();
    let mut odd = Odd::default();
    let mut number = 0;
    let read = lines::each(reader, LINE_MAX, |line| {
        number += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(PREFIX.as_bytes()) {
            let Ok(text) = std::str::from_utf8(line) else {
                return Err(origin.error(number, "the line is not UTF-8 text", ""));
            };
            let around = Around { origin, options, settings: &settings };
            if let Some(what) = take(text, number, &around, &mut known, gathered)? {
                odd.add(number, what);
            }
            return Ok(());
        }
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        if text.starts_with("Unit") && words.next() == Some("Unit") {
            declare(words, &format!("{}:{number}", origin.name), gathered);
        } else if let Some(name) = text.strip_prefix(FAILED).and_then(|rest| rest.split_whitespace().next()) {
            gathered.failed.push((name.to_owned(), "it failed".to_owned()));
        } else if let Some((key, value)) = setting(&text) {
            match value {
                "" => settings.remove(key),
                value => settings.insert(key.to_owned(), value.to_owned()),
            };
            known = LastLine::default();
        }
        Ok(())
    });
    gathered.notes.extend(odd.note(origin));
    origin.outcome(read)
}

/// Takes what a line says of a unit; what it does not understand becomes a note.
fn declare<'a>(mut words: impl Iterator<Item = &'a str>, place: &str, gathered: &mut Gathered) {
    let Some(unit) = words.next() else {
        gathered.notes.push(format!("{place}: no unit after the word Unit; this line is ignored"));
        return;
    };
    let (tidied, _) = tidy(unit);
    for word in words {
        let pair = word.split_once('=').filter(|(key, _)| !key.is_empty());
        match pair {
            Some((key @ "better", value @ ("higher" | "lower")) | (key @ "assume", value @ ("exact" | "nothing"))) => {
                gathered.declare(&tidied, key, value, place.to_owned());
            }
            // Any other key may mean something to somebody.
            Some((key, _)) if !["better", "assume"].contains(&key) => {}
            _ => {
                let word = shown(word.as_bytes());
                let known = "use better=higher, better=lower, assume=exact or assume=nothing";
                gathered.notes.push(format!("{place}: unknown unit setting {word}; {known}"));
            }
        }
    }
}

/// The key and value of a line `key: value`: a lower-case key without blanks and capitals, and a blank after the colon.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(char::is_lowercase) && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let trimmed = value.trim_start_matches([' ', '\t']);
    (is_key && (value.is_empty() || trimmed.len() < value.len())).then_some((key, trimmed))
}

/// Takes the values of one line, or says why it has none. A name alone announces what another line will say. Where no
/// count follows the name, another program may have written into the line; a line with a count that is broken after it
/// has lost a value, and that is an error.
fn take(
    text: &str,
    number: u64,
    around: &Around<'_>,
    known: &mut LastLine,
    gathered: &mut Gathered,
) -> Result<Option<String>, Error> {
    let body = &text[PREFIX.len()..];
    let name = body.split(char::is_whitespace).next().unwrap_or_default();
    if name.len() == body.len() {
        return Ok(None);
    }
    let mut words = body[name.len()..].split_whitespace();
    let as_written = || shown(&text.as_bytes()[..PREFIX.len() + name.len()]);
    match words.next() {
        None => return Ok(Some(format!("the number of runs after {} is missing", as_written()))),
        Some(count) if count.parse::<i64>().is_err() => {
            return Ok(Some(format!("{} is not a valid number of runs for {}", shown(count.as_bytes()), as_written())));
        }
        Some(_) => {}
    }
    let origin = around.origin;
    if known.name != name {
        *known = LastLine { name: name.to_owned(), units: vec![] };
    }
    let mut column = 0;
    while let Some(word) = words.next() {
        let Some(unit_as_written) = words.next() else {
            let remedy = "write the name, the number of runs, and each value with its unit: `BenchmarkX 1 123 ns/op`";
            return Err(origin.error(number, &format!("the value {} has no unit", shown(word.as_bytes())), remedy));
        };
        let measured = columns::value(word.as_bytes(), origin, number, &mut gathered.rounded)?;
        if known.units.get(column).is_none_or(|known| known.as_written != unit_as_written) {
            known.units.truncate(column);
            known.units.push(around.unit(name, unit_as_written, gathered));
        }
        let KnownUnit { factor, sample, .. } = known.units[column];
        column += 1;
        if let Some(sample) = sample {
            gathered.samples[sample].values.push(columns::in_base(measured, factor));
        }
    }
    if column > 0 {
        Ok(None)
    } else {
        Err(origin.error(
            number,
            "the line has no values",
            "the line ends after the number of runs; check whether the file is complete",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_become_base_units() {
        let check = |unit: &str, expect: &str, factor: f64| {
            assert_eq!(tidy(unit), (Cow::Borrowed(expect), factor), "{unit}");
        };
        check("ns/op", "sec/op", 1e-9);
        check("MB/s", "B/s", 1e6);
        check("B/op", "B/op", 1.0);
        check("p99-ns", "p99-sec", 1e-9);
        check("p99-ns/op", "p99-sec/op", 1e-9);
        check("allocs/op", "allocs/op", 1.0);
        check("x-MB/ns", "x-B/ns", 1e6);
        check("B/ns*MB", "B/ns*B", 1e6);
        check("answers", "answers", 1.0);
    }

    #[test]
    fn keys_of_a_name() {
        let settings = BTreeMap::from([("goos".to_owned(), "linux".to_owned())]);
        let place = GoLabels {
            name: "Sort/n=10/alg=q-8",
            file: "f",
            settings: &settings,
            unit: "sec/op",
            unit_as_written: "ns/op",
        };
        let check = |key: &str, without: &[&str], expect: &str| {
            assert_eq!(place.get(key, without), expect, "{key}");
        };
        check(".name", &[], "Sort");
        check(".fullname", &[], "Sort/n=10/alg=q-8");
        check(".fullname", &["/n"], "Sort/alg=q-8");
        check(".fullname", &["/n", "/alg", "/gomaxprocs"], "Sort");
        check(".fullname", &[".name", "/alg"], "*/n=10-8");
        check("/n", &[], "10");
        check("/alg", &[], "q");
        check("/gomaxprocs", &[], "8");
        check("/none", &[], "");
        check("goos", &[], "linux");
        check("pkg", &[], "");
    }

    #[test]
    fn settings_are_lines_with_a_key() {
        let check = |line: &str, expect: Option<(&str, &str)>| assert_eq!(setting(line), expect, "{line}");
        check("goos: linux", Some(("goos", "linux")));
        check("note:\t two words ", Some(("note", "two words ")));
        check("note:", Some(("note", "")));
        check("http://example.org", None);
        check("Note: x", None);
        check("a note: x", None);
        check("nOte: x", None);
    }
}
