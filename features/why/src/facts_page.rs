//! The facts of builds as a page: the first subject's files, then of every other what differs from the first, then a
//! legend of the words that not everybody knows. Counts are exact, and so are sizes. [`crate::facts`] decides which
//! facts there are, and which differ.

use crate::facts::lines::{Difference, Fact, Group, Value, lines};
use crate::facts::subject::{Comparison, Subject, compare};
use crate::facts::{Content, FileFacts, Relocations};
use bakeoff_report::draw::Style;
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::{clean, foreign, glue, width};
use bakeoff_report::format::{count, signed_count};
use std::collections::BTreeSet;

/// A cell of a table is at most this wide.
const CELL_MAX: usize = 32;
/// More files than this are shown as a table of one line each.
const FILES_IN_FULL_MAX: usize = 3;
/// This many of a set of names are shown.
const NAMES_MAX: usize = 6;

/// Columns of one of them.
const NAME_MAX: usize = 60;

/// Words that not everybody knows: what is looked for on the page, the word, and what it means. Where one stands on a
/// page, it is explained there.
const LEGEND: [(&str, &str, &str); 11] = [
    ("JUMP_SLOT", "JUMP_SLOT", "slot for calls through the PLT; the loader fills in its address"),
    ("GLOB_DAT", "GLOB_DAT", "slot for the address of a symbol; the loader fills it in"),
    (
        "self-defined",
        "self-defined",
        "slot for a symbol of the same file, so the file reaches its own symbols through a table",
    ),
    ("entries of ", "PLT", "a stub for each function that is called through a slot"),
    ("RELR ", "RELR", "packed relative relocations: a few words represent many relocations"),
    ("_RELATIVE", "RELATIVE", "relocation that adds the file's load address"),
    ("interposable", "interposable", "another file may replace the symbol, even for calls from this file"),
    ("symbolic", "symbolic", "references to the file's own symbols stay inside the file (-Bsymbolic)"),
    ("TEXTREL", "TEXTREL", "the loader writes to code, so processes cannot share it"),
    ("RELRO", "RELRO", "how much of the relocated data becomes read-only"),
    ("control flow", "control flow", "checks of jumps (IBT, BTI) and returns (SHSTK, PAC)"),
];

/// The page. `all` shows sections, tables, program headers and every name.
pub(crate) fn facts(subjects: &[Subject], missing: &[String], all: bool, style: Style) -> String {
    let mut page = Page::default();
    let Some((first, others)) = subjects.split_first() else { return String::new() };
    let mut writer = Writer { page: &mut page, columns: style.width, all };
    writer.subject(first);
    others.iter().for_each(|other| writer.comparison(first, other));
    for line in missing {
        writer.page.gap();
        writer.page.paragraph(clean(line), style.width, 2, Ink::Worse);
    }
    let text = page.print(false);
    legend(&text, &mut page, style.width);
    page.print(style.colour)
}

/// The same for machines: all subjects with all facts, and what differs from the first.
///
/// # Errors
/// Passes on the serialiser's word, should a value ever have no form in JSON.
pub(crate) fn facts_json(subjects: &[Subject], missing: &[String]) -> Result<String, serde_json::Error> {
    let comparisons: Vec<Comparison> = match subjects.split_first() {
        Some((first, others)) => others.iter().map(|other| compare(first, other)).collect(),
        None => vec![],
    };
    let mut all = serde_json::json!({ "subjects": subjects, "comparisons": comparisons, "missing": missing });
    all.sort_all_objects();
    serde_json::to_string_pretty(&all).map(|text| text + "\n")
}

fn legend(text: &str, page: &mut Page, columns: usize) {
    let shown: Vec<_> = LEGEND.iter().filter(|(seen, ..)| text.contains(seen)).collect();
    if shown.is_empty() {
        return;
    }
    page.gap();
    for (_, word, meaning) in shown {
        page.paragraph(format!("{word}: {meaning}"), columns, 2, Ink::Aside);
    }
}

struct Writer<'a> {
    page: &'a mut Page,
    columns: usize,
    all: bool,
}

impl Writer<'_> {
    fn heading(&mut self, subject: &Subject) {
        self.page.gap();
        self.page.paragraph(clean(&subject.name), self.columns, 2, Ink::Heading);
        if subject.place != subject.name {
            self.page.line(vec![Piece::new(clean(&subject.place), Ink::Aside)]);
        }
    }

    fn subject(&mut self, subject: &Subject) {
        self.heading(subject);
        if subject.files.is_empty() {
            self.page.line(vec![Piece::plain("  no ELF files")]);
        } else {
            self.files(&subject.files.iter().collect::<Vec<_>>(), subject.is_file);
        }
        self.unreadable(subject);
    }

    fn files(&mut self, files: &[&FileFacts], is_named: bool) {
        if files.len() > FILES_IN_FULL_MAX && !self.all {
            return self.overview(files);
        }
        for file in files {
            if !is_named {
                self.path(&file.path, "");
            }
            self.file(file);
        }
    }

    fn path(&mut self, path: &str, remark: &str) {
        self.page.gap();
        self.page.line(vec![Piece::new(clean(path), Ink::Heading), Piece::plain(remark)]);
    }

    fn unreadable(&mut self, subject: &Subject) {
        for line in &subject.unreadable {
            self.page.paragraph(format!("cannot read: {}", clean(line)), self.columns, 2, Ink::Worse);
        }
    }

    fn overview(&mut self, files: &[&FileFacts]) {
        let right = |title| (title, Flush::Right);
        let columns = ["bytes", "relocations", "JUMP_SLOT", "self-defined", "GLOB_DAT"];
        let mut grid = Grid::new(std::iter::once(("file", Flush::Left)).chain(columns.map(right)));
        for file in files {
            let mut cells = vec![Piece::plain(clean(&file.path)), Piece::plain(count(file.size_bytes))];
            match &file.content {
                Content::Elf(facts) => cells.extend(relocations(&facts.relocations)),
                Content::Relocations(found) => cells.extend(relocations(found)),
                Content::Archive(facts) => {
                    cells.push(Piece::plain(count(facts.relocations.values().sum())));
                    cells.extend(["–"; 3].map(|dash| Piece::new(dash, Ink::Aside)));
                }
            }
            grid.row(cells);
        }
        grid.print(self.page, self.columns);
        self.page.line(vec![Piece::new("use --file NAME to show one file in full", Ink::Aside)]);
    }

    fn file(&mut self, file: &FileFacts) {
        let mut facts = lines(file);
        let keep = |fact: &Fact| match fact.group {
            Group::Slots | Group::Exports | Group::Size => true,
            Group::Names if !self.all => !fact.value.is_nothing(),
            group => self.all || !(group.is_long() || fact.value.is_nothing()),
        };
        facts.retain(keep);
        let in_columns = |fact: &&Fact| width(&fact.name) <= CELL_MAX && !is_made_by(&fact.name);
        let names = facts.iter().filter(in_columns).map(|fact| width(&fact.name)).max().unwrap_or(0);
        for facts in facts.chunk_by(|a, b| a.group == b.group) {
            let numbers = facts.iter().filter(in_columns).filter_map(|fact| number(&fact.value));
            let numbers = numbers.map(|text| width(&text)).max().unwrap_or(0);
            if let Some(title) = title(facts[0].group) {
                self.page.line(vec![Piece::new(format!("  {title}"), Ink::Aside)]);
            }
            for fact in facts {
                self.fact(fact, names, numbers);
            }
        }
    }

    /// One fact: name and value in columns, or as a paragraph where it is wide.
    fn fact(&mut self, fact: &Fact, names: usize, numbers: usize) {
        let name = clean(&fact.name);
        let value = match number(&fact.value) {
            Some(text) => " ".repeat(numbers.saturating_sub(width(&text))) + &text,
            None => self.words(&fact.value),
        };
        if width(&name) > CELL_MAX || is_made_by(&name) {
            let value = value.trim_start();
            let line =
                if is_made_by(&name) { format!("    {value} × {name}") } else { format!("    {name}: {value}") };
            self.page.paragraph(&line, self.columns, 8, Ink::Plain);
            return;
        }
        let line = format!("    {name}{}  ", " ".repeat(names.saturating_sub(width(&name))));
        // The line is broken in the value only.
        self.page.paragraph(glue(&line) + &value, self.columns, width(&line), Ink::Plain);
    }

    fn words(&self, value: &Value) -> String {
        match value {
            Value::Text(text) => clean(text),
            Value::List(list) => self.names(list.iter(), list.len(), usize::MAX),
            Value::Set(set) => self.names(set.iter(), set.len(), if self.all { usize::MAX } else { NAMES_MAX }),
            Value::Count(_) | Value::Bytes(_) => number(value).unwrap_or_default(),
        }
    }

    fn names<'n>(&self, names: impl Iterator<Item = &'n String>, total: usize, most: usize) -> String {
        let shown: Vec<String> =
            names.take(most).map(|name| if self.all { clean(name) } else { foreign(name, NAME_MAX) }).collect();
        match total.saturating_sub(shown.len()) {
            _ if total == 0 => "none".to_owned(),
            0 => shown.join(", "),
            more => format!("{}, and {} more (--all)", shown.join(", "), count(more as u64)),
        }
    }

    fn comparison(&mut self, first: &Subject, other: &Subject) {
        let comparison = compare(first, other);
        self.heading(other);
        let against = clean(&first.name);
        if first.place == other.place {
            self.page.line(vec![Piece::plain(format!("  the same as {against}"))]);
            return;
        }
        if comparison.files.is_empty() && comparison.only_before.is_empty() && comparison.only_after.is_empty() {
            self.page.line(vec![Piece::plain(format!("  no difference from {against}"))]);
        }
        for file in &comparison.files {
            if !other.is_file {
                self.path(&file.path, "");
            }
            self.differences(&file.differences);
        }
        let alone: Vec<&FileFacts> =
            other.files.iter().filter(|file| comparison.only_after.contains(&file.path)).collect();
        self.alone(&alone, &against);
        let listed = [
            (format!("only in {against}: "), &comparison.only_before),
            (format!("the same as in {against}: "), &comparison.same),
        ];
        for (words, paths) in listed {
            if !paths.is_empty() && !other.is_file {
                let most = if self.all { usize::MAX } else { NAMES_MAX };
                let names = self.names(paths.iter(), paths.len(), most);
                self.page.paragraph(&(words + &names), self.columns, 2, Ink::Plain);
            }
        }
        self.unreadable(other);
    }

    /// Files that the first subject does not have.
    fn alone(&mut self, files: &[&FileFacts], against: &str) {
        let remark = format!("  (not in {against})");
        if files.len() > FILES_IN_FULL_MAX && !self.all {
            self.page.gap();
            self.page.line(vec![Piece::plain(format!("not in {against}:"))]);
            return self.overview(files);
        }
        for file in files {
            self.path(&file.path, &remark);
            self.file(file);
        }
        self.page.gap();
    }

    fn differences(&mut self, differences: &[Difference]) {
        // Names are what a difference of slots is about.
        let shown =
            |difference: &&Difference| self.all || !difference.group.is_long() || difference.group == Group::Names;
        let sections = differences.iter().filter(|difference| difference.group == Group::Sections).count() as u64;
        let mut grid =
            Grid::new([("", Flush::Left), ("before", Flush::Right), ("after", Flush::Right), ("change", Flush::Right)]);
        let (mut cells, mut rest) = (0, vec![]);
        for difference in differences.iter().filter(shown) {
            match self.row(difference) {
                Some(row) => {
                    grid.row(row);
                    cells += 1;
                }
                None => rest.push(self.sentence(difference)),
            }
        }
        if cells > 0 {
            grid.print(self.page, self.columns);
        }
        rest.iter().for_each(|line| self.page.paragraph(line, self.columns, 6, Ink::Plain));
        if sections > 0 && !self.all {
            let line = format!("  sections that differ in size: {} (listed with --all)", count(sections));
            self.page.line(vec![Piece::new(line, Ink::Aside)]);
        }
    }

    /// A row of the table, if everything fits into cells.
    fn row(&self, difference: &Difference) -> Option<Vec<Piece>> {
        let value = |value: &Option<Value>| match value {
            None => Some("–".to_owned()),
            Some(Value::List(_) | Value::Set(_)) => None,
            Some(value) => number(value).or_else(|| Some(self.words(value))).filter(|text| width(text) <= CELL_MAX),
        };
        let name = clean(&difference.name);
        if width(&name) > CELL_MAX || is_made_by(&name) {
            return None;
        }
        let change = match (&difference.before, &difference.after) {
            (Some(Value::Count(a)), Some(Value::Count(b))) => signed_count(*a, *b),
            (Some(Value::Bytes(a)), Some(Value::Bytes(b))) => format!("{} B", signed_count(*a, *b)),
            _ => String::new(),
        };
        let cells = [value(&difference.before)?, value(&difference.after)?, change];
        Some([Piece::indented(name)].into_iter().chain(cells.map(Piece::plain)).collect())
    }

    fn sentence(&self, difference: &Difference) -> String {
        let name = clean(&difference.name);
        let alone = |sign: &str, value: &Value| match value {
            Value::Count(number) => format!("  {sign} {} × {name}", count(*number)),
            value => format!("  {sign} {name}: {}", self.words(value)),
        };
        match (&difference.before, &difference.after) {
            (Some(Value::Set(before)), Some(Value::Set(after))) => self.changed(&name, before, after),
            (Some(before), Some(after)) => format!("  {name}: {} became {}", self.words(before), self.words(after)),
            (Some(value), None) => alone("−", value),
            (None, Some(value)) => alone("+", value),
            (None, None) => String::new(),
        }
    }

    fn changed(&self, name: &str, before: &BTreeSet<String>, after: &BTreeSet<String>) -> String {
        let most = if self.all { usize::MAX } else { NAMES_MAX };
        let mut words = vec![];
        for (sign, from, to) in [("−", before, after), ("+", after, before)] {
            let gone: Vec<&String> = from.difference(to).collect();
            if !gone.is_empty() {
                words.push(format!("{sign} {}", self.names(gone.iter().copied(), gone.len(), most)));
            }
        }
        format!("  {name}: {}", words.join("; "))
    }
}

fn title(group: Group) -> Option<&'static str> {
    Some(match group {
        Group::File => return None,
        Group::Linking => "linking",
        Group::Relocations => "relocations",
        Group::Slots => "slots",
        Group::Exports => "symbols for others",
        Group::Size => "loaded",
        Group::Protection => "protection",
        Group::Origin => "origin",
        Group::Sections => "sections",
        Group::Tables => "entries of relocation tables",
        Group::Segments => "program headers",
        Group::Names => "names",
    })
}

/// A number as it is written; none for words.
fn number(value: &Value) -> Option<String> {
    match value {
        Value::Count(number) => Some(count(*number)),
        Value::Bytes(number) => Some(format!("{} B", count(*number))),
        _ => None,
    }
}

/// Whether it is a text of a compiler's, with the number of times that it is there.
fn is_made_by(name: &str) -> bool {
    ["comment: ", "producer: ", "command line: "].iter().any(|prefix| name.starts_with(prefix))
}

/// All relocations, slots for calls, of them the self-defined, and slots for addresses.
fn relocations(found: &Relocations) -> [Piece; 4] {
    let all = found.by_type().values().sum::<u64>() + found.relr().1;
    let slots = &found.jump_slots;
    [all, slots.total, slots.own, found.glob_dat.total].map(|number| Piece::plain(count(number)))
}
