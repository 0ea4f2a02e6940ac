//! One table of a study file while it is being read: typed look-ups that report what is wrong at its place, and at
//! the end every key that nobody asked for. It knows TOML and spans, and nothing about studies.

use super::quantity;
use crate::problem::{Problem, suggest};
use crate::record::is_baseline_again;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where problems are collected.
#[derive(Debug, Default)]
pub struct Sink(RefCell<Vec<Problem>>);

impl Sink {
    /// Adds a problem: where it is, what it is, what to write below the place, and what to do.
    pub fn report(&self, span: Range<usize>, message: &str, label: &str, remedy: &str) {
        let (message, label, remedy) = (message.to_owned(), label.to_owned(), remedy.to_owned());
        self.0.borrow_mut().push(Problem { span, message, label, remedy });
    }

    /// The problems, in the order in which they were reported.
    pub fn into_list(self) -> Vec<Problem> {
        self.0.into_inner()
    }
}

/// How messages call a table.
#[derive(Debug, Clone)]
pub enum Title {
    /// A whole file.
    File(&'static str),
    /// `[PATH]`.
    Heading(String),
    /// One of a list, `[[KEY]]`.
    Item(&'static str),
    /// A table in a table, by its key.
    Key(&'static str),
}

impl Title {
    /// That of a table in this one.
    fn within(&self, key: &'static str) -> Self {
        if matches!(self, Self::File(_)) { Self::Heading(key.to_owned()) } else { Self::Key(key) }
    }

    /// That of a named table in this one.
    fn named(&self, key: &str, name: &str) -> Self {
        Self::Heading(match self {
            Self::Heading(path) => format!("{path}.{key}.{name}"),
            _ => format!("{key}.{name}"),
        })
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(words) => f.write_str(words),
            Self::Heading(path) => write!(f, "[{path}]"),
            Self::Item(key) => write!(f, "[[{key}]]"),
            Self::Key(key) => write!(f, "`{key}`"),
        }
    }
}

/// A table, the name it has in messages, and the keys that were asked for.
#[derive(Debug)]
pub struct Section<'a> {
    /// Its own key, for a table within a table of tables.
    pub name: String,
    /// How messages call it.
    pub title: Title,
    /// Where it is named in the file.
    pub span: Range<usize>,
    table: &'a DeTable<'a>,
    asked: RefCell<Vec<&'static str>>,
    /// Takes its problems.
    pub sink: &'a Sink,
}

/// What a percentage is, for who wrote another thing.
const PERCENTAGE: &str = "use a percentage above 0, in quotes, such as \"2%\"";

#[derive(Clone, Copy)]
enum Type {
    Text,
    Integer,
    Number,
    Bool,
    Texts,
    Table,
    Tables,
}

impl Type {
    /// The end of the sentence that says so, and what to write.
    fn words_and_remedy(self, key: &str) -> (String, String) {
        let shown = "see `bakeoff help study-file` for an example".to_owned();
        match self {
            Self::Text => ("a string in quotes".to_owned(), format!("for example `{key} = \"…\"`")),
            Self::Integer => ("a whole number".to_owned(), "write only digits, without quotes".to_owned()),
            Self::Number => ("a number".to_owned(), "write a number without quotes".to_owned()),
            Self::Bool => {
                ("true or false".to_owned(), format!("write `{key} = true` or `{key} = false`, without quotes"))
            }
            Self::Texts => ("a list of strings".to_owned(), format!("for example `{key} = [\"…\"]`")),
            Self::Table => ("a table".to_owned(), shown),
            Self::Tables => ("a list of tables".to_owned(), format!("write `[[{key}]]`; {shown}")),
        }
    }
}

/// A value with its place.
pub type Placed<T> = Option<(T, Range<usize>)>;

impl<'a> Section<'a> {
    /// A table that messages call by this title, and that is named at this place.
    pub fn new(title: Title, table: &'a DeTable<'a>, span: Range<usize>, sink: &'a Sink) -> Self {
        let name = String::new();
        Self { name, title, span, table, asked: RefCell::default(), sink }
    }

    /// Whether it has this key.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where a key stands, if it is there.
    pub fn place_of(&self, key: &str) -> Option<Range<usize>> {
        self.table.get_key_value(key).map(|(found, _)| found.span())
    }

    pub(super) fn is_empty_list(&self, key: &str) -> bool {
        self.table.get(key).and_then(|value| value.get_ref().as_array()).is_some_and(|list| list.is_empty())
    }

    /// The keys with their places, in the order of the file; for tables whose keys are names.
    pub fn entries(&self) -> Vec<(&'a str, Range<usize>, &'a Spanned<DeValue<'a>>)> {
        let mut entries: Vec<_> = self.table.iter().map(|(k, v)| (k.get_ref().as_ref(), k.span(), v)).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    fn ask(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.table.get(key)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: Type) {
        let (words, remedy) = wanted.words_and_remedy(key);
        let message = format!("`{key}` of {} must be {words}", self.title);
        self.sink.report(value.span(), &message, &format!("this is {}", kind(value.get_ref())), &remedy);
    }

    fn missing(&self, key: &str, remedy: &str) {
        self.sink.report(self.span.clone(), &format!("{} has no `{key}`", self.title), "", remedy);
    }

    /// A value that `read` understands, with its place; another one is a problem.
    fn typed<T>(&self, key: &'static str, wanted: Type, read: impl Fn(&'a DeValue<'a>) -> Option<T>) -> Placed<T> {
        let value = self.ask(key)?;
        let found = read(value.get_ref());
        if found.is_none() {
            self.wrong_type(key, value, wanted);
        }
        Some((found?, value.span()))
    }

    /// A text; none if the key is not there, or holds something else, which is a problem.
    pub fn string(&self, key: &'static str) -> Placed<String> {
        let (text, span) = self.typed(key, Type::Text, DeValue::as_str)?;
        if text.trim().is_empty() {
            let message = format!("`{key}` of {} is empty", self.title);
            self.sink.report(span, &message, "", "add a value, or remove the key if it is optional");
            return None;
        }
        Some((text.to_owned(), span))
    }

    /// The same of a key that must be there.
    pub fn required_string(&self, key: &'static str, remedy: &str) -> Placed<String> {
        if !self.has(key) {
            self.missing(key, remedy);
        }
        self.string(key)
    }

    /// What a word means. `wrong` reports one that is not among them; an empty `remedy` suggests the nearest.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
        wrong: impl Fn(&str) -> String,
        remedy: &str,
    ) -> Option<T> {
        let (word, span) = self.string(key)?;
        let known = words.iter().find(|(known, _)| *known == word).map(|&(_, meaning)| meaning);
        if known.is_none() {
            let nearest = || suggest(&word, words.iter().map(|(known, _)| *known));
            let remedy = if remedy.is_empty() { nearest() } else { remedy.to_owned() };
            self.sink.report(span, &wrong(&word), "", &remedy);
        }
        known
    }

    pub(super) fn integer(&self, key: &'static str) -> Placed<i64> {
        self.typed(key, Type::Integer, whole)
    }

    /// A whole number whose key must be there.
    pub fn required_integer(&self, key: &'static str, remedy: &str) -> Placed<i64> {
        if !self.has(key) {
            self.missing(key, remedy);
        }
        self.integer(key)
    }

    pub(super) fn float(&self, key: &'static str) -> Placed<f64> {
        self.typed(key, Type::Number, |value| match value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        })
    }

    /// A duration such as `"90 s"` or `"2 min"`, in seconds.
    pub fn duration(&self, key: &'static str) -> Option<f64> {
        self.read(
            key,
            quantity::duration_s,
            "duration",
            "write a number and a unit (ms, s, min or h), such as \"90 s\"",
        )
    }

    /// A size such as `"512 MiB"`, in bytes.
    pub fn size(&self, key: &'static str) -> Option<u64> {
        self.read(
            key,
            quantity::size_bytes,
            "size",
            "write a number and a unit (B, kB, MB, GB, KiB, MiB or GiB), such as \"512 MiB\"",
        )
    }

    /// A percentage such as `"1%"`, as a fraction.
    pub fn percentage(&self, key: &'static str) -> Option<f64> {
        self.read(key, quantity::any_percent, "percentage", PERCENTAGE)
    }

    /// A table with a percentage for some of the names that there are, as fractions. `what` is what they are names of.
    pub fn percentages(&self, key: &'static str, what: &str, known: &[&str]) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        let Some(table) = self.section(key) else { return found };
        for (name, span, value) in table.entries() {
            if !known.contains(&name) {
                let remedy = suggest(name, known.iter().copied());
                self.sink.report(span, &format!("there is no {what} `{name}`"), "", &remedy);
            } else if let Some(fraction) = value.get_ref().as_str().and_then(quantity::any_percent) {
                found.insert(name.to_owned(), fraction);
            } else {
                let message = format!("`{name}` of {} is not a percentage", table.title);
                self.sink.report(value.span(), &message, "", PERCENTAGE);
            }
        }
        found
    }

    /// A rate such as `"10/s"`, as the seconds from one to the next.
    pub(super) fn pace(&self, key: &'static str) -> Option<f64> {
        self.read(key, quantity::pace_s, "rate", "write a number per s, min or h, such as \"10/s\"")
    }

    fn read<T>(&self, key: &'static str, read: fn(&str) -> Option<T>, what: &str, remedy: &str) -> Option<T> {
        let (text, span) = self.string(key)?;
        let value = read(&text);
        if value.is_none() {
            let message = format!("`{key}` of {}: {text:?} is not a valid {what}", self.title);
            self.sink.report(span, &message, "", remedy);
        }
        value
    }

    /// Processors: a list of numbers, or a text such as `"0-1,3"`.
    pub(super) fn cpus(&self, key: &'static str) -> Option<Vec<u32>> {
        let value = self.ask(key)?;
        let number = |v: &Spanned<DeValue<'_>>| whole(v.get_ref()).map(|number| number.to_string());
        let text = match value.get_ref() {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Array(list) => list.iter().map(number).collect::<Option<Vec<_>>>().map(|list| list.join(",")),
            _ => number(value),
        };
        let cpus = text.and_then(|text| quantity::cpus(&text));
        if cpus.is_none() {
            let message = format!("`{key}` of {} is not a list of processors", self.title);
            let remedy =
                format!("list processor numbers, counted from 0, such as `{key} = \"0-1,3\"` or `{key} = [0, 1, 3]`");
            self.sink.report(value.span(), &message, "", &remedy);
        }
        cpus
    }

    /// `true` or `false`.
    pub fn boolean(&self, key: &'static str) -> Option<bool> {
        self.typed(key, Type::Bool, DeValue::as_bool).map(|(value, _)| value)
    }

    /// A whole number that is at least 1 and at most something; `what` is its noun in the plural.
    pub fn number_of(&self, key: &'static str, what: &str, most: u32) -> Option<u32> {
        let (number, span) = self.integer(key)?;
        let fits = u32::try_from(number).ok().filter(|n| (1..=most).contains(n));
        if fits.is_none() {
            let remedy = format!("use a number from 1 to {most}");
            self.sink.report(span, &format!("invalid number of {what}: {number}"), "", &remedy);
        }
        fits
    }

    /// A list of plain names, each once.
    pub(super) fn names(&self, key: &'static str, what: &str) -> Vec<String> {
        let list = self.strings(key);
        list.iter().for_each(|(name, span)| check_name(self.sink, name, span.clone(), what));
        self.each_once(key, list)
    }

    /// Some of the names that there are, each once; none if the key is not there. `what` is what they are names of.
    pub fn chosen(&self, key: &'static str, what: &str, known: &[&str]) -> Option<Vec<String>> {
        // Asked for in any case, so that it is among the keys that are known.
        let mut list = self.strings(key);
        self.has(key).then(|| {
            list.retain(|(name, span)| {
                let is_known = known.contains(&name.as_str());
                if !is_known {
                    let remedy = suggest(name, known.iter().copied());
                    self.sink.report(span.clone(), &format!("there is no {what} `{name}`"), "", &remedy);
                }
                is_known
            });
            self.each_once(key, list)
        })
    }

    fn each_once(&self, key: &str, list: Vec<(String, Range<usize>)>) -> Vec<String> {
        let mut once: Vec<String> = vec![];
        for (name, span) in list {
            if once.contains(&name) {
                let message = format!("`{key}` of {} names `{name}` twice", self.title);
                self.sink.report(span, &message, "", "remove one");
            } else {
                once.push(name);
            }
        }
        once
    }

    fn list(&self, key: &'static str, wanted: Type) -> impl Iterator<Item = &'a Spanned<DeValue<'a>>> + use<'a> {
        self.typed(key, wanted, DeValue::as_array).into_iter().flat_map(|(list, _)| list.iter())
    }

    /// A list of texts; an absent key is an empty list.
    pub fn strings(&self, key: &'static str) -> Vec<(String, Range<usize>)> {
        let mut list = vec![];
        for item in self.list(key, Type::Texts) {
            match item.get_ref().as_str() {
                Some(text) => list.push((text.to_owned(), item.span())),
                None => self.wrong_type(key, item, Type::Texts),
            }
        }
        list
    }

    /// A value of several possible types, with its place.
    pub fn any(&self, key: &'static str) -> Placed<&'a DeValue<'a>> {
        self.ask(key).map(|value| (value.get_ref(), value.span()))
    }

    /// A table.
    pub fn section(&self, key: &'static str) -> Option<Section<'a>> {
        let (table, span) = self.typed(key, Type::Table, DeValue::as_table)?;
        let span = self.place_of(key).unwrap_or(span);
        Some(Section::new(self.title.within(key), table, span, self.sink))
    }

    /// A table of named tables, `[key.NAME]`; the names are checked.
    pub fn named_sections(&self, key: &'static str) -> Vec<Section<'a>> {
        let sections = self.sections_of_any_name(key);
        sections.iter().for_each(|section| check_name(self.sink, &section.name, section.span.clone(), "a name"));
        sections
    }

    /// The same, whatever the names are.
    pub fn sections_of_any_name(&self, key: &'static str) -> Vec<Section<'a>> {
        let Some(outer) = self.section(key) else { return vec![] };
        let mut sections = vec![];
        for (name, span, value) in outer.entries() {
            match value.get_ref().as_table() {
                Some(table) => {
                    let mut section = Section::new(self.title.named(key, name), table, span, self.sink);
                    section.name = name.to_owned();
                    sections.push(section);
                }
                None => outer.wrong_type(name, value, Type::Table),
            }
        }
        sections
    }

    /// A list of tables, `[[key]]`.
    pub fn section_list(&self, key: &'static str) -> Vec<Section<'a>> {
        let mut sections = vec![];
        for item in self.list(key, Type::Tables) {
            match item.get_ref().as_table() {
                Some(table) => {
                    sections.push(Section::new(Title::Item(key), table, item.span(), self.sink));
                }
                None => self.wrong_type(key, item, Type::Table),
            }
        }
        sections
    }

    /// Reports every key that nobody asked for.
    pub fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, span, _) in self.entries() {
            if !asked.contains(&key) {
                let remedy = suggest(key, asked.iter().copied());
                self.sink.report(span, &format!("{} has no key `{key}`", self.title), "unknown key", &remedy);
            }
        }
    }
}

fn whole(value: &DeValue<'_>) -> Option<i64> {
    value.as_integer().and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok())
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Names become parts of file names, of `factor=level` and of metrics, so they are kept plain.
pub fn check_name(sink: &Sink, name: &str, span: Range<usize>, what: &str) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts || !name.chars().all(plain) || is_baseline_again(name) || name == crate::plan::BASELINE {
        let remedy = "use letters, digits, `_`, `-` and `+`, with a letter or digit first; `twin`, `relaid` and `baseline` are reserved";
        sink.report(span, &format!("{what} is reserved or has invalid characters: {name:?}"), "", remedy);
    }
}

/// The name of a level may also be that of a commit: it is no part of a file name.
pub(super) fn check_level_name(sink: &Sink, name: &str, span: Range<usize>) {
    let is_of_commit = |c: char| "./~^@".contains(c);
    if name.contains(is_of_commit)
        && name.chars().all(|c| is_of_commit(c) || c.is_ascii_alphanumeric() || "_-+".contains(c))
    {
        return;
    }
    check_name(sink, name, span, "a level's name");
}

/// Files of a study are named relative to its folder and lie inside it.
pub fn check_inside(sink: &Sink, path: &str, span: Range<usize>) {
    if leads_out(path) {
        let remedy = "name a file in the study's folder, relative to that folder";
        sink.report(span, &format!("{path:?} is outside the study's folder"), "", remedy);
    }
}

/// Files of a build are named relative to its prefix and lie inside it. Features ask this for files that they name.
pub fn check_below_prefix(sink: &Sink, path: &str, span: Range<usize>) {
    if leads_out(path) {
        let remedy = "name an installed file, relative to $PREFIX";
        sink.report(span, &format!("{path:?} is outside $PREFIX"), "", remedy);
    }
}

fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}
