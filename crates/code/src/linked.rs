//! What a linked file tells the loader, as far as it does not depend on addresses, and which symbols it got.

use crate::answer::Why;
use crate::read::{ENDIAN, Elf};
use object::elf;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, Sym as _};
use object::{Object as _, ObjectSection as _};
use std::collections::BTreeSet;

/// Entries that name something.
const NAMES: [elf::DynamicTag; 7] =
    [elf::DT_NEEDED, elf::DT_SONAME, elf::DT_RPATH, elf::DT_RUNPATH, elf::DT_AUXILIARY, elf::DT_FILTER, elf::DT_AUDIT];
/// Entries whose value is the same at all addresses.
const VALUES: [elf::DynamicTag; 9] = [
    elf::DT_FLAGS,
    elf::DT_FLAGS_1,
    elf::DT_SYMBOLIC,
    elf::DT_TEXTREL,
    elf::DT_BIND_NOW,
    elf::DT_PREINIT_ARRAYSZ,
    elf::DT_INIT_ARRAYSZ,
    elf::DT_FINI_ARRAYSZ,
    elf::DT_PLTREL,
];

/// A symbol that the loader sees: name, kind, visibility, whether it is defined, and the size of a datum.
type Seen<'a> = (&'a [u8], u8, u8, bool, u64);

pub(crate) struct Loading<'a> {
    kind: u16,
    interpreter: Option<&'a [u8]>,
    stack: Vec<u32>,
    entries: Vec<(i64, &'a [u8], u64)>,
    property: Option<&'a [u8]>,
    seen: BTreeSet<Seen<'a>>,
    /// The names of all symbols that parts see; none if it was stripped.
    symbols: Option<BTreeSet<&'a [u8]>>,
}

impl<'a> Loading<'a> {
    pub(crate) fn of(content: &'a [u8]) -> Result<Self, Why> {
        let loading = Self::read(content).map_err(|_| Why::NotMachineCode)?;
        // Which symbol has which version is not compared.
        let has_versions = Elf::parse(content).is_ok_and(|file| file.section_by_name(".gnu.version_d").is_some());
        if has_versions { Err(Why::Unusual) } else { Ok(loading) }
    }

    fn read(content: &'a [u8]) -> object::Result<Self> {
        let file = Elf::parse(content)?;
        let headers = file.elf_program_headers();
        let stack = headers.iter().filter(|one| one.p_type(ENDIAN) == elf::PT_GNU_STACK);
        let property = match file.section_by_name(".note.gnu.property") {
            Some(section) => Some(section.data()?),
            None => None,
        };
        let mut loading = Self {
            kind: file.elf_header().e_type(ENDIAN).0,
            interpreter: None,
            stack: stack.map(|one| one.p_flags(ENDIAN).0).collect(),
            entries: vec![],
            property,
            seen: BTreeSet::new(),
            symbols: None,
        };
        for header in headers {
            loading.interpreter = loading.interpreter.or(header.interpreter(ENDIAN, content)?);
        }
        let dynamic = file.elf_dynamic_symbol_table();
        for entry in file.elf_dynamic_table()?.dynamics() {
            let (tag, value) = (entry.tag(ENDIAN), entry.val(ENDIAN));
            if NAMES.contains(&tag) {
                let name = dynamic.strings().get(value as u32).unwrap_or_default();
                loading.entries.push((tag.0, name, 0));
            } else if VALUES.contains(&tag) {
                loading.entries.push((tag.0, &[], value));
            }
        }
        for symbol in dynamic.symbols() {
            let is_datum = symbol.st_type() == elf::STT_OBJECT;
            let size = if is_datum { symbol.st_size(ENDIAN) } else { 0 };
            let is_there = !symbol.is_undefined(ENDIAN);
            let name = symbol.name(ENDIAN, dynamic.strings())?;
            loading.seen.insert((name, symbol.st_info().0, symbol.st_other().0, is_there, size));
        }
        let table = file.elf_symbol_table();
        let mut names = BTreeSet::new();
        // Also what is needed from elsewhere: a definition of it would be taken.
        for symbol in table.symbols() {
            // A linker makes hidden symbols local.
            if symbol.st_bind() != elf::STB_LOCAL || symbol.st_visibility() != elf::STV_DEFAULT {
                names.insert(symbol.name(ENDIAN, table.strings())?);
            }
        }
        loading.symbols = (!table.is_empty()).then_some(names);
        Ok(loading)
    }

    /// What differs, if something does.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            ("the kind of file", self.kind != other.kind),
            ("the interpreter", self.interpreter != other.interpreter),
            ("the stack", self.stack != other.stack),
            ("the dynamic section", self.entries != other.entries),
            ("the note of properties", self.property != other.property),
            ("the dynamic symbols", self.seen != other.seen),
        ];
        differences.into_iter().find(|(_, differs)| *differs).map(|(name, _)| name)
    }

    /// Whether no library gives this program a symbol of these names, which the other one defines; and no member of
    /// an archive was loaded for one of them only.
    pub(crate) fn lacks(&self, names: &[&str], other: &Self) -> bool {
        let (Some(own), Some(others)) = (&self.symbols, &other.symbols) else { return names.is_empty() };
        let names: BTreeSet<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        own.is_disjoint(&names) && others.difference(own).all(|name| names.contains(name))
    }
}
