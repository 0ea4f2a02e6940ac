//! The format of `go test -bench` and of every tool that writes it: lines `BenchmarkName N value unit value unit …`,
//! between them `key: value` lines that hold for what follows, and `Unit` lines. Read as golang.org/x/perf's `benchfmt`
//! does: all other lines are another program's output, and skipped. Units are made base units: `ns/op` becomes `sec/op`.

use super::keys::Keys;
use super::{Better, Error, Gathered, LINE_MAX, Options, Origin, columns, lines};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

/// What begins the line of a value.
pub(super) const PREFIX: &[u8] = b"Benchmark";

/// A name, the settings of the file where it stands, and a unit.
struct Place<'a> {
    name: &'a str,
    file: &'a str,
    settings: &'a BTreeMap<String, String>,
    unit: &'a str,
    unit_as_written: &'a str,
}

impl Place<'_> {
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

impl Keys for Place<'_> {
    fn get<'a>(&'a self, key: &str, without: &[String]) -> Cow<'a, str> {
        let (base, parts, processors) = self.parts();
        let named = |part: &&str, key: &str| part.split_once('=').is_some_and(|(name, _)| key.get(1..) == Some(name));
        match key {
            ".name" => Cow::Borrowed(base),
            ".fullname" if without.is_empty() => Cow::Borrowed(self.name),
            ".fullname" => {
                let kept = parts.filter(|part| !without.iter().any(|key| named(part, key)));
                let mut full = kept.fold(base.to_owned(), |full, part| format!("{full}/{part}"));
                if let Some(processors) = processors.filter(|_| !without.iter().any(|key| key == "/gomaxprocs")) {
                    full += &format!("-{processors}");
                }
                Cow::Owned(full)
            }
            ".unit" => Cow::Borrowed(self.unit),
            // So that a filter may name the unit as the file does.
            "unit as written" => Cow::Borrowed(self.unit_as_written),
            ".file" => Cow::Borrowed(self.file),
            "/gomaxprocs" => Cow::Borrowed(processors.unwrap_or_default()),
            key if key.starts_with('/') => {
                let mut parts = parts;
                let part = parts.find(|part| named(part, key)).and_then(|part| part.split_once('='));
                Cow::Borrowed(part.map_or("", |(_, value)| value))
            }
            key => self.settings.get(key).map_or(Cow::Borrowed(""), |value| Cow::Borrowed(value.as_str())),
        }
    }
}

/// A unit in base units, and the factor that leads there.
fn tidy(unit: &str) -> (Cow<'_, str>, f64) {
    let (numerator, rest) = unit.split_once('/').map_or((unit, String::new()), |(n, d)| (n, format!("/{d}")));
    let (end, factor) = match numerator {
        "ns" => ("sec", 1e-9),
        "µs" | "us" => ("sec", 1e-6),
        "ms" => ("sec", 1e-3),
        "s" => ("sec", 1.0),
        "MB" => ("B", 1e6),
        _ => match numerator.strip_suffix("-ns") {
            Some(what) => return (Cow::Owned(format!("{what}-sec{rest}")), 1e-9),
            None => return (Cow::Borrowed(unit), 1.0),
        },
    };
    (Cow::Owned(format!("{end}{rest}")), factor)
}

/// Which direction is better: of rates more, of everything else less, if the file does not say.
fn better(unit: &str, said: &BTreeMap<String, Better>) -> Better {
    let rate = unit.ends_with("/s") || unit.ends_with("/sec");
    said.get(unit).copied().unwrap_or(if rate { Better::More } else { Better::Less })
}

/// What surrounds a line.
struct Around<'a> {
    origin: &'a Origin<'a>,
    options: &'a Options,
    settings: &'a BTreeMap<String, String>,
    said: &'a BTreeMap<String, Better>,
}

impl Around<'_> {
    /// Where the values of a name in a unit belong.
    fn unit(&self, name: &str, unit_as_written: &str, gathered: &mut Gathered) -> KnownUnit {
        let (unit, factor) = tidy(unit_as_written);
        let place = Place { name, file: self.origin.label, settings: self.settings, unit: &unit, unit_as_written };
        let sample =
            self.options.wants(&place).then(|| gathered.place(self.options, &place, &unit, better(&unit, self.said)));
        KnownUnit { as_written: unit_as_written.to_owned(), factor, sample }
    }
}

/// What was found out about the last line, as the next one is mostly like it.
#[derive(Default)]
struct Known {
    name: String,
    units: Vec<KnownUnit>,
}

struct KnownUnit {
    as_written: String,
    factor: f64,
    /// None if it is not wanted.
    sample: Option<usize>,
}

/// Reads one file into what has been gathered.
pub(super) fn read(
    reader: &mut dyn BufRead,
    origin: &Origin<'_>,
    options: &Options,
    gathered: &mut Gathered,
) -> Result<(), Error> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let mut said: BTreeMap<String, Better> = BTreeMap::new();
    let mut known = Known::default();
    let mut number = 0;
    let read = lines::each(reader, LINE_MAX, |line| {
        number += 1;
        let line = line.trim_ascii_end();
        if line.starts_with(PREFIX) {
            let Ok(text) = std::str::from_utf8(line) else {
                return Err(origin.error(number, "the line is not text in UTF-8", ""));
            };
            let around = Around { origin, options, settings: &settings, said: &said };
            return take(text, number, &around, &mut known, gathered);
        }
        let Ok(text) = std::str::from_utf8(line) else { return Ok(()) };
        if let Some(rest) = text.strip_prefix("Unit ") {
            let mut words = rest.split_whitespace();
            if let Some(unit) = words.next() {
                for word in words {
                    let direction = match word {
                        "better=higher" => Better::More,
                        "better=lower" => Better::Less,
                        _ => continue,
                    };
                    said.insert(tidy(unit).0.into_owned(), direction);
                    known = Known::default();
                }
            }
        } else if let Some((key, value)) = text.split_once(':').filter(|(key, _)| is_setting(key)) {
            settings.insert(key.to_owned(), value.trim().to_owned());
            known = Known::default();
        }
        Ok(())
    });
    origin.outcome(read)
}

/// A key begins in lower case and has no blanks and no capitals.
fn is_setting(key: &str) -> bool {
    key.starts_with(char::is_lowercase) && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase())
}

/// Takes the values of one line. A line that has the prefix but no number after it is the announcement of a name that
/// another line will follow, or a log line; neither has a value to lose.
fn take(text: &str, number: u64, around: &Around<'_>, known: &mut Known, gathered: &mut Gathered) -> Result<(), Error> {
    let mut words = text.split_ascii_whitespace();
    let name = words.next().and_then(|name| name.strip_prefix("Benchmark")).unwrap_or_default();
    if name.starts_with(char::is_lowercase) || words.next().is_none_or(|count| count.parse::<u64>().is_err()) {
        return Ok(());
    }
    let origin = around.origin;
    if known.name != name {
        *known = Known { name: name.to_owned(), units: vec![] };
    }
    let mut column = 0;
    while let Some(word) = words.next() {
        let Some(unit_as_written) = words.next() else {
            let remedy = "after the name and a count, each value needs its unit: `BenchmarkX 1 123 ns/op`";
            return Err(origin.error(number, &format!("the value `{word}` has no unit"), remedy));
        };
        let measured = columns::value(word.as_bytes(), origin, number, &mut gathered.rounded)?;
        if known.units.get(column).is_none_or(|known| known.as_written != unit_as_written) {
            known.units.truncate(column);
            known.units.push(around.unit(name, unit_as_written, gathered));
        }
        let KnownUnit { factor, sample, .. } = known.units[column];
        column += 1;
        if let Some(sample) = sample {
            // Dividing by a power of ten is exact where multiplying by its inverse is not.
            let value = if factor < 1.0 { measured / (1.0 / factor).round() } else { measured * factor };
            gathered.samples[sample].values.push(value);
        }
    }
    if column > 0 {
        Ok(())
    } else {
        Err(origin.error(number, "there is no value", "the line ends after the count; was it cut off?"))
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
    }

    #[test]
    fn keys_of_a_name() {
        let settings = BTreeMap::from([("goos".to_owned(), "linux".to_owned())]);
        let place = Place {
            name: "Sort/n=10/alg=q-8",
            file: "f",
            settings: &settings,
            unit: "sec/op",
            unit_as_written: "ns/op",
        };
        let check = |key: &str, without: &[&str], expect: &str| {
            let without: Vec<String> = without.iter().map(|part| (*part).to_owned()).collect();
            assert_eq!(place.get(key, &without), expect, "{key}");
        };
        check(".name", &[], "Sort");
        check(".fullname", &[], "Sort/n=10/alg=q-8");
        check(".fullname", &["/n"], "Sort/alg=q-8");
        check(".fullname", &["/n", "/alg", "/gomaxprocs"], "Sort");
        check("/n", &[], "10");
        check("/alg", &[], "q");
        check("/gomaxprocs", &[], "8");
        check("/none", &[], "");
        check("goos", &[], "linux");
        check("pkg", &[], "");
    }
}
