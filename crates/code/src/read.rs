//! Objects as they are compared: sections with the functions and data in them, and what relocations refer to.

use crate::answer::Why;
use crate::decoded::decode;
use crate::nouns::{Atom, Kind, Object, Place, Relocation, Section, Symbol, Target};
use object::LittleEndian;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, Rela as _, SectionHeader as _, Sym as _};
use object::{Object as _, ObjectComdat as _};
use std::collections::{BTreeSet, HashMap};

pub(crate) const ENDIAN: LittleEndian = LittleEndian;
pub(crate) type Elf<'a> = ElfFile64<'a, LittleEndian>;

/// Sections whose place says nothing; each also with a dot and more.
const USUAL: [&str; 10] =
    [".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".lrodata", ".ldata", ".lbss", ".ltext"];

/// How the stack of each function is unwound.
const UNWINDING: &str = ".eh_frame";
/// What each function does with exceptions.
const HANDLERS: &str = ".gcc_except_table";
/// Where the code of an object is made in the link, or may be.
const MADE_LATER: [&str; 3] = [".gnu.lto_", ".llvmbc", ".llvm.lto"];
/// What is behind a usual name, besides the name of a function or datum.
const SUFFIXES: [&str; 7] = ["", ".rel", ".local", ".rel.local", ".rel.ro", ".rel.ro.local", ".unlikely"];
/// The last one that is known.
const LAST: u32 = 42;

/// Reads an object.
pub(crate) fn object<'a>(name: &'a str, content: &'a [u8]) -> Result<Object<'a>, Why> {
    let file = Elf::parse(content).map_err(|_| Why::NotMachineCode)?;
    let header = file.elf_header();
    if header.e_machine(ENDIAN) != elf::EM_X86_64 || header.e_type(ENDIAN) != elf::ET_REL {
        return Err(Why::NotMachineCode);
    }
    let mut sections = sections(&file).map_err(|_| Why::NotMachineCode)?;
    let is_made_later = |section: &Section<'_>| MADE_LATER.iter().any(|name| section.name.starts_with(name));
    let mut problem = sections.iter().any(is_made_later).then_some(Why::NotMachineCode);
    let (symbols, unusual) = symbols(&file).map_err(|_| Why::NotMachineCode)?;
    problem = problem.or(unusual.then_some(Why::Unusual));
    for section in &mut sections {
        problem = problem.or(section.relocations.iter().any(|one| one.sort > LAST).then_some(Why::Unusual));
    }
    problem = problem.or(atoms(&mut sections, &symbols).err());
    problem = problem.or(decode(&mut sections, &symbols).err());
    let mut personalities = BTreeSet::new();
    match handlers(&mut sections, &symbols) {
        Ok(found) => personalities = found,
        Err(why) => problem = problem.or(Some(why)),
    }
    problem = problem.or(has_other_relocations(&file).then_some(Why::Unusual));
    Ok(Object { name, content, sections, symbols, personalities, problem })
}

/// Whether there are relocations of a form that is not read.
fn has_other_relocations(file: &Elf<'_>) -> bool {
    const CREL: u32 = 0x4000_0014;
    let mut sorts = file.elf_section_table().iter().map(|header| header.sh_type(ENDIAN));
    sorts.any(|sort| sort == elf::SHT_REL || sort.0 == CREL)
}

fn sections<'a>(file: &Elf<'a>) -> object::Result<Vec<Section<'a>>> {
    let mut signatures = HashMap::new();
    for group in file.comdats() {
        let signature = std::str::from_utf8(group.name_bytes()?).unwrap_or_default();
        signatures.extend(group.sections().map(|section| (section, signature)));
    }
    let mut all = vec![];
    for (index, header) in file.elf_section_table().enumerate() {
        let (flags, sort) = (header.sh_flags(ENDIAN), header.sh_type(ENDIAN));
        let name = file.elf_section_table().section_name(ENDIAN, header)?;
        let name = std::str::from_utf8(name).unwrap_or_default();
        let mut relocations = vec![];
        if flags.0 & elf::SHF_ALLOC.0 != 0 {
            for one in file.section_by_index(index)?.elf_linked_rela()? {
                relocations.push(Relocation {
                    at: one.r_offset(ENDIAN),
                    sort: one.r_type(ENDIAN, false).0,
                    symbol: one.r_sym(ENDIAN, false) as usize,
                    addend: one.r_addend(ENDIAN),
                    known: None,
                });
            }
        }
        relocations.sort_by_key(|one| one.at);
        all.push(Section {
            name,
            kind: kind(name, flags.0),
            flags: flags.0 & (elf::SHF_WRITE | elf::SHF_EXECINSTR | elf::SHF_TLS).0,
            is_sealed: name.starts_with(".data.rel.ro"),
            is_zero: sort == elf::SHT_NOBITS,
            unit: header.sh_entsize(ENDIAN).max(1),
            align: header.sh_addralign(ENDIAN).max(1),
            size: header.sh_size(ENDIAN),
            data: header.data(ENDIAN, file.data())?,
            relocations,
            signature: signatures.get(&index).copied(),
            ..Section::default()
        });
    }
    Ok(all)
}

fn kind(name: &str, flags: u64) -> Kind {
    let has = |flag: elf::SectionFlags| flags & flag.0 != 0;
    let is_usual =
        |usual: &&str| name.strip_prefix(*usual).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let is_left = [UNWINDING, ".note.gnu.property", ".note.GNU-stack", ".note.gnu.build-id"].contains(&name);
    if !has(elf::SHF_ALLOC) || is_left {
        Kind::Left
    } else if !USUAL.iter().any(is_usual) {
        Kind::Whole
    } else if has(elf::SHF_EXECINSTR) {
        Kind::Code
    } else if has(elf::SHF_MERGE) {
        if has(elf::SHF_STRINGS) { Kind::Strings } else { Kind::Constants }
    } else {
        Kind::Data
    }
}

/// The symbols, and whether one of them is of an unusual kind.
fn symbols<'a>(file: &Elf<'a>) -> object::Result<(Vec<Symbol<'a>>, bool)> {
    let table = file.elf_symbol_table();
    let (mut all, mut unusual) = (vec![], false);
    for (index, symbol) in table.enumerate() {
        let name = std::str::from_utf8(symbol.name(ENDIAN, table.strings())?);
        unusual |= name.is_err();
        let name = name.unwrap_or_default();
        let sort = symbol.st_type();
        let place = match table.symbol_section(ENDIAN, symbol, index)? {
            Some(section) => Place::In(section.0),
            None if symbol.is_undefined(ENDIAN) => Place::Undefined,
            None if symbol.is_common(ENDIAN) => Place::Common,
            None => {
                unusual |= sort != elf::STT_FILE;
                Place::Undefined
            }
        };
        let (value, size) = (symbol.st_value(ENDIAN), symbol.st_size(ENDIAN));
        let (bind, visibility) = (symbol.st_bind(), symbol.st_visibility());
        all.push(Symbol { name, file: "", place, value, size, sort, bind, visibility });
    }
    Ok((all, unusual))
}

/// Finds the functions and data of each section.
pub(crate) fn atoms<'a>(sections: &mut [Section<'a>], symbols: &[Symbol<'a>]) -> Result<(), Why> {
    for symbol in symbols {
        let Place::In(section) = symbol.place else { continue };
        let section = &mut sections[section];
        section.marks.push(symbol.value);
        if section.kind == Kind::Left || section.kind == Kind::Whole {
            continue;
        }
        if symbol.is_named_thing() && symbol.size > 0 {
            section.atoms.push(Atom {
                start: symbol.value,
                size: symbol.size,
                name: symbol.name,
                sort: symbol.sort,
                code: vec![],
                handlers: None,
                is_unwound: false,
            });
        } else if symbol.is_global() || section.kind == Kind::Code && symbol.sort == elf::STT_FUNC {
            return Err(Why::Unnamed);
        }
    }
    for section in sections {
        let is_end = |atom: &Atom<'_>| atom.start.checked_add(atom.size);
        section.atoms.sort_by_key(|atom| (atom.start, std::cmp::Reverse(atom.size)));
        // Other names of the same thing.
        section.atoms.dedup_by_key(|atom| (atom.start, atom.size));
        let overlap = section.atoms.windows(2).any(|two| is_end(&two[0]).is_none_or(|end| end > two[1].start));
        let is_beyond = section.atoms.last().is_some_and(|last| is_end(last).is_none_or(|end| end > section.size));
        // A linker may put such sections one behind the other, as a list.
        let is_list = section.kind == Kind::Data && !is_of_one_thing(section);
        if overlap || is_beyond || is_list {
            return Err(Why::Unusual);
        }
    }
    Ok(())
}

/// Whether a section has a usual name, or that of the function or datum in it.
fn is_of_one_thing(section: &Section<'_>) -> bool {
    let suffix = USUAL.iter().find_map(|usual| section.name.strip_prefix(usual)).unwrap_or_default();
    let stem = |atom: &Atom<'_>| atom.name.split('.').next().is_some_and(|stem| suffix.contains(stem));
    SUFFIXES.contains(&suffix) || suffix.starts_with(".cst") || section.atoms.iter().all(stem)
}

/// Finds what catches the exceptions of each function, and whether any can pass it: only the tables for unwinding say it.
/// Returns the functions that handle exceptions of a language.
fn handlers<'a>(sections: &mut [Section<'a>], symbols: &[Symbol<'a>]) -> Result<BTreeSet<&'a str>, Why> {
    let mut personalities = BTreeSet::new();
    let mut unwound: Vec<(usize, u64)> = vec![];
    let mut found: Vec<(usize, u64, Target<'a>)> = vec![];
    for section in sections.iter().filter(|section| section.name == UNWINDING) {
        let mut function = None;
        for one in &section.relocations {
            match one.target(sections, symbols, 0)? {
                Target::Place { section, at, plus: 0 } if sections[section].kind == Kind::Code => {
                    let at = (section, u64::try_from(at).map_err(|_| Why::Unusual)?);
                    function = Some(at);
                    unwound.push(at);
                }
                target @ Target::Place { section, .. } if sections[section].name.starts_with(HANDLERS) => {
                    let (section, at) = function.ok_or(Why::Unusual)?;
                    found.push((section, at, target));
                }
                Target::Named(name, _) => _ = personalities.insert(name),
                _ => {}
            }
        }
    }
    for (section, at, target) in found {
        let atoms = &mut sections[section].atoms;
        let number = atoms.binary_search_by_key(&at, |atom| atom.start).map_err(|_| Why::Unusual)?;
        atoms[number].handlers = Some(target);
    }
    for (section, at) in unwound {
        let atoms = &mut sections[section].atoms;
        if let Ok(number) = atoms.binary_search_by_key(&at, |atom| atom.start) {
            atoms[number].is_unwound = true;
        }
    }
    Ok(personalities)
}
