//! The facts of a build: what one file of it is, as its own bytes say. [`crate::reading`] reads them; here are their
//! types, and in [`lines`] the one list that pages and differences are made of. Nothing here says what a fact means for
//! speed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) mod lines;
pub(crate) mod subject;

/// What one file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Where it is: as it was named, or relative to the folder that was.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// What is in it.
    pub content: Content,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// An ELF file.
    Elf(Box<ElfFacts>),
    /// A static archive.
    Archive(Box<ArchiveFacts>),
    /// An ELF file of which nothing else was read.
    Relocations(Box<Relocations>),
}

/// The facts of one ELF file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ElfFacts {
    /// Bits of an address: 32 or 64.
    pub class_bits: u8,
    /// Order of bytes.
    pub byte_order: ByteOrder,
    /// The processor, as the gABI names it: `x86-64`; `machine 1234` where it has no name here.
    pub machine: String,
    /// What kind of file it is.
    pub kind: ElfKind,
    /// What the file tells the dynamic loader.
    pub linking: Linking,
    /// Its relocations.
    pub relocations: Relocations,
    /// Its procedure linkage tables, in the order of the file.
    pub plt: Vec<PltSection>,
    /// What it offers to others.
    pub exports: Exports,
    /// What it takes when it is loaded.
    pub loaded: Loaded,
    /// What keeps it from being misused.
    pub protection: Protection,
    /// What it says of where it comes from.
    pub origin: Origin,
    /// All sections but the empty first, in the order of the file.
    pub sections: Vec<Section>,
    /// All program headers, in the order of the file.
    pub segments: Vec<Segment>,
}

/// Order of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteOrder {
    /// The least significant byte first.
    #[default]
    Little,
    /// The most significant byte first.
    Big,
}

/// What kind of ELF file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElfKind {
    /// An executable that must be loaded at its own address.
    #[default]
    Executable,
    /// A position-independent executable (PIE).
    Pie,
    /// A shared object.
    SharedObject,
    /// A relocatable file: not linked yet.
    Relocatable,
    /// A core dump.
    Core,
    /// The number of a type that has no name.
    Other(u16),
}

/// What the file tells the dynamic loader.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Linking {
    /// Whether there is a dynamic section at all; a static executable has none.
    pub dynamic: bool,
    /// The loader that the kernel starts first.
    pub interpreter: Option<String>,
    /// The name that others ask for it by.
    pub soname: Option<String>,
    /// The libraries that it asks for, in this order.
    pub needed: Vec<String>,
    /// Where to look for them before `LD_LIBRARY_PATH`.
    pub rpath: Option<String>,
    /// Where to look for them after `LD_LIBRARY_PATH`.
    pub runpath: Option<String>,
    /// The flags of `DT_FLAGS` and `DT_FLAGS_1` and the tags that stand for one, such as `SYMBOLIC` or `1_NODELETE`,
    /// sorted.
    pub flags: Vec<String>,
    /// References to its own symbols are bound to itself (`-Bsymbolic`).
    pub symbolic: bool,
    /// The loader has to write to its code (`DT_TEXTREL`).
    pub textrel: bool,
    /// Versions of symbols that it needs, by the library that has them; sorted by number.
    pub versions: BTreeMap<String, Vec<String>>,
}

/// Relocations: places that the loader, or for a relocatable file the linker, has to fill in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Relocations {
    /// All tables of them, in the order of the file.
    pub tables: Vec<RelocationTable>,
    /// Slots for calls through the PLT (`JUMP_SLOT`).
    pub jump_slots: Slots,
    /// Slots for addresses of symbols (`GLOB_DAT`).
    pub glob_dat: Slots,
}

impl Relocations {
    /// The number of each type, over all tables that are loaded; those of a relocatable file are never loaded, and all
    /// count. RELR tables have no types.
    pub fn by_type(&self) -> BTreeMap<&str, u64> {
        let loaded = self.tables.iter().any(|table| table.loaded);
        let mut sum = BTreeMap::new();
        for table in self.tables.iter().filter(|table| table.loaded == loaded) {
            for (name, count) in &table.by_type {
                *sum.entry(name.as_str()).or_insert(0) += count;
            }
        }
        sum
    }

    /// Words of all RELR tables, and the relocations that they stand for.
    pub fn relr(&self) -> (u64, u64) {
        let tables = self.tables.iter().filter(|table| table.encoding == Encoding::Relr);
        tables.fold((0, 0), |(words, count), table| (words + table.entries, count + table.relocations))
    }
}

/// One table of relocations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RelocationTable {
    /// The section's name; the dynamic tag where there are no sections.
    pub section: String,
    /// How it is written.
    pub encoding: Encoding,
    /// It is loaded with the program, for the loader. Otherwise it is there for a linker.
    pub loaded: bool,
    /// Its entries; of RELR, its words.
    pub entries: u64,
    /// The relocations that they stand for; more than entries only in RELR.
    pub relocations: u64,
    /// The number of each type; none for RELR.
    pub by_type: BTreeMap<String, u64>,
}

/// How a table of relocations is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// With addends.
    #[default]
    Rela,
    /// Addends stand where the relocation applies.
    Rel,
    /// Relative ones only, packed as addresses and bitmaps.
    Relr,
    /// Packed, of all types.
    Crel,
}

/// Slots of one sort that the loader fills in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Slots {
    /// All of them.
    pub total: u64,
    /// Those of symbols that this very file defines, so that it reaches its own through a table.
    pub own: u64,
    /// The names of these symbols, sorted; none where relocations were only counted.
    pub own_names: Option<Vec<String>>,
}

/// A procedure linkage table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PltSection {
    /// The section's name.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// The size divided by that of an entry, the first counted, which in `.plt` is the way to the loader; none where the
    /// section does not say how long an entry is.
    pub entries: Option<u64>,
}

/// Symbols that a file offers to others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exports {
    /// Functions, indirect ones among them.
    pub functions: u64,
    /// Data, thread-local ones among them.
    pub objects: u64,
    /// Of both, those that another file may take the place of, even for references from this one: of default
    /// visibility, in a shared object that is not symbolic.
    pub interposable: u64,
}

/// Bytes of the sections that are loaded, or of the segments where there are no sections.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loaded {
    /// Machine code.
    pub text_bytes: u64,
    /// What is only read.
    pub rodata_bytes: u64,
    /// What can be written.
    pub data_bytes: u64,
    /// Zeros that can be written, and take no space in the file.
    pub bss_bytes: u64,
}

/// What keeps a file from being misused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Protection {
    /// How much of what the loader writes becomes read-only.
    pub relro: Relro,
    /// All symbols are bound before the program starts (`-z now`).
    pub bind_now: bool,
    /// Whether the stack can be run.
    pub stack: Stack,
    /// Indirect jumps must end at a landing pad: x86's IBT.
    pub ibt: bool,
    /// There is a second stack for return addresses: x86's SHSTK.
    pub shstk: bool,
    /// Indirect jumps must end at a landing pad: AArch64's BTI.
    pub bti: bool,
    /// Return addresses are signed: AArch64's PAC.
    pub pac: bool,
}

/// How much of what the loader writes becomes read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relro {
    /// Nothing.
    #[default]
    None,
    /// All but the slots of the PLT.
    Partial,
    /// All, as everything is bound before the program starts.
    Full,
}

/// Whether the stack can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// The file does not say: as the kernel likes.
    #[default]
    Unsaid,
    /// It cannot.
    NotExecutable,
    /// It can.
    Executable,
}

/// What a file says of where it comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// The build identity, in hexadecimal.
    pub build_id: Option<String>,
    /// Entries of the symbol table (`.symtab`), the empty first counted; none: the file is stripped.
    pub symbols: Option<u64>,
    /// Units of DWARF in this file, by version.
    pub dwarf_units: BTreeMap<u16, u64>,
    /// The file that has the rest of the DWARF (`.gnu_debuglink`).
    pub debug_link: Option<String>,
    /// The texts in `.comment`, which compilers and linkers leave, each with how often it is there.
    pub comments: BTreeMap<String, u64>,
    /// `DW_AT_producer`, which has the compiler and often its flags, with the number of units.
    pub producers: BTreeMap<String, u64>,
    /// The texts in `.GCC.command.line`, each with how often it is there.
    pub command_lines: BTreeMap<String, u64>,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
}

/// A program header.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Its type, as the gABI names it without `PT_`, or its number.
    pub kind: String,
    /// Its rights: `RWE`, `-` for one that is missing.
    pub rights: String,
    /// What it takes in the file.
    pub file_bytes: u64,
    /// What it takes in memory.
    pub memory_bytes: u64,
}

/// The facts of a static archive, summed over its members.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ArchiveFacts {
    /// It has the names of its members only (a thin archive), so that nothing could be summed.
    pub thin: bool,
    /// Members that are ELF files.
    pub members: u64,
    /// Members that are not.
    pub other_members: u64,
    /// Members for each processor.
    pub machines: BTreeMap<String, u64>,
    /// The number of relocations of each type.
    pub relocations: BTreeMap<String, u64>,
    /// What all members would take.
    pub loaded: Loaded,
    /// Members without a symbol table.
    pub stripped: u64,
    /// Units of DWARF, by version.
    pub dwarf_units: BTreeMap<u16, u64>,
    /// The texts in `.comment`.
    pub comments: BTreeMap<String, u64>,
    /// `DW_AT_producer`, with the number of units.
    pub producers: BTreeMap<String, u64>,
    /// The texts in `.GCC.command.line`.
    pub command_lines: BTreeMap<String, u64>,
}

impl ArchiveFacts {
    /// Adds a member.
    pub fn add(&mut self, member: &ElfFacts) {
        self.members += 1;
        *self.machines.entry(member.machine.clone()).or_insert(0) += 1;
        for (name, count) in member.relocations.by_type() {
            *self.relocations.entry(name.to_owned()).or_insert(0) += count;
        }
        let Loaded { text_bytes, rodata_bytes, data_bytes, bss_bytes } = &member.loaded;
        self.loaded.text_bytes = self.loaded.text_bytes.saturating_add(*text_bytes);
        self.loaded.rodata_bytes = self.loaded.rodata_bytes.saturating_add(*rodata_bytes);
        self.loaded.data_bytes = self.loaded.data_bytes.saturating_add(*data_bytes);
        self.loaded.bss_bytes = self.loaded.bss_bytes.saturating_add(*bss_bytes);
        self.stripped += u64::from(member.origin.symbols.is_none());
        for (version, units) in &member.origin.dwarf_units {
            *self.dwarf_units.entry(*version).or_insert(0) += units;
        }
        for (to, from) in [
            (&mut self.comments, &member.origin.comments),
            (&mut self.producers, &member.origin.producers),
            (&mut self.command_lines, &member.origin.command_lines),
        ] {
            for (text, count) in from {
                *to.entry(text.clone()).or_insert(0) += count;
            }
        }
    }
}
