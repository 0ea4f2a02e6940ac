//! Notes of an ELF file: the build identity, and the properties of its code that the loader must know.

use super::elf::Elf;
use super::error::{Broken, In as _};
use crate::facts::ElfFacts;
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{FileHeader, NoteIterator, SectionHeader as _};

/// Reads the sections of notes.
pub(super) fn read<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
    facts: &mut ElfFacts,
) -> Result<(), Broken> {
    for section in elf.sections {
        if let Some(notes) = section.notes(elf.endian, elf.data).within("a section of notes")? {
            walk(elf, notes, facts)?;
        }
    }
    Ok(())
}

fn walk<H: FileHeader<Endian = Endianness>, R>(
    elf: &Elf<'_, H, R>,
    mut notes: NoteIterator<'_, H>,
    facts: &mut ElfFacts,
) -> Result<(), Broken> {
    let (endian, machine) = (elf.endian, elf.header.e_machine(elf.endian));
    while let Some(note) = notes.next().within("a note")? {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
            facts.origin.build_id = Some(note.desc().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        let Some(mut properties) = note.gnu_properties(endian) else { continue };
        while let Some(property) = properties.next().within("a property of the code")? {
            let x86 = matches!(machine, elf::EM_X86_64 | elf::EM_386);
            let kind = property.pr_type();
            if x86 && kind == elf::GNU_PROPERTY_X86_FEATURE_1_AND {
                let bits = property.data_u32(endian).within("a property of the code")?;
                facts.protection.ibt |= bits & elf::GNU_PROPERTY_X86_FEATURE_1_IBT != 0;
                facts.protection.shstk |= bits & elf::GNU_PROPERTY_X86_FEATURE_1_SHSTK != 0;
            } else if machine == elf::EM_AARCH64 && kind == elf::GNU_PROPERTY_AARCH64_FEATURE_1_AND {
                let bits = property.data_u32(endian).within("a property of the code")?;
                facts.protection.bti |= bits & elf::GNU_PROPERTY_AARCH64_FEATURE_1_BTI != 0;
                facts.protection.pac |= bits & elf::GNU_PROPERTY_AARCH64_FEATURE_1_PAC != 0;
            }
        }
    }
    Ok(())
}
