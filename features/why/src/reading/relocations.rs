//! The census of relocations: every table of a file, by type, and the slots that it has for symbols of its own. Names of
//! types are those of readelf.

use super::elf::Elf;
use super::error::{Broken, In as _};
use super::strings::text;
use crate::facts::{Encoding, RelocationTable, Relocations};
use object::elf;
use object::endian::Endianness;
use object::read::ReadRef;
use object::read::elf::{FileHeader, Rel as _, Rela as _, Relr as _, SectionHeader as _};
use std::collections::BTreeMap;

/// Types below this are counted in a table; those of every processor's loader are.
const COMMON: usize = 2048;

/// Types that `object` names as glibc's elf.h does, or not at all, and readelf as the psABI does.
const RENAMED: [(elf::Machine, u32, &str); 20] = [
    (elf::EM_X86_64, 39, "R_X86_64_PC32_BND"),
    (elf::EM_X86_64, 40, "R_X86_64_PLT32_BND"),
    (elf::EM_386, 7, "R_386_JUMP_SLOT"),
    (elf::EM_AARCH64, 1028, "R_AARCH64_TLS_DTPMOD64"),
    (elf::EM_AARCH64, 1029, "R_AARCH64_TLS_DTPREL64"),
    (elf::EM_AARCH64, 1030, "R_AARCH64_TLS_TPREL64"),
    (elf::EM_ARM, 4, "R_ARM_LDR_PC_G0"),
    (elf::EM_ARM, 10, "R_ARM_THM_CALL"),
    (elf::EM_ARM, 12, "R_ARM_BREL_ADJ"),
    (elf::EM_ARM, 13, "R_ARM_TLS_DESC"),
    (elf::EM_ARM, 24, "R_ARM_GOTOFF32"),
    (elf::EM_ARM, 25, "R_ARM_BASE_PREL"),
    (elf::EM_ARM, 26, "R_ARM_GOT_BREL"),
    (elf::EM_ARM, 32, "R_ARM_ALU_PCREL7_0"),
    (elf::EM_ARM, 33, "R_ARM_ALU_PCREL15_8"),
    (elf::EM_ARM, 34, "R_ARM_ALU_PCREL23_15"),
    (elf::EM_ARM, 102, "R_ARM_THM_JUMP11"),
    (elf::EM_ARM, 103, "R_ARM_THM_JUMP8"),
    (elf::EM_PPC, 37, "R_PPC_ADDR30"),
    (elf::EM_PPC64, 37, "R_PPC64_REL30"),
];

/// Counts relocations by type.
struct Census<'a, 'd, H: FileHeader, R> {
    elf: &'a Elf<'d, H, R>,
    jump_slot: Option<u32>,
    glob_dat: Option<u32>,
    common: Vec<u64>,
    rare: BTreeMap<u32, u64>,
    found: Relocations,
    /// The names of own symbols of which there are slots for calls, and for addresses; empty where no name is read.
    names: [Vec<&'d [u8]>; 2],
}

/// All tables of relocations of a file.
pub(super) fn read<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>>(
    elf: &Elf<'d, H, R>,
) -> Result<Relocations, Broken> {
    let (jump_slot, glob_dat) = slot_types(elf.machine());
    let mut census = Census {
        elf,
        jump_slot,
        glob_dat,
        common: vec![0; COMMON],
        rare: BTreeMap::new(),
        found: Relocations::default(),
        names: [vec![], vec![]],
    };
    elf.named().try_for_each(|(name, section)| census.section(name, section))?;
    let mut found = census.found;
    for (slots, mut names) in [&mut found.jump_slots, &mut found.glob_dat].into_iter().zip(census.names) {
        names.sort_unstable();
        slots.own_names = elf.dynamic.with_names.then(|| names.into_iter().map(text).collect());
    }
    Ok(found)
}

/// The numbers of the types that fill slots for calls and for addresses. RISC-V has none for addresses.
fn slot_types(machine: elf::Machine) -> (Option<u32>, Option<u32>) {
    let (jump_slot, glob_dat) = match machine {
        elf::EM_X86_64 => (elf::R_X86_64_JUMP_SLOT, elf::R_X86_64_GLOB_DAT),
        elf::EM_386 => (elf::R_386_JMP_SLOT, elf::R_386_GLOB_DAT),
        elf::EM_AARCH64 => (elf::R_AARCH64_JUMP_SLOT, elf::R_AARCH64_GLOB_DAT),
        elf::EM_ARM => (elf::R_ARM_JUMP_SLOT, elf::R_ARM_GLOB_DAT),
        elf::EM_PPC => (elf::R_PPC_JMP_SLOT, elf::R_PPC_GLOB_DAT),
        elf::EM_PPC64 => (elf::R_PPC64_JMP_SLOT, elf::R_PPC64_GLOB_DAT),
        elf::EM_S390 => (elf::R_390_JMP_SLOT, elf::R_390_GLOB_DAT),
        elf::EM_RISCV => return (Some(elf::R_RISCV_JUMP_SLOT.0), None),
        elf::EM_LOONGARCH => return (Some(elf::R_LARCH_JUMP_SLOT.0), None),
        _ => return (None, None),
    };
    (Some(jump_slot.0), Some(glob_dat.0))
}

/// The name of a type; its number where it has none.
fn type_name(machine: elf::Machine, number: u32) -> String {
    let renamed = RENAMED.iter().find(|(of, this, _)| (*of, *this) == (machine, number)).map(|(.., name)| *name);
    let known = renamed.or_else(|| elf::machine_names(machine).r.name(elf::RelocationType(number)));
    known.map_or_else(|| format!("type {number}"), str::to_owned)
}

impl<'d, H: FileHeader<Endian = Endianness>, R: ReadRef<'d>> Census<'_, 'd, H, R> {
    fn section(&mut self, name: &[u8], section: &'d H::SectionHeader) -> Result<(), Broken> {
        let (endian, data, machine) = (self.elf.endian, self.elf.data, self.elf.machine());
        let (name, is_mips64el) = (text(name), self.elf.header.is_mips64el(endian));
        let part = format!("section {name}");
        let (mut entries, mut relocations) = (0, None);
        let encoding = if let Some((found, _)) = section.rela(endian, data).within(&part)? {
            entries = found.len() as u64;
            for entry in found {
                self.count(entry.r_type(endian, is_mips64el).0, entry.r_sym(endian, is_mips64el))?;
            }
            Encoding::Rela
        } else if let Some((found, _)) = section.rel(endian, data).within(&part)? {
            entries = found.len() as u64;
            found.iter().try_for_each(|entry| self.count(entry.r_type(endian).0, entry.r_sym(endian)))?;
            Encoding::Rel
        } else if section.sh_type(endian) == elf::SHT_RELR {
            let words: &[H::Relr] = section.data_as_array(endian, data).within(&part)?;
            entries = words.len() as u64;
            // An even word is an address, and one relocation; each bit of an odd one but the lowest is one more.
            let stand_for = words.iter().map(|word| match word.get(endian).into() {
                word if word & 1 == 0 => 1,
                word => u64::from((word >> 1).count_ones()),
            });
            relocations = Some(stand_for.sum());
            Encoding::Relr
        } else if let Some((found, _)) = section.crel(endian, data).within(&part)? {
            for entry in found {
                let entry = entry.within(&part)?;
                self.count(entry.r_type.0, entry.r_sym)?;
                entries += 1;
            }
            Encoding::Crel
        } else {
            return Ok(());
        };
        let common = self.common.iter_mut().enumerate().filter(|(_, count)| **count > 0);
        let common = common.map(|(number, count)| (number as u32, std::mem::take(count)));
        let by_type = common.chain(std::mem::take(&mut self.rare));
        let by_type = by_type.map(|(number, count)| (type_name(machine, number), count)).collect();
        let loaded = section.sh_flags(endian).0 & elf::SHF_ALLOC.0 != 0 && !self.elf.is_relocatable();
        let relocations = relocations.unwrap_or(entries);
        self.found.tables.push(RelocationTable { section: name, encoding, loaded, entries, relocations, by_type });
        Ok(())
    }

    fn count(&mut self, number: u32, symbol: u32) -> Result<(), Broken> {
        match self.common.get_mut(number as usize) {
            Some(count) => *count += 1,
            None => *self.rare.entry(number).or_insert(0) += 1,
        }
        let [calls, addresses] = &mut self.names;
        let (slots, names) = if Some(number) == self.jump_slot {
            (&mut self.found.jump_slots, calls)
        } else if Some(number) == self.glob_dat {
            (&mut self.found.glob_dat, addresses)
        } else {
            return Ok(());
        };
        slots.total += 1;
        let (endian, dynamic) = (self.elf.endian, &self.elf.dynamic);
        if let Some(symbol) = dynamic.own(endian, symbol)? {
            slots.own += 1;
            names.extend(dynamic.name(endian, symbol)?);
        }
        Ok(())
    }
}
