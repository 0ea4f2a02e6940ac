//! One table of a study file while it is being read: typed look-ups that report what is wrong at its place, and at
//! the end every key that nobody asked for. It knows TOML and spans, and nothing about studies.

use crate::problem::{Problem, suggest};
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where problems are collected.
#[derive(Default)]
pub(super) struct Sink(RefCell<Vec<Problem>>);

impl Sink {
    pub(super) fn report(&self, span: Range<usize>, message: &str, label: &str, remedy: &str) {
        let (message, label, remedy) = (message.to_owned(), label.to_owned(), remedy.to_owned());
        self.0.borrow_mut().push(Problem { span, message, label, remedy });
    }

    /// Refuses something that the format knows and this version does not execute.
    pub(super) fn not_yet(&self, span: Range<usize>, what: &str) {
        let message = format!("{what}: not yet supported by this version");
        self.report(span, &message, "not yet", "leave it out for now; it will not be ignored silently");
    }

    pub(super) fn into_list(self) -> Vec<Problem> {
        self.0.into_inner()
    }
}

/// A table, the name it has in messages, and the keys that were asked for.
pub(super) struct Section<'a> {
    /// Its own key, for a table within a table of tables.
    pub(super) name: String,
    /// How messages call it, such as `[plan]`.
    title: String,
    /// Where it is named in the file.
    pub(super) span: Range<usize>,
    table: &'a DeTable<'a>,
    asked: RefCell<Vec<&'static str>>,
    pub(super) sink: &'a Sink,
}

/// A value with its place.
pub(super) type Placed<T> = Option<(T, Range<usize>)>;

impl<'a> Section<'a> {
    pub(super) fn new(title: &str, table: &'a DeTable<'a>, span: Range<usize>, sink: &'a Sink) -> Self {
        let name = String::new();
        Self { name, title: title.to_owned(), span, table, asked: RefCell::default(), sink }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The keys with their places, in the order of the file; for tables whose keys are names.
    pub(super) fn entries(&self) -> Vec<(&'a str, Range<usize>, &'a Spanned<DeValue<'a>>)> {
        let mut entries: Vec<_> = self.table.iter().map(|(k, v)| (k.get_ref().as_ref(), k.span(), v)).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    fn ask(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.asked.borrow_mut().push(key);
        self.table.get(key)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let message = format!("`{key}` of {} must be {wanted}", self.title);
        let remedy = match wanted {
            "text in quotes" => format!("for example `{key} = \"…\"`"),
            "a whole number" | "a number" => "write it without quotes".to_owned(),
            "a list of texts" => format!("for example `{key} = [\"…\"]`"),
            _ => "docs/study-file.md shows where it stands".to_owned(),
        };
        self.sink.report(value.span(), &message, &format!("this is {}", kind(value.get_ref())), &remedy);
    }

    fn missing(&self, key: &str, remedy: &str) {
        self.sink.report(self.span.clone(), &format!("{} has no `{key}`", self.title), "", remedy);
    }

    pub(super) fn string(&self, key: &'static str) -> Placed<String> {
        let value = self.ask(key)?;
        match value.get_ref().as_str() {
            Some(text) if text.trim().is_empty() => {
                let message = format!("`{key}` of {} is empty", self.title);
                self.sink.report(value.span(), &message, "", "write something, or leave the key out");
                None
            }
            Some(text) => Some((text.to_owned(), value.span())),
            None => {
                self.wrong_type(key, value, "text in quotes");
                None
            }
        }
    }

    pub(super) fn required_string(&self, key: &'static str, remedy: &str) -> Placed<String> {
        if !self.has(key) {
            self.missing(key, remedy);
        }
        self.string(key)
    }

    pub(super) fn integer(&self, key: &'static str) -> Placed<i64> {
        let value = self.ask(key)?;
        let number = value.get_ref().as_integer().and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok());
        if number.is_none() {
            self.wrong_type(key, value, "a whole number");
        }
        Some((number?, value.span()))
    }

    pub(super) fn required_integer(&self, key: &'static str, remedy: &str) -> Placed<i64> {
        if !self.has(key) {
            self.missing(key, remedy);
        }
        self.integer(key)
    }

    pub(super) fn float(&self, key: &'static str) -> Placed<f64> {
        let value = self.ask(key)?;
        let number = match value.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong_type(key, value, "a number");
        }
        Some((number?, value.span()))
    }

    /// A duration such as `"90 s"` or `"2 min"`, in seconds.
    pub(super) fn duration(&self, key: &'static str) -> Option<f64> {
        let (text, span) = self.string(key)?;
        let seconds = duration_s(&text);
        if seconds.is_none() {
            let message = format!("`{key}` of {}: {text:?} is no duration", self.title);
            self.sink.report(span, &message, "", "a number and a unit: ms, s, min or h, such as \"90 s\"");
        }
        seconds
    }

    /// A list of texts; an absent key is an empty list.
    pub(super) fn strings(&self, key: &'static str) -> Vec<(String, Range<usize>)> {
        let Some(value) = self.ask(key) else { return vec![] };
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(key, value, "a list of texts");
            return vec![];
        };
        let mut list = vec![];
        for item in array.iter() {
            match item.get_ref().as_str() {
                Some(text) => list.push((text.to_owned(), item.span())),
                None => self.wrong_type(key, item, "a list of texts"),
            }
        }
        list
    }

    /// A value of several possible types, with its place.
    pub(super) fn any(&self, key: &'static str) -> Placed<&'a DeValue<'a>> {
        self.ask(key).map(|value| (value.get_ref(), value.span()))
    }

    /// A table.
    pub(super) fn section(&self, key: &'static str) -> Option<Section<'a>> {
        let value = self.ask(key)?;
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(key, value, "a table");
            return None;
        };
        let span = self.table.get_key_value(key).map_or(value.span(), |(k, _)| k.span());
        let title = if self.title == "the study" { format!("[{key}]") } else { format!("`{key}`") };
        Some(Section::new(&title, table, span, self.sink))
    }

    /// A table of named tables, `[key.NAME]`; the names are checked.
    pub(super) fn named_sections(&self, key: &'static str) -> Vec<Section<'a>> {
        let Some(outer) = self.section(key) else { return vec![] };
        let mut sections = vec![];
        for (name, span, value) in outer.entries() {
            check_name(self.sink, name, span.clone(), "a name");
            match value.get_ref().as_table() {
                Some(table) => {
                    let mut section = Section::new(&format!("[{key}.{name}]"), table, span, self.sink);
                    section.name = name.to_owned();
                    sections.push(section);
                }
                None => outer.wrong_type(name, value, "a table"),
            }
        }
        sections
    }

    /// A list of tables, `[[key]]`.
    pub(super) fn section_list(&self, key: &'static str) -> Vec<Section<'a>> {
        let Some(value) = self.ask(key) else { return vec![] };
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(key, value, &format!("a list of tables; write `[[{key}]]`"));
            return vec![];
        };
        let mut sections = vec![];
        for item in array.iter() {
            match item.get_ref().as_table() {
                Some(table) => {
                    sections.push(Section::new(&format!("[[{key}]]"), table, item.span(), self.sink));
                }
                None => self.wrong_type(key, item, "a table"),
            }
        }
        sections
    }

    /// Refuses a key that this version does not execute, if it is there.
    pub(super) fn not_yet(&self, key: &'static str, what: &str) {
        self.asked.borrow_mut().push(key);
        if let Some((found, _)) = self.table.get_key_value(key) {
            self.sink.not_yet(found.span(), what);
        }
    }

    /// Reports every key that nobody asked for.
    pub(super) fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, span, _) in self.entries() {
            if !asked.contains(&key) {
                let remedy = suggest(key, asked.iter().copied());
                self.sink.report(span, &format!("{} has no key `{key}`", self.title), "unknown key", &remedy);
            }
        }
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Names become parts of file names, of `factor=level` and of metrics, so they are kept plain.
pub(super) fn check_name(sink: &Sink, name: &str, span: Range<usize>, what: &str) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts || !name.chars().all(plain) || name == crate::record::TWIN || name == crate::plan::BASELINE {
        let remedy =
            "letters, digits, `_`, `-` and `+`, beginning with a letter or digit; `twin` and `baseline` are taken";
        sink.report(span, &format!("{what} must be plain: {name:?}"), "", remedy);
    }
}

/// Files of a study are named relative to its folder and lie inside it.
pub(super) fn check_inside(sink: &Sink, path: &str, span: Range<usize>) {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        let remedy = "name a file inside the study's folder, relative to it";
        sink.report(span, &format!("{path:?} leaves the study's folder"), "", remedy);
    }
}

fn duration_s(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..at].trim().parse().ok()?;
    let unit_s = match &text[at..] {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    (number > 0.0).then_some(number * unit_s)
}

#[cfg(test)]
mod tests {
    use super::duration_s;

    #[test]
    fn durations_are_read_in_seconds() {
        for (text, expect) in [
            ("90 s", Some(90.0)),
            ("2min", Some(120.0)),
            ("1.5 h", Some(5400.0)),
            ("200 ms", Some(0.2)),
            ("90", None),
            ("soon", None),
            ("0 s", None),
            ("3 weeks", None),
        ] {
            assert_eq!(duration_s(text), expect, "{text}");
        }
    }
}
