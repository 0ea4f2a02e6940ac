//! A linked file in the nouns of objects: its sections, functions and data, and what the loader does at each address in them.
//! `meant.rs` finds what instructions refer to. Only programs of x86-64 that can be loaded anywhere: there an address is
//! relative, or the loader changes it. What is not understood is an error: nothing else could say what a reference means.

use crate::answer::Why;
use crate::decoded::decode;
use crate::meant::{END_OF_DATA, Loaded, Meaning, RELATIVE};
use crate::nouns::{Kind, Object, Place, Relocation, Section, Symbol};
use crate::read::{ENDIAN, Elf, atoms};
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::SymbolIndex;
use object::elf;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _};
use std::collections::{BTreeMap, BTreeSet};

/// Sections that the linker makes of all the others, or that say nothing of what is computed.
const MADE: [&str; 18] = [
    ".gnu.hash",
    ".hash",
    ".dynsym",
    ".dynstr",
    ".gnu.version",
    ".gnu.version_r",
    ".rela.dyn",
    ".rela.plt",
    ".dynamic",
    ".got",
    ".got.plt",
    ".plt",
    ".plt.sec",
    ".plt.got",
    ".eh_frame",
    ".eh_frame_hdr",
    ".note.gnu.property",
    ".note.gnu.build-id",
];
const WHOLES: [&str; 7] =
    [".interp", ".note.ABI-tag", ".preinit_array", ".init_array", ".fini_array", ".tdata", ".tbss"];
const CODE: [&str; 3] = [".text", ".init", ".fini"];
const DATA: [&str; 4] = [".rodata", ".data.rel.ro", ".data", ".bss"];
/// Symbols without a size that linkers and the objects of each program define: they name a place, and nothing that is there.
const PLACES: [&str; 10] =
    ["_edata", "edata", "__bss_start", "_end", "end", "_etext", "etext", "data_start", "__data_start", END_OF_DATA];
/// Relocations that the loader does: 64-bit, copy, slots, relative, and those of data of threads.
const LOADED: [u32; 8] = [1, 5, 6, 7, RELATIVE, 16, 17, 18];
/// A program that finds its files by where it is may do something else elsewhere.
const WHERE_IT_IS: &[u8] = b"/proc/self/exe";

pub(crate) struct Image<'a> {
    pub(crate) object: Object<'a>,
    /// What must be equal, besides: what the file tells the loader, and where the data of threads are, by which code finds them.
    pub(crate) told: Told<'a>,
    /// Texts that nothing refers to, in order.
    texts: Vec<&'a [u8]>,
}

#[derive(Default, PartialEq)]
pub(crate) struct Told<'a> {
    segments: Vec<(u32, u32, u64)>,
    tags: BTreeSet<i64>,
    versions: BTreeMap<&'a [u8], &'a [u8]>,
    of_threads: BTreeSet<(u64, u64, &'a str)>,
}

impl<'a> Image<'a> {
    /// Reads a file.
    pub(crate) fn of(content: &'a [u8]) -> Result<Self, Why> {
        let file = Elf::parse(content)?;
        let header = file.elf_header();
        if header.e_machine(ENDIAN) != elf::EM_X86_64 || header.e_type(ENDIAN) != elf::ET_DYN {
            return Err(Why::NotMachineCode);
        }
        let (mut sections, starts) = sections(&file)?;
        let mut told = Told::of(&file)?;
        let symbols = symbols(&file, &mut sections, &starts, &mut told)?;
        atoms(&mut sections, &symbols)?;
        let mut meaning = Meaning::of(sections, starts, &symbols, loaded(&file)?, end_of_data(&file)?);
        meaning.find()?;
        let texts = meaning.left_texts()?;
        let mut sections = meaning.sections;
        unwound(&mut sections, &meaning.starts)?;
        decode(&mut sections, &symbols)?;
        let object = Object { name: "", content, sections, symbols, personalities: BTreeSet::new(), problem: None };
        Ok(Self { object, told, texts })
    }

    /// Whether one of the two has no texts of its own that nothing refers to: else one may be the other, changed.
    pub(crate) fn explains(&self, other: &Self) -> bool {
        let lacks = |one: &Self, other: &Self| {
            let mut others = other.texts.iter();
            !one.texts.iter().all(|text| others.by_ref().any(|other| other == text))
        };
        !lacks(self, other) || !lacks(other, self)
    }
}

impl<'a> Told<'a> {
    fn of(file: &Elf<'a>) -> Result<Self, Why> {
        let segments = file.elf_program_headers().iter();
        let segments = segments.map(|one| (one.p_type(ENDIAN).0, one.p_flags(ENDIAN).0, one.p_align(ENDIAN)));
        let mut told = Self { segments: segments.collect(), ..Self::default() };
        let dynamic = file.elf_dynamic_symbol_table();
        for entry in file.elf_dynamic_table()?.dynamics() {
            let (tag, value) = (entry.tag(ENDIAN), entry.val(ENDIAN));
            told.tags.insert(tag.0);
            if [elf::DT_TEXTREL, elf::DT_RELR, elf::DT_REL].contains(&tag) {
                return Err(Why::Unusual);
            }
            if [elf::DT_RPATH, elf::DT_RUNPATH].contains(&tag) {
                let path = dynamic.strings().get(value as u32).unwrap_or_default();
                // Else another folder has other libraries.
                if path.contains(&b'$') || path.split(|byte| *byte == b':').any(|one| !one.starts_with(b"/")) {
                    return Err(Why::Unusual);
                }
            }
        }
        if told.tags.is_empty() {
            return Err(Why::NotMachineCode);
        }
        let versions = file.elf_section_table().versions(ENDIAN, file.data())?;
        for (index, symbol) in dynamic.enumerate() {
            let Some(versions) = &versions else { break };
            let version = versions.version(versions.version_index(ENDIAN, index).index())?;
            let name = symbol.name(ENDIAN, dynamic.strings())?;
            if told.versions.insert(name, version.map(|version| version.name()).unwrap_or_default()).is_some() {
                return Err(Why::Unusual);
            }
        }
        Ok(told)
    }
}

/// All sections, and where each begins.
fn sections<'a>(file: &Elf<'a>) -> Result<(Vec<Section<'a>>, Vec<u64>), Why> {
    let (mut all, mut starts) = (vec![], vec![]);
    for header in file.elf_section_table().iter() {
        let (flags, sort) = (header.sh_flags(ENDIAN).0, header.sh_type(ENDIAN));
        let name = std::str::from_utf8(file.elf_section_table().section_name(ENDIAN, header)?);
        let name = name.map_err(|_| Why::Unusual)?;
        let is_loaded = flags & elf::SHF_ALLOC.0 != 0;
        let is_code = flags & elf::SHF_EXECINSTR.0 != 0;
        let kind = match is_loaded {
            false => Kind::Left,
            true if MADE.contains(&name) => Kind::Left,
            true if CODE.contains(&name) && is_code => Kind::Code,
            true if WHOLES.contains(&name) && !is_code => Kind::Whole,
            true if DATA.contains(&name) && !is_code => Kind::Data,
            true => return Err(Why::Unusual),
        };
        let section = Section {
            name,
            kind,
            flags: flags & (elf::SHF_WRITE | elf::SHF_EXECINSTR | elf::SHF_TLS).0,
            is_sealed: name.starts_with(".data.rel.ro"),
            is_zero: sort == elf::SHT_NOBITS,
            unit: 1,
            align: header.sh_addralign(ENDIAN).max(1),
            size: header.sh_size(ENDIAN),
            data: header.data(ENDIAN, file.data())?,
            ..Section::default()
        };
        if section.data.windows(WHERE_IT_IS.len()).any(|bytes| is_loaded && bytes == WHERE_IT_IS) {
            return Err(Why::Unusual);
        }
        starts.push(if is_loaded { header.sh_addr(ENDIAN) } else { u64::MAX });
        all.push(section);
    }
    all.push(first_steps(file)?);
    starts.push(u64::MAX);
    Ok((all, starts))
}

/// What the loader calls by address, as a list.
fn first_steps<'a>(file: &Elf<'a>) -> Result<Section<'a>, Why> {
    const CALLED: [elf::DynamicTag; 2] = [elf::DT_INIT, elf::DT_FINI];
    let mut addresses = vec![file.elf_header().e_entry(ENDIAN)];
    for entry in file.elf_dynamic_table()?.dynamics() {
        if CALLED.contains(&entry.tag(ENDIAN)) {
            addresses.push(entry.val(ENDIAN));
        }
    }
    let relocation = |(number, address): (usize, u64)| Relocation {
        at: 8 * number as u64,
        sort: RELATIVE,
        symbol: 0,
        addend: address as i64,
        known: None,
    };
    Ok(Section {
        name: "the first steps",
        kind: Kind::Whole,
        is_zero: true,
        unit: 1,
        align: 1,
        size: 8 * addresses.len() as u64,
        relocations: addresses.into_iter().enumerate().map(relocation).collect(),
        ..Section::default()
    })
}

/// The functions and data that have names; their values become places in their sections.
fn symbols<'a>(
    file: &Elf<'a>,
    sections: &mut [Section<'a>],
    starts: &[u64],
    told: &mut Told<'a>,
) -> Result<Vec<Symbol<'a>>, Why> {
    let table = file.elf_symbol_table();
    let (mut all, mut source) = (vec![], "");
    for (index, symbol) in table.enumerate() {
        let name = std::str::from_utf8(symbol.name(ENDIAN, table.strings())?).map_err(|_| Why::Unusual)?;
        let (sort, value) = (symbol.st_type(), symbol.st_value(ENDIAN));
        if sort == elf::STT_FILE {
            source = name;
        }
        let place = table.symbol_section(ENDIAN, symbol, index)?;
        let Some(object::SectionIndex(section)) = place else {
            if symbol.is_undefined(ENDIAN) || sort == elf::STT_FILE {
                continue;
            }
            return Err(Why::Unusual);
        };
        let (bind, mut size) = (symbol.st_bind(), symbol.st_size(ENDIAN));
        if sort == elf::STT_TLS {
            // Variables of one name have numbers.
            told.of_threads.insert((value, size, name.split('.').next().unwrap_or_default()));
        }
        let is_place = size == 0 && PLACES.contains(&name);
        if ![Kind::Code, Kind::Data].contains(&sections[section].kind) || sort == elf::STT_SECTION || is_place {
            continue;
        }
        let is_function = sort == elf::STT_FUNC || sort == elf::STT_GNU_IFUNC;
        if (sections[section].kind == Kind::Code) != is_function && size > 0 {
            return Err(Why::Unusual);
        }
        if name == "__dso_handle" && size == 0 {
            size = 8;
        }
        let file = if bind == elf::STB_LOCAL { source } else { "" };
        let value = value.checked_sub(starts[section]).ok_or(Why::Unusual)?;
        let visibility = symbol.st_visibility();
        all.push(Symbol { name, file, place: Place::In(section), value, size, sort, bind, visibility });
    }
    if all.is_empty() {
        return Err(Why::Unnamed);
    }
    give_sizes(&mut all, sections);
    Ok(all)
}

fn end_of_data(file: &Elf<'_>) -> Result<Option<u64>, Why> {
    let table = file.elf_symbol_table();
    for symbol in table.symbols() {
        if symbol.name(ENDIAN, table.strings())? == END_OF_DATA.as_bytes() {
            return Ok(Some(symbol.st_value(ENDIAN)));
        }
    }
    Ok(None)
}

/// The functions that each program begins and ends with have no sizes: they end where the next one begins.
fn give_sizes(symbols: &mut [Symbol<'_>], sections: &[Section<'_>]) {
    let starts: BTreeSet<(usize, u64)> = symbols.iter().filter_map(|one| Some((one.section()?, one.value))).collect();
    for symbol in symbols.iter_mut().filter(|one| one.sort == elf::STT_FUNC && one.size == 0) {
        let Some(number) = symbol.section() else { continue };
        let next = starts.range((number, symbol.value + 1)..).next().filter(|next| next.0 == number);
        let end = next.map_or(sections[number].size, |next| next.1);
        let bytes = sections[number].bytes(symbol.value, end);
        for known in &mut Decoder::new(64, bytes, DecoderOptions::NONE) {
            if ![Mnemonic::Nop, Mnemonic::Int3].contains(&known.mnemonic()) {
                symbol.size = known.next_ip();
            }
        }
    }
}

/// What the loader does, by the address at which it does that.
fn loaded<'a>(file: &Elf<'a>) -> Result<BTreeMap<u64, Loaded<'a>>, Why> {
    let dynamic = file.elf_dynamic_symbol_table();
    let mut all = BTreeMap::new();
    for header in file.elf_section_table().iter() {
        if header.sh_flags(ENDIAN).0 & elf::SHF_ALLOC.0 == 0 {
            continue;
        }
        if [elf::SHT_REL, elf::SHT_RELR].contains(&header.sh_type(ENDIAN)) {
            return Err(Why::Unusual);
        }
        let Some((relocations, _)) = header.rela(ENDIAN, file.data())? else { continue };
        for one in relocations {
            let (sort, symbol) = (one.r_type(ENDIAN, false).0, one.r_sym(ENDIAN, false) as usize);
            let name = match symbol {
                0 => None,
                _ => Some(dynamic.symbol(SymbolIndex(symbol))?.name(ENDIAN, dynamic.strings())?),
            };
            let name = name.map(std::str::from_utf8).transpose().map_err(|_| Why::Unusual)?;
            let one_of = Loaded { sort, name, addend: one.r_addend(ENDIAN) };
            if !LOADED.contains(&sort) || all.insert(one.r_offset(ENDIAN), one_of).is_some() {
                return Err(Why::Unusual);
            }
        }
    }
    Ok(all)
}

/// Finds which functions exceptions can pass, in the table by which these are found.
fn unwound(sections: &mut [Section<'_>], starts: &[u64]) -> Result<(), Why> {
    /// Version, and how the numbers are written: relative 4 bytes, 4 bytes, 4 bytes relative to the section.
    const HEAD: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let Some(header) = sections.iter().position(|section| section.name == ".eh_frame_hdr") else { return Ok(()) };
    let data = sections[header].data;
    if data.get(..4) != Some(&HEAD) {
        return Err(Why::Unusual);
    }
    for entry in data.get(12..).unwrap_or_default().chunks_exact(8) {
        let distance = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let address = starts[header].wrapping_add_signed(distance.into());
        for (section, start) in sections.iter_mut().zip(starts).filter(|(section, _)| section.kind == Kind::Code) {
            let at = address.wrapping_sub(*start);
            if let Ok(number) = section.atoms.binary_search_by_key(&at, |atom| atom.start) {
                section.atoms[number].is_unwound = true;
            }
        }
    }
    Ok(())
}
