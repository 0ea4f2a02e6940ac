//! One ELF file, of any class and byte order: its headers, sections and dynamic section.
//! What they amount to is found by those who use it. A file without section headers is refused.

use super::depth::Depth;
use super::dynamic::Dynamic;
use super::error::{Broken, In as _};
use super::strings::Strings;
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{FileHeader, SectionHeader as _};

/// A file whose headers are read.
pub(super) struct Elf<'d, H: FileHeader, R> {
    pub(super) endian: H::Endian,
    pub(super) data: R,
    pub(super) header: &'d H,
    pub(super) sections: &'d [H::SectionHeader],
    pub(super) segments: &'d [H::ProgramHeader],
    pub(super) dynamic: Dynamic<'d, H>,
    /// Names of the sections; a file whose names are missing has empty ones.
    names: Vec<&'d [u8]>,
}

impl<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>> Elf<'d, H, R> {
    pub(super) fn read(data: R, depth: Depth) -> Result<Self, Broken> {
        let header = H::parse(data).within("the file header")?;
        let endian = header.endian().within("the file header")?;
        let sections = header.section_headers(endian, data).within("the section headers")?;
        if sections.is_empty() {
            return Err(Broken("it has no section headers".to_owned()));
        }
        let segments = header.program_headers(endian, data).within("the program headers")?;
        let mut names = vec![&[][..]; sections.len()];
        if header.e_shstrndx(endian) != elf::SHN_UNDEF {
            let index = header.shstrndx(endian, data).within("the section headers")?;
            let table = sections.get(index as usize).within("the table of section names")?;
            let table = table.data(endian, data).within("the table of section names")?;
            let strings = Strings::of(data.len().unwrap_or(0));
            for (name, section) in names.iter_mut().zip(sections) {
                *name = strings.get(table, section.sh_name(endian).into(), "the name of a section")?;
            }
        }
        let dynamic = Dynamic::read(endian, data, sections, depth)?;
        Ok(Self { endian, data, header, sections, segments, dynamic, names })
    }

    pub(super) fn machine(&self) -> elf::Machine {
        self.header.e_machine(self.endian)
    }

    pub(super) fn is_relocatable(&self) -> bool {
        self.header.e_type(self.endian) == elf::ET_REL
    }

    /// The sections with their names, in the order of the file.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'d [u8], &'d H::SectionHeader)> {
        self.names.iter().copied().zip(self.sections)
    }

    /// The sections of a name that have contents.
    pub(super) fn sections_of(&self, name: &str) -> impl Iterator<Item = &'d H::SectionHeader> {
        let wanted = move |(this, section): &(&[u8], &'d H::SectionHeader)| {
            *this == name.as_bytes() && section.sh_type(self.endian) != elf::SHT_NOBITS
        };
        self.named().filter(wanted).map(|(_, section)| section)
    }
}
