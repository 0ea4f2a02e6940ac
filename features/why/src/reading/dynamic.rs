//! The dynamic section of an ELF file: what it tells the loader, with the symbols and strings that belong to it. It
//! decides nothing about what the file is.

use super::depth::Depth;
use super::error::{Broken, In as _};
use super::strings::{Strings, text};
use crate::facts::Linking;
use object::elf;
use object::endian::Endianness;
use object::pod::Pod;
use object::read::ReadRef;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _};
use std::collections::{BTreeMap, BTreeSet};

/// Bits of `DT_FLAGS_1` that `object` has no name for.
const LATER_FLAGS: [(u64, &str); 3] = [(1 << 28, "1_KMOD"), (1 << 29, "1_WEAKFILTER"), (1 << 30, "1_NOCOMMON")];

/// The dynamic section; empty where there is none.
pub(super) struct Dynamic<'d, H: FileHeader> {
    /// Whether there is one.
    present: bool,
    entries: Vec<(elf::DynamicTag, u64)>,
    /// The dynamic symbols, the empty first among them.
    pub(super) symbols: &'d [H::Sym],
    /// Their names.
    pub(super) symbol_names: &'d [u8],
    strings: &'d [u8],
    taken: Strings,
    /// Whether names are read at all.
    pub(super) with_names: bool,
}

impl<'d, H: FileHeader<Endian = Endianness>> Dynamic<'d, H> {
    pub(super) fn read<R: ReadRef<'d>>(
        endian: Endianness,
        data: R,
        sections: &'d [H::SectionHeader],
        segments: &'d [H::ProgramHeader],
        depth: Depth,
    ) -> Result<Self, Broken> {
        let taken = Strings::of(data.len().unwrap_or(0));
        let with_names = depth != Depth::Counts;
        let mut dynamic =
            Self { present: false, entries: vec![], symbols: &[], symbol_names: &[], strings: &[], taken, with_names };
        let table = |index: u32| match index {
            // In a large library the names take as long to read as a table of relocations.
            _ if !with_names => Ok(&[][..]),
            0 => Ok(&[][..]),
            _ => sections
                .get(index as usize)
                .within("a table of strings")?
                .data(endian, data)
                .within("a table of strings"),
        };
        for section in sections {
            if let Some((entries, link)) = section.dynamic(endian, data).within("the dynamic section")? {
                dynamic.fill(endian, entries);
                dynamic.strings = table(u32::try_from(link.0).unwrap_or(0))?;
                break;
            }
        }
        let symbols = sections.iter().find(|section| section.sh_type(endian) == elf::SHT_DYNSYM);
        if let Some(section) = symbols {
            let part = "the dynamic symbols";
            dynamic.symbols = section.data_as_array(endian, data).within(part)?;
            dynamic.symbol_names = table(section.sh_link(endian))?;
        }
        if sections.is_empty() {
            dynamic.read_without_sections(endian, data, segments)?;
        }
        Ok(dynamic)
    }

    fn fill(&mut self, endian: Endianness, entries: &[H::Dyn]) {
        self.present = true;
        let pairs = entries.iter().map(|entry| (entry.tag(endian), entry.val(endian)));
        self.entries = pairs.take_while(|(tag, _)| *tag != elf::DT_NULL).collect();
    }

    fn read_without_sections<R: ReadRef<'d>>(
        &mut self,
        endian: Endianness,
        data: R,
        segments: &'d [H::ProgramHeader],
    ) -> Result<(), Broken> {
        for segment in segments {
            if let Some(entries) = segment.dynamic(endian, data).within("the dynamic segment")? {
                self.fill(endian, entries);
                break;
            }
        }
        let strings = self.value(elf::DT_STRTAB).zip(self.value(elf::DT_STRSZ)).filter(|_| self.with_names);
        if let Some((address, size)) = strings {
            self.strings = at_address(endian, data, segments, address, size).within("the table of strings")?;
            self.symbol_names = self.strings;
        }
        // The table of symbols says nowhere how long it is. Linkers put that of names behind it.
        if let (Some(address), Some(end)) = (self.value(elf::DT_SYMTAB), self.value(elf::DT_STRTAB))
            && let Some(size) = end.checked_sub(address)
        {
            let entry = size_of::<H::Sym>() as u64;
            self.symbols =
                array(endian, data, segments, (address, size - size % entry)).within("the dynamic symbols")?;
        }
        Ok(())
    }

    /// The value of the first entry with this tag.
    pub(super) fn value(&self, tag: elf::DynamicTag) -> Option<u64> {
        self.entries.iter().find(|(this, _)| *this == tag).map(|(_, value)| *value)
    }

    /// A dynamic symbol, if this very file defines it.
    pub(super) fn own(&self, endian: Endianness, index: u32) -> Result<Option<&'d H::Sym>, Broken> {
        if index == 0 {
            return Ok(None);
        }
        let symbol = self.symbols.get(index as usize).within("the symbol of a relocation")?;
        Ok(Some(symbol).filter(|symbol| symbol.st_shndx(endian) != elf::SHN_UNDEF))
    }

    /// A dynamic symbol's name; none where names are not read.
    pub(super) fn name(&self, endian: Endianness, symbol: &H::Sym) -> Result<Option<&'d [u8]>, Broken> {
        let name = || self.taken.get(self.symbol_names, symbol.st_name(endian).into(), "the name of a dynamic symbol");
        self.with_names.then(name).transpose()
    }

    pub(super) fn linking<R: ReadRef<'d>>(
        &self,
        endian: Endianness,
        data: R,
        sections: &'d [H::SectionHeader],
    ) -> Result<Linking, Broken> {
        let name = |offset: u64| self.taken.get(self.strings, offset, "a name in the dynamic section").map(text);
        let first = |tag| self.value(tag).map(name).transpose();
        let needed = self.entries.iter().filter(|(tag, _)| *tag == elf::DT_NEEDED);
        let flags = self.flags();
        Ok(Linking {
            dynamic: self.present,
            interpreter: None,
            soname: first(elf::DT_SONAME)?,
            needed: needed.map(|(_, offset)| name(*offset)).collect::<Result<_, _>>()?,
            rpath: first(elf::DT_RPATH)?,
            runpath: first(elf::DT_RUNPATH)?,
            symbolic: flags.contains("SYMBOLIC"),
            textrel: flags.contains("TEXTREL"),
            versions: self.versions(endian, data, sections)?,
            flags: flags.into_iter().collect(),
        })
    }

    fn flags(&self) -> BTreeSet<String> {
        let mut flags = BTreeSet::new();
        let mut add = |name: &str| _ = flags.insert(name.trim_start_matches("DF_").to_owned());
        for (tag, value) in &self.entries {
            match *tag {
                elf::DT_FLAGS => _ = elf::DynamicFlags::NAMES.names(elf::DynamicFlags(*value), |_, name| add(name)),
                elf::DT_FLAGS_1 => {
                    let rest = elf::DynamicFlags1::NAMES.names(elf::DynamicFlags1(*value), |_, name| add(name));
                    LATER_FLAGS.iter().filter(|(bit, _)| rest & bit != 0).for_each(|(_, name)| add(name));
                }
                elf::DT_SYMBOLIC => add("SYMBOLIC"),
                elf::DT_TEXTREL => add("TEXTREL"),
                elf::DT_BIND_NOW => add("BIND_NOW"),
                _ => {}
            }
        }
        flags
    }

    /// The versions that a file needs, by library.
    fn versions<R: ReadRef<'d>>(
        &self,
        endian: Endianness,
        data: R,
        sections: &'d [H::SectionHeader],
    ) -> Result<BTreeMap<String, Vec<String>>, Broken> {
        let part = "the versions that are needed";
        let name = |offset: u32| self.taken.get(self.strings, offset.into(), part).map(text);
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for section in sections {
            let Some((mut needs, _)) = section.gnu_verneed(endian, data).within(part)? else { continue };
            // Each takes 16 bytes: if there are more, some are counted twice.
            let mut left = Into::<u64>::into(section.sh_size(endian)) / 16;
            while let Some((need, mut names)) = needs.next().within(part)? {
                let of_library = versions.entry(name(need.vn_file.get(endian))?).or_default();
                while let Some(version) = names.next().within(part)? {
                    left = left.checked_sub(1).within(part)?;
                    of_library.push(name(version.vna_name.get(endian))?);
                }
            }
        }
        versions.values_mut().for_each(|list| list.sort_by_cached_key(|name| by_number(name)));
        Ok(versions)
    }
}

/// So that `GLIBC_2.4` is before `GLIBC_2.34`.
fn by_number(name: &str) -> (String, Vec<u64>) {
    let at = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (word, numbers) = name.split_at(at);
    (word.to_owned(), numbers.split('.').map(|number| number.parse().unwrap_or(u64::MAX)).collect())
}

/// A table whose address in memory is known.
pub(super) fn at_address<'d, P: object::read::elf::ProgramHeader<Endian = Endianness>, R: ReadRef<'d>>(
    endian: Endianness,
    data: R,
    segments: &[P],
    address: u64,
    size: u64,
) -> Option<&'d [u8]> {
    let segment = segments.iter().filter(|s| s.p_type(endian) == elf::PT_LOAD).find(|segment| {
        let from: u64 = segment.p_vaddr(endian).into();
        address >= from && address - from < segment.p_filesz(endian).into()
    })?;
    let offset = (address - Into::<u64>::into(segment.p_vaddr(endian))).checked_add(segment.p_offset(endian).into())?;
    data.read_bytes_at(offset, size).ok()
}

/// Like [`at_address`], of entries of one type.
pub(super) fn array<'d, T: Pod, P: object::read::elf::ProgramHeader<Endian = Endianness>, R: ReadRef<'d>>(
    endian: Endianness,
    data: R,
    segments: &[P],
    (address, size): (u64, u64),
) -> Option<&'d [T]> {
    let bytes = at_address(endian, data, segments, address, size)?;
    let (entries, _) = object::pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).ok()?;
    Some(entries)
}
