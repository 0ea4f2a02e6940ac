//! What an ELF file is, all in all: the facts of its headers, sections and dynamic section, with those of its relocations,
//! notes and DWARF, which have files of their own.

use super::depth::Depth;
use super::elf::Elf;
use super::error::{Broken, In as _};
use super::source::{Allowance, Source};
use super::strings::text;
use super::{dwarf, notes, relocations};
use crate::facts::{
    ByteOrder, Content, ElfFacts, ElfKind, Exports, Loaded, Origin, PltSection, Relro, Section, Segment, Stack,
};
use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::read::{ReadCache, ReadCacheOps, ReadRef};
use std::collections::BTreeMap;

/// How every ELF file begins.
pub(super) const ELF: &[u8] = b"\x7fELF";

/// The facts of the ELF file that lies in this range.
pub(super) fn elf_at<S: ReadCacheOps>(
    cache: &ReadCache<S>,
    range: (u64, u64),
    depth: Depth,
) -> Result<Content, Broken> {
    let allowance = Allowance::of(range.1);
    facts(Source::new(cache, &allowance, range.0, range.1), depth).map_err(|Broken(what)| {
        match allowance.is_used_up() {
            true => Broken(format!("{what} (the parts of the file are together larger than the file)")),
            false => Broken(what),
        }
    })
}

/// The facts of the ELF file that these bytes are.
fn facts<'d, R: ReadRef<'d>>(data: R, depth: Depth) -> Result<Content, Broken> {
    let ident = data.read_bytes_at(0, 16).ok().within("the file header")?;
    match ident[4] {
        1 => Elf::<elf::FileHeader32<Endianness>, R>::read(data, depth)?.content(depth),
        2 => Elf::<elf::FileHeader64<Endianness>, R>::read(data, depth)?.content(depth),
        class => Err(Broken(format!("its class is {class}, neither 32-bit nor 64-bit"))),
    }
}

impl<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>> Elf<'d, H, R> {
    fn content(&self, depth: Depth) -> Result<Content, Broken> {
        match depth {
            Depth::Counts | Depth::Relocations => {
                relocations::read(self).map(|found| Content::Relocations(Box::new(found)))
            }
            Depth::All => self.facts().map(|facts| Content::Elf(Box::new(facts))),
        }
    }

    fn facts(&self) -> Result<ElfFacts, Broken> {
        let (machine, mut facts) = (self.machine(), ElfFacts::default());
        facts.class_bits = if self.header.is_type_64() { 64 } else { 32 };
        facts.byte_order = if self.header.is_big_endian() { ByteOrder::Big } else { ByteOrder::Little };
        facts.machine = machine_name(machine);
        facts.relocations = relocations::read(self)?;
        facts.linking = self.dynamic.linking(self.endian, self.data, self.sections)?;
        facts.linking.interpreter = self.interpreter()?;
        facts.kind = self.kind(&facts);
        facts.sections = self.section_facts();
        facts.segments = self.segments.iter().map(|segment| self.segment(segment)).collect();
        facts.plt = self.plt();
        facts.loaded = self.loaded();
        let shared = facts.kind == ElfKind::SharedObject;
        facts.exports = self.exports(shared && !facts.linking.symbolic);
        self.protect(&mut facts);
        notes::read(self, &mut facts)?;
        self.origin(&mut facts.origin)?;
        dwarf::read(self, &mut facts.origin)?;
        Ok(facts)
    }

    /// A file of type "dynamic" is an executable if it says so. Linkers before 2015 did not: there it is one if it names
    /// an interpreter, and is not asked for by name.
    fn kind(&self, facts: &ElfFacts) -> ElfKind {
        let linking = &facts.linking;
        match self.header.e_type(self.endian) {
            elf::ET_EXEC => ElfKind::Executable,
            elf::ET_REL => ElfKind::Relocatable,
            elf::ET_CORE => ElfKind::Core,
            elf::ET_DYN if linking.flags.iter().any(|flag| flag == "1_PIE") => ElfKind::Pie,
            elf::ET_DYN if linking.interpreter.is_some() && linking.soname.is_none() => ElfKind::Pie,
            elf::ET_DYN => ElfKind::SharedObject,
            other => ElfKind::Other(other.0),
        }
    }

    fn interpreter(&self) -> Result<Option<String>, Broken> {
        for segment in self.segments {
            // What was cut out of a file to keep its debugging information has none left.
            if segment.p_type(self.endian) != elf::PT_INTERP || segment.p_filesz(self.endian).into() == 0 {
                continue;
            }
            let bytes = segment.data(self.endian, self.data).ok().within("the interpreter's name")?;
            return Ok(Some(text(bytes.split(|byte| *byte == 0).next().unwrap_or_default())));
        }
        Ok(None)
    }

    fn section_facts(&self) -> Vec<Section> {
        let size_bytes = |section: &H::SectionHeader| section.sh_size(self.endian).into();
        let fact = |(name, section)| Section { name: text(name), size_bytes: size_bytes(section) };
        self.named().skip(1).map(fact).collect()
    }

    fn segment(&self, segment: &H::ProgramHeader) -> Segment {
        let kind = segment.p_type(self.endian);
        let known = elf::machine_names(self.machine()).pt.name(kind);
        let flags = segment.p_flags(self.endian).0;
        let right = |bit, letter| if flags & bit == 0 { '-' } else { letter };
        Segment {
            kind: known.map_or_else(|| format!("{:#x}", kind.0), |name| name.trim_start_matches("PT_").to_owned()),
            rights: [right(4, 'R'), right(2, 'W'), right(1, 'E')].into_iter().collect(),
            file_bytes: segment.p_filesz(self.endian).into(),
            memory_bytes: segment.p_memsz(self.endian).into(),
        }
    }

    fn plt(&self) -> Vec<PltSection> {
        let is_plt = |name: &[u8]| name == b".plt" || name == b".iplt" || name.starts_with(b".plt.");
        let sections = self.named().filter(|(name, _)| is_plt(name)).map(|(name, section)| {
            let size_bytes: u64 = section.sh_size(self.endian).into();
            let entries = size_bytes.checked_div(section.sh_entsize(self.endian).into());
            PltSection { name: text(name), size_bytes, entries }
        });
        sections.collect()
    }

    fn loaded(&self) -> Loaded {
        let mut loaded = Loaded::default();
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        for section in self.sections {
            let flags = section.sh_flags(self.endian).0;
            let is = |bit: elf::SectionFlags| flags & bit.0 != 0;
            let size: u64 = section.sh_size(self.endian).into();
            match section.sh_type(self.endian) {
                _ if !is(elf::SHF_ALLOC) => {}
                elf::SHT_NOBITS => add(&mut loaded.bss_bytes, size),
                _ if is(elf::SHF_EXECINSTR) => add(&mut loaded.text_bytes, size),
                _ if is(elf::SHF_WRITE) => add(&mut loaded.data_bytes, size),
                _ => add(&mut loaded.rodata_bytes, size),
            }
        }
        loaded
    }

    fn exports(&self, can_be_interposed: bool) -> Exports {
        let mut exports = Exports::default();
        for symbol in self.dynamic.symbols {
            let (section, bind) = (symbol.st_shndx(self.endian), symbol.st_bind());
            // Names of versions are defined as absolute objects.
            let defined = section != elf::SHN_UNDEF && section != elf::SHN_ABS && bind != elf::STB_LOCAL;
            let visibility = symbol.st_visibility();
            if !defined || visibility == elf::STV_HIDDEN || visibility == elf::STV_INTERNAL {
                continue;
            }
            match symbol.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => exports.functions += 1,
                elf::STT_OBJECT | elf::STT_TLS | elf::STT_COMMON => exports.objects += 1,
                _ => continue,
            }
            exports.interposable += u64::from(can_be_interposed && visibility == elf::STV_DEFAULT);
        }
        exports
    }

    fn protect(&self, facts: &mut ElfFacts) {
        let protection = &mut facts.protection;
        let flags = &facts.linking.flags;
        protection.bind_now = flags.iter().any(|flag| flag == "BIND_NOW" || flag == "1_NOW");
        for segment in self.segments {
            match segment.p_type(self.endian) {
                elf::PT_GNU_RELRO if protection.bind_now => protection.relro = Relro::Full,
                elf::PT_GNU_RELRO => protection.relro = Relro::Partial,
                elf::PT_GNU_STACK if segment.p_flags(self.endian).0 & elf::PF_X.0 != 0 => {
                    protection.stack = Stack::Executable;
                }
                elf::PT_GNU_STACK => protection.stack = Stack::NotExecutable,
                _ => {}
            }
        }
    }

    fn origin(&self, origin: &mut Origin) -> Result<(), Broken> {
        let table = self.sections.iter().find(|s| s.sh_type(self.endian) == elf::SHT_SYMTAB);
        let entry = size_of::<H::Sym>() as u64;
        origin.symbols = table.map(|table| Into::<u64>::into(table.sh_size(self.endian)) / entry);
        if let Some(section) = self.sections_of(".gnu_debuglink").next() {
            let name = section.data(self.endian, self.data).within("section .gnu_debuglink")?;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            origin.debug_link = Some(text(name));
        }
        origin.comments = self.strings_of(".comment")?;
        origin.command_lines = self.strings_of(".GCC.command.line")?;
        Ok(())
    }

    /// The texts of a section that holds nothing else, each with how often it is there.
    fn strings_of(&self, name: &str) -> Result<BTreeMap<String, u64>, Broken> {
        let mut texts = BTreeMap::new();
        for section in self.sections_of(name) {
            let contents = section.data(self.endian, self.data).within(name)?;
            for bytes in contents.split(|byte| *byte == 0).filter(|bytes| !bytes.is_empty()) {
                *texts.entry(text(bytes)).or_insert(0) += 1;
            }
        }
        Ok(texts)
    }
}

fn machine_name(machine: elf::Machine) -> String {
    let name = match machine {
        elf::EM_X86_64 => "x86-64",
        elf::EM_386 => "i386",
        elf::EM_AARCH64 => "AArch64",
        elf::EM_ARM => "ARM",
        elf::EM_RISCV => "RISC-V",
        elf::EM_PPC64 => "PowerPC64",
        elf::EM_PPC => "PowerPC",
        elf::EM_S390 => "s390",
        elf::EM_MIPS => "MIPS",
        elf::EM_LOONGARCH => "LoongArch",
        elf::EM_SPARCV9 => "SPARC v9",
        other => return format!("machine {}", other.0),
    };
    name.to_owned()
}
