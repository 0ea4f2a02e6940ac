//! The dynamic section of an ELF file: what it tells the loader, with the symbols and strings that belong to it. It
//! decides nothing about what the file is.

use super::depth::Depth;
use super::error::{Broken, In as _};
use super::strings::{Strings, text};
use crate::facts::Linking;
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{Dyn as _, FileHeader, SectionHeader as _, Sym as _};
use std::collections::{BTreeMap, BTreeSet};

/// The dynamic section; empty where there is none.
pub(super) struct Dynamic<'d, H: FileHeader> {
    entries: Vec<(elf::DynamicTag, u64)>,
    /// The dynamic symbols, the empty first among them.
    pub(super) symbols: &'d [H::Sym],
    /// Their names.
    symbol_names: &'d [u8],
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
        depth: Depth,
    ) -> Result<Self, Broken> {
        let (part, with_names) = ("a table of strings", depth != Depth::Counts);
        let table = |index: u32| match index {
            0 => Ok(&[][..]),
            // In a large library the names take as long to read as a table of relocations.
            _ if !with_names => Ok(&[][..]),
            _ => sections.get(index as usize).within(part)?.data(endian, data).within(part),
        };
        let (mut entries, mut strings) = (vec![], &[][..]);
        if let Some(section) = sections.iter().find(|section| section.sh_type(endian) == elf::SHT_DYNAMIC)
            && let Some((found, link)) = section.dynamic(endian, data).within("the dynamic section")?
        {
            let pairs = found.iter().map(|entry| (entry.tag(endian), entry.val(endian)));
            entries = pairs.take_while(|(tag, _)| *tag != elf::DT_NULL).collect();
            strings = table(u32::try_from(link.0).unwrap_or(0))?;
        }
        let (mut symbols, mut symbol_names) = (&[][..], &[][..]);
        if let Some(section) = sections.iter().find(|section| section.sh_type(endian) == elf::SHT_DYNSYM) {
            symbols = section.data_as_array(endian, data).within("the dynamic symbols")?;
            symbol_names = table(section.sh_link(endian))?;
        }
        let taken = Strings::of(data.len().unwrap_or(0));
        Ok(Self { entries, symbols, symbol_names, strings, taken, with_names })
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
        let first = |tag| self.entries.iter().find(|(this, _)| *this == tag).map(|(_, value)| name(*value)).transpose();
        let needed = self.entries.iter().filter(|(tag, _)| *tag == elf::DT_NEEDED);
        let flags = self.flags();
        Ok(Linking {
            dynamic: !self.entries.is_empty(),
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
                elf::DT_FLAGS_1 => _ = elf::DynamicFlags1::NAMES.names(elf::DynamicFlags1(*value), |_, name| add(name)),
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
        let part = "the required versions";
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
