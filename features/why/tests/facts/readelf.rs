//! What readelf says of a file, parsed. It is the oracle of these tests, and knows nothing of the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A table of relocations: entries, those that RELR words stand for, and the number of each type.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) section: String,
    pub(crate) entries: u64,
    pub(crate) offsets: u64,
    pub(crate) by_type: BTreeMap<String, u64>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Symbol {
    pub(crate) kind: String,
    pub(crate) bind: String,
    pub(crate) visibility: String,
    pub(crate) section: String,
    pub(crate) name: String,
}

/// Everything that is compared.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) tables: Vec<Table>,
    /// Of each relocation its type and the number of its symbol.
    pub(crate) relocations: Vec<(String, usize)>,
    pub(crate) dynamic_symbols: Vec<Symbol>,
    pub(crate) symbols: Option<u64>,
    /// Name, type, flags, address, size.
    pub(crate) sections: Vec<(String, String, String, u64, u64)>,
    /// Type, rights, bytes in the file and in memory.
    pub(crate) segments: Vec<(String, String, u64, u64)>,
    pub(crate) header: BTreeMap<String, String>,
    pub(crate) interpreter: Option<String>,
    /// Tag and what stands behind it.
    pub(crate) dynamic: Vec<(String, String)>,
    pub(crate) versions: BTreeMap<String, BTreeSet<String>>,
    pub(crate) build_id: Option<String>,
    pub(crate) features: BTreeSet<String>,
}

/// The output of readelf in English.
pub(crate) fn readelf(arguments: &[&str], path: &Path) -> String {
    let output = Command::new("readelf").args(arguments).arg(path).env("LC_ALL", "C").output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text}"))
}

fn quoted(line: &str) -> Option<&str> {
    let from = line.find('\'')? + 1;
    Some(&line[from..from + line[from..].find('\'')?])
}

fn bracketed(line: &str) -> &str {
    line.split_once('[').and_then(|(_, rest)| rest.rsplit_once(']')).map_or("", |(inner, _)| inner)
}

impl Said {
    pub(crate) fn of(path: &Path) -> Self {
        let mut said = Self::default();
        said.header(&readelf(&["-hW"], path));
        said.relocations(&readelf(&["-rW"], path));
        said.symbols(&readelf(&["-sW"], path));
        said.sections(&readelf(&["-SW"], path));
        said.segments(&readelf(&["-lW"], path));
        said.dynamic(&readelf(&["-dW"], path));
        said.versions(&readelf(&["-VW"], path));
        said.notes(&readelf(&["-nW"], path));
        said
    }

    fn header(&mut self, text: &str) {
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            self.header.entry(name.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
        }
    }

    fn is_64(&self) -> bool {
        self.header["Class"] == "ELF64"
    }

    fn relocations(&mut self, text: &str) {
        for line in text.lines() {
            if line.starts_with("Relocation section '") {
                let (_, rest) = line.rsplit_once("contains ").unwrap();
                let entries = rest.split(' ').next().unwrap().parse().unwrap();
                let section = quoted(line).unwrap().to_owned();
                self.tables.push(Table { section, entries, ..Table::default() });
                continue;
            }
            let fields: Vec<&str> = line.split_whitespace().collect();
            let Some(table) = self.tables.last_mut() else { continue };
            if let [number, "offsets" | "offset"] = fields[..] {
                table.offsets = number.parse().unwrap();
            }
            let numbers = fields.iter().take(2).filter(|field| u64::from_str_radix(field, 16).is_ok()).count();
            if numbers < 2 || fields.len() < 3 {
                continue;
            }
            let name =
                if fields[2] == "unrecognized:" { format!("type {}", hex(fields[3])) } else { fields[2].to_owned() };
            *table.by_type.entry(name.clone()).or_insert(0) += 1;
            let info = hex(fields[1]);
            let symbol = if self.header["Class"] == "ELF64" { info >> 32 } else { info >> 8 };
            self.relocations.push((name, symbol as usize));
        }
    }

    fn symbols(&mut self, text: &str) {
        let mut is_dynamic = false;
        for line in text.lines() {
            if line.starts_with("Symbol table '") {
                is_dynamic = quoted(line) == Some(".dynsym");
                let entries = line.rsplit_once("contains ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
                if quoted(line) == Some(".symtab") {
                    self.symbols = Some(entries);
                }
            }
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_row = fields.first().is_some_and(|field| field.trim_end_matches(':').parse::<u64>().is_ok());
            if is_dynamic && is_row && fields.len() >= 7 {
                let text = |n: usize| fields.get(n).map_or("", |field| *field).to_owned();
                let name = text(7).split('@').next().unwrap().to_owned();
                let [kind, bind, visibility, section] = [3, 4, 5, 6].map(text);
                self.dynamic_symbols.push(Symbol { kind, bind, visibility, section, name });
            }
        }
    }

    fn sections(&mut self, text: &str) {
        for line in text.lines().filter(|line| line.trim_start().starts_with('[')) {
            let Some((number, rest)) = line.trim_start().trim_start_matches('[').split_once(']') else { continue };
            let Ok(number) = number.trim().parse::<u32>() else { continue };
            let fields: Vec<&str> = rest.split_whitespace().collect();
            if number == 0 || fields.len() < 9 {
                continue;
            }
            let flags = if fields.len() == 10 { fields[6] } else { "" };
            let (name, kind) = (fields[0].to_owned(), fields[1].to_owned());
            self.sections.push((name, kind, flags.to_owned(), hex(fields[2]), hex(fields[4])));
        }
    }

    fn segments(&mut self, text: &str) {
        let mut is_table = false;
        for line in text.lines() {
            if let Some((_, rest)) = line.split_once("[Requesting program interpreter: ") {
                self.interpreter = Some(rest.trim_end_matches(']').to_owned());
                continue;
            }
            is_table = line.starts_with("  Type ") || (is_table && !line.is_empty());
            let fields: Vec<&str> = line.split_whitespace().collect();
            if !is_table || fields.len() < 7 || fields[0] == "Type" {
                continue;
            }
            let rights: String = fields[6..fields.len() - 1].concat();
            let right = |letter| if rights.contains(letter) { letter } else { '-' };
            let rights = [right('R'), right('W'), right('E')].iter().collect();
            self.segments.push((fields[0].to_owned(), rights, hex(fields[4]), hex(fields[5])));
        }
    }

    fn dynamic(&mut self, text: &str) {
        for line in text.lines().filter(|line| line.trim_start().starts_with("0x")) {
            let (_, rest) = line.split_once('(').unwrap();
            let (tag, value) = rest.split_once(')').unwrap();
            let value = if value.contains('[') { bracketed(value) } else { value.trim() };
            self.dynamic.push((tag.to_owned(), value.to_owned()));
        }
    }

    fn versions(&mut self, text: &str) {
        let mut library = None;
        let needs = text.split("Version needs section").nth(1).unwrap_or_default();
        for line in needs.lines() {
            let after = |word: &str| line.split_once(word).map(|(_, rest)| rest.split_whitespace().next().unwrap());
            if let Some(file) = after("File: ") {
                library = Some(file.to_owned());
            }
            if let (Some(version), Some(library)) = (after("Name: "), &library) {
                self.versions.entry(library.clone()).or_default().insert(version.to_owned());
            }
        }
    }

    fn notes(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((_, id)) = line.split_once("Build ID: ") {
                self.build_id = Some(id.trim().to_owned());
            }
            if let Some((_, features)) = line.split_once("x86 feature: ") {
                let names = features.split([',', ' ', '\t']).filter(|name| matches!(*name, "IBT" | "SHSTK"));
                self.features.extend(names.map(str::to_owned));
            }
        }
    }

    /// Values of all entries of the dynamic section with this tag.
    pub(crate) fn tagged(&self, tag: &str) -> Vec<String> {
        self.dynamic.iter().filter(|(name, _)| name == tag).map(|(_, value)| value.clone()).collect()
    }

    /// Names of symbols of the file's own for which there is a relocation of a type.
    pub(crate) fn own(&self, is_type: impl Fn(&str) -> bool) -> Vec<String> {
        let slots = self.relocations.iter().filter(|(kind, symbol)| is_type(kind) && *symbol > 0);
        let symbols = slots.filter_map(|(_, symbol)| self.dynamic_symbols.get(*symbol));
        let mut own: Vec<String> = symbols.filter(|s| s.section != "UND").map(|s| s.name.clone()).collect();
        own.sort_unstable();
        own
    }

    /// `32` or `64`.
    pub(crate) fn class_bits(&self) -> u8 {
        if self.is_64() { 64 } else { 32 }
    }
}
