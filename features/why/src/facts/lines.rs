//! The facts of a file as one list of names and values, in the order in which people want to read them; and what differs
//! between two such lists. Pages are made of it, and so are differences, so that nothing is said of one file and
//! forgotten when two are compared. How a value is written is decided elsewhere.

use super::{ArchiveFacts, ByteOrder, Content, ElfFacts, ElfKind, FileFacts, Relocations, Relro, Slots, Stack};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Fact {
    pub(crate) group: Group,
    /// Its name; in a group each has another.
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// What facts belong together, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Group {
    File,
    Linking,
    Relocations,
    Slots,
    Exports,
    Size,
    Protection,
    Origin,
    Sections,
    Tables,
    Segments,
    /// Names of the symbols that have a slot of their own file.
    Names,
}

impl Group {
    /// Whether it is left out unless everything is asked for.
    pub(crate) fn is_long(self) -> bool {
        self >= Self::Sections
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Value {
    Count(u64),
    Bytes(u64),
    Text(String),
    /// Several, whose order matters.
    List(Vec<String>),
    /// Several, whose order does not matter.
    Set(BTreeSet<String>),
}

impl Value {
    /// Whether it says that there is nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        match self {
            Self::Count(number) | Self::Bytes(number) => *number == 0,
            Self::Text(text) => text.is_empty(),
            Self::List(list) => list.is_empty(),
            Self::Set(set) => set.is_empty(),
        }
    }
}

/// A fact in which two files differ; none where one of them has no such fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Difference {
    pub(crate) group: Group,
    pub(crate) name: String,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
}

/// What differs between two files, in the order of their facts. Addresses and the build identity are no difference: they
/// follow from others.
pub(crate) fn differences(before: &FileFacts, after: &FileFacts) -> Vec<Difference> {
    let is_compared = |fact: &Fact| !(fact.group == Group::Origin && fact.name == BUILD_ID);
    let [before, after] = [before, after].map(|file| lines(file).into_iter().filter(is_compared).collect::<Vec<_>>());
    let find = |list: &[Fact], like: &Fact| {
        list.iter().find(|fact| fact.group == like.group && fact.name == like.name).map(|fact| fact.value.clone())
    };
    let mut all: Vec<Difference> = vec![];
    for fact in &before {
        let Fact { group, name, value } = fact.clone();
        let after = find(&after, fact);
        if after.as_ref() != Some(&value) {
            all.push(Difference { group, name, before: Some(value), after });
        }
    }
    for fact in after.iter().filter(|fact| find(&before, fact).is_none()) {
        let Fact { group, name, value } = fact.clone();
        all.push(Difference { group, name, before: None, after: Some(value) });
    }
    // A type of relocation that is not there is there no times.
    for difference in all.iter_mut().filter(|difference| difference.group == Group::Relocations) {
        let none = Some(Value::Count(0));
        difference.before = difference.before.take().or(none.clone());
        difference.after = difference.after.take().or(none);
    }
    all.retain(|Difference { before, after, .. }| before.iter().chain(after).any(|value| !value.is_nothing()));
    all.sort_by_key(|difference| difference.group);
    all
}

/// The name of a fact that differs between any two builds.
const BUILD_ID: &str = "build ID";

/// Collects facts.
struct Lines {
    group: Group,
    facts: Vec<Fact>,
}

impl Lines {
    fn push(&mut self, name: impl Into<String>, value: Value) {
        self.facts.push(Fact { group: self.group, name: name.into(), value });
    }

    fn text(&mut self, name: &str, text: impl Into<String>) {
        self.push(name, Value::Text(text.into()));
    }

    fn some(&mut self, name: &str, text: Option<&String>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    fn is(&mut self, name: &str, is: bool) {
        self.text(name, if is { "yes" } else { "no" });
    }

    fn counts(&mut self, prefix: &str, counts: &BTreeMap<String, u64>) {
        counts.iter().for_each(|(name, count)| self.push(format!("{prefix}{name}"), Value::Count(*count)));
    }
}

/// The facts of a file as one list.
pub(crate) fn lines(file: &FileFacts) -> Vec<Fact> {
    let mut lines = Lines { group: Group::File, facts: vec![] };
    match &file.content {
        Content::Elf(facts) => elf(&mut lines, facts, file.size_bytes),
        Content::Archive(facts) => archive(&mut lines, facts, file.size_bytes),
        Content::Relocations(found) => {
            relocations(&mut lines, found);
            tables(&mut lines, found);
            names(&mut lines, found);
        }
    }
    lines.facts
}

/// What kind of file it is, in words.
pub(crate) fn kind_in_words(kind: ElfKind) -> String {
    match kind {
        ElfKind::Executable => "executable at a fixed address".to_owned(),
        ElfKind::Pie => "position-independent executable".to_owned(),
        ElfKind::SharedObject => "shared object".to_owned(),
        ElfKind::Relocatable => "relocatable file".to_owned(),
        ElfKind::Core => "core dump".to_owned(),
        ElfKind::Other(number) => format!("file of type {number}"),
    }
}

fn elf(lines: &mut Lines, facts: &ElfFacts, size_bytes: u64) {
    let order = if facts.byte_order == ByteOrder::Little { "little" } else { "big" };
    lines.text("kind", kind_in_words(facts.kind));
    lines.text("format", format!("ELF, {} bits, {order}-endian, {}", facts.class_bits, facts.machine));
    lines.push("file size", Value::Bytes(size_bytes));
    linking(lines, facts);
    relocations(lines, &facts.relocations);
    for plt in &facts.plt {
        let (name, entries) = (format!("entries of {}", plt.name), plt.entries);
        lines.push(name, entries.map_or_else(|| Value::Text("unknown".to_owned()), Value::Count));
    }
    lines.group = Group::Exports;
    lines.push("exported functions", Value::Count(facts.exports.functions));
    lines.push("exported objects", Value::Count(facts.exports.objects));
    lines.push("interposable", Value::Count(facts.exports.interposable));
    lines.group = Group::Size;
    loaded(lines, &facts.loaded);
    protection(lines, facts);
    origin(lines, facts);
    long(lines, facts);
}

fn linking(lines: &mut Lines, facts: &ElfFacts) {
    let linking = &facts.linking;
    lines.group = Group::Linking;
    lines.is("dynamic", linking.dynamic);
    lines.some("interpreter", linking.interpreter.as_ref());
    lines.some("SONAME", linking.soname.as_ref());
    lines.push("NEEDED", Value::List(linking.needed.clone()));
    lines.some("RPATH", linking.rpath.as_ref());
    lines.some("RUNPATH", linking.runpath.as_ref());
    lines.push("flags", Value::Set(linking.flags.iter().cloned().collect()));
    lines.is("symbolic", linking.symbolic);
    lines.is("TEXTREL", linking.textrel);
    // The newest tells on which systems the file can be loaded.
    for (library, versions) in &linking.versions {
        let of = |prefix: &str| versions.iter().rfind(|version| version.starts_with(prefix));
        lines.some(&format!("newest version of {library}"), of("GLIBC_").or(versions.last()));
    }
}

fn relocations(lines: &mut Lines, relocations: &Relocations) {
    lines.group = Group::Relocations;
    for (name, count) in relocations.by_type() {
        lines.push(name, Value::Count(count));
    }
    let (words, stand_for) = relocations.relr();
    lines.push("RELR words", Value::Count(words));
    lines.push("RELR relocations", Value::Count(stand_for));
    lines.group = Group::Slots;
    for (name, slots) in slots(relocations) {
        lines.push(name, Value::Count(slots.own));
    }
}

/// The type of their relocations says how many there are.
fn slots(relocations: &Relocations) -> [(&'static str, &Slots); 2] {
    [("self-defined JUMP_SLOT", &relocations.jump_slots), ("self-defined GLOB_DAT", &relocations.glob_dat)]
}

fn tables(lines: &mut Lines, relocations: &Relocations) {
    lines.group = Group::Tables;
    let mut entries: BTreeMap<&str, u64> = BTreeMap::new();
    for table in &relocations.tables {
        *entries.entry(&table.section).or_insert(0) += table.entries;
    }
    entries.into_iter().for_each(|(name, count)| lines.push(name, Value::Count(count)));
}

fn names(lines: &mut Lines, relocations: &Relocations) {
    lines.group = Group::Names;
    for (name, slots) in slots(relocations) {
        if let Some(names) = &slots.own_names {
            lines.push(name, Value::Set(names.iter().cloned().collect()));
        }
    }
}

fn loaded(lines: &mut Lines, loaded: &super::Loaded) {
    lines.push("text", Value::Bytes(loaded.text_bytes));
    lines.push("rodata", Value::Bytes(loaded.rodata_bytes));
    lines.push("data", Value::Bytes(loaded.data_bytes));
    lines.push("bss", Value::Bytes(loaded.bss_bytes));
}

fn protection(lines: &mut Lines, facts: &ElfFacts) {
    let protection = &facts.protection;
    lines.group = Group::Protection;
    let relro = match protection.relro {
        Relro::None => "none",
        Relro::Partial => "partial",
        Relro::Full => "full",
    };
    lines.text("RELRO", relro);
    lines.is("bound at start", protection.bind_now);
    let stack = match protection.stack {
        Stack::Unsaid => "unspecified",
        Stack::NotExecutable => "no",
        Stack::Executable => "yes",
    };
    lines.text("stack executable", stack);
    let marks =
        [("IBT", protection.ibt), ("SHSTK", protection.shstk), ("BTI", protection.bti), ("PAC", protection.pac)];
    let marks = marks.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned());
    lines.push("control flow", Value::Set(marks.collect()));
}

fn origin(lines: &mut Lines, facts: &ElfFacts) {
    let origin = &facts.origin;
    lines.group = Group::Origin;
    lines.is("stripped", origin.symbols.is_none());
    lines.push("symbols", Value::Count(origin.symbols.unwrap_or(0)));
    for (version, units) in &origin.dwarf_units {
        lines.push(format!("DWARF {version} units"), Value::Count(*units));
    }
    lines.some("separate DWARF", origin.debug_link.as_ref());
    lines.some(BUILD_ID, origin.build_id.as_ref());
    made_by(lines, &origin.comments, &origin.producers, &origin.command_lines);
}

fn made_by(
    lines: &mut Lines,
    comments: &BTreeMap<String, u64>,
    producers: &BTreeMap<String, u64>,
    command_lines: &BTreeMap<String, u64>,
) {
    lines.counts("comment: ", comments);
    lines.counts("producer: ", producers);
    lines.counts("command line: ", command_lines);
}

fn long(lines: &mut Lines, facts: &ElfFacts) {
    lines.group = Group::Sections;
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut order = vec![];
    for section in &facts.sections {
        // A relocatable file has several of a name.
        if !sizes.contains_key(section.name.as_str()) {
            order.push(section.name.as_str());
        }
        let size = sizes.entry(&section.name).or_insert(0);
        *size = size.saturating_add(section.size_bytes);
    }
    for name in order {
        lines.push(name, Value::Bytes(sizes[name]));
    }
    tables(lines, &facts.relocations);
    lines.group = Group::Segments;
    let mut segments: BTreeMap<String, u64> = BTreeMap::new();
    for segment in &facts.segments {
        *segments.entry(format!("{} {}", segment.kind, segment.rights)).or_insert(0) += 1;
    }
    segments.into_iter().for_each(|(name, count)| lines.push(name, Value::Count(count)));
    names(lines, &facts.relocations);
}

fn archive(lines: &mut Lines, facts: &ArchiveFacts, size_bytes: u64) {
    lines.text("kind", if facts.thin { "thin static archive (holds no members)" } else { "static archive" });
    lines.push("file size", Value::Bytes(size_bytes));
    lines.push("members", Value::Count(facts.members));
    lines.push("members that are not ELF", Value::Count(facts.other_members));
    lines.counts("members for ", &facts.machines);
    lines.group = Group::Relocations;
    lines.counts("", &facts.relocations);
    lines.group = Group::Size;
    loaded(lines, &facts.loaded);
    lines.group = Group::Origin;
    lines.push("stripped members", Value::Count(facts.stripped));
    for (version, units) in &facts.dwarf_units {
        lines.push(format!("DWARF {version} units"), Value::Count(*units));
    }
    made_by(lines, &facts.comments, &facts.producers, &facts.command_lines);
}
