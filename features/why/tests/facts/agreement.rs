//! Every count agrees with readelf's.

use crate::fixtures::{Workshop, of_this_machine};
use crate::readelf::{Said, readelf};
use bakeoff_why::facts::{Content, ElfFacts, ElfKind, Encoding, Exports, Relocations, Relro, Stack};
use bakeoff_why::reading::{Depth, facts_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) fn elf(path: &Path) -> ElfFacts {
    match facts_of(path, Depth::All).unwrap().content {
        Content::Elf(facts) => *facts,
        other => panic!("{}: {other:?}", path.display()),
    }
}

#[test]
fn files_of_this_machine() {
    of_this_machine().iter().for_each(|path| agrees(path));
}

#[test]
fn everything_that_gcc_makes() {
    let workshop = Workshop::new();
    let made = workshop.everything();
    assert!(made.len() >= 28, "{made:?}");
    made.iter().for_each(|path| agrees(path));
}

/// Such as a shared Perl, which takes minutes to build.
#[test]
fn files_that_are_named_from_outside() {
    let Some(files) = std::env::var_os("BAKEOFF_FACTS_FILES") else {
        println!("skipped: BAKEOFF_FACTS_FILES names no file");
        return;
    };
    for path in std::env::split_paths(&files) {
        agrees(&path);
        let relocations = elf(&path).relocations;
        let (calls, addresses) = (&relocations.jump_slots, &relocations.glob_dat);
        println!(
            "{}: {} JUMP_SLOT, {} of them self-defined; {} GLOB_DAT, {} self-defined",
            path.display(),
            calls.total,
            calls.own,
            addresses.total,
            addresses.own
        );
    }
}

pub(crate) fn agrees(path: &Path) {
    let (facts, said) = (elf(path), Said::of(path));
    let place = path.display();
    println!("{place}: {} relocations", said.relocations.len());
    assert_eq!(facts.class_bits, said.class_bits(), "{place}");
    census_agrees(&facts.relocations, &said, path);
    sections_agree(&facts, &said, path);
    linking_agrees(&facts, &said, path);
    exports_agree(&facts, &said, path);
    assert_eq!(facts.origin.symbols, said.symbols, "{place}");
    assert_eq!(facts.origin.build_id, said.build_id, "{place}");
    let marks = [("IBT", facts.protection.ibt), ("SHSTK", facts.protection.shstk)];
    let marks: BTreeSet<String> = marks.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(marks, said.features, "{place}");
    origin_agrees(&facts, path);
    // What is read when nothing else is asked for is the same.
    let census = facts_of(path, Depth::Relocations).unwrap().content;
    assert_eq!(census, Content::Relocations(Box::new(facts.relocations.clone())), "{place}");
    let mut counted = facts.relocations;
    (counted.jump_slots.own_names, counted.glob_dat.own_names) = (None, None);
    assert_eq!(facts_of(path, Depth::Counts).unwrap().content, Content::Relocations(Box::new(counted)), "{place}");
}

pub(crate) fn census_agrees(found: &Relocations, said: &Said, path: &Path) {
    let place = path.display();
    assert_eq!(found.tables.len(), said.tables.len(), "{place}");
    for (ours, theirs) in found.tables.iter().zip(&said.tables) {
        assert_eq!((&ours.section, ours.entries), (&theirs.section, theirs.entries), "{place}");
        if ours.encoding == Encoding::Relr {
            assert_eq!(ours.relocations, theirs.offsets, "{place}");
        } else {
            assert_eq!(ours.by_type, theirs.by_type, "{place}: {}", ours.section);
            assert_eq!(ours.entries, ours.by_type.values().sum::<u64>(), "{place}");
        }
    }
    let is_call = |name: &str| name.contains("JUMP_SLO") || name.contains("JMP_SLO");
    let is_address = |name: &str| name.contains("GLOB_DAT");
    let total = |is: &dyn Fn(&str) -> bool| said.relocations.iter().filter(|(name, _)| is(name)).count() as u64;
    assert_eq!(found.jump_slots.total, total(&is_call), "{place}");
    assert_eq!(found.glob_dat.total, total(&is_address), "{place}");
    for (slots, own) in [(&found.jump_slots, said.own(is_call)), (&found.glob_dat, said.own(is_address))] {
        assert_eq!(slots.own, own.len() as u64, "{place}");
        assert_eq!(slots.own_names.as_ref(), Some(&own), "{place}");
    }
}

fn sections_agree(facts: &ElfFacts, said: &Said, path: &Path) {
    let place = path.display();
    for (ours, (name, .., size_bytes)) in facts.sections.iter().zip(&said.sections) {
        assert_eq!((&ours.name, ours.size_bytes), (name, *size_bytes), "{place}");
    }
    assert_eq!(facts.sections.len(), said.sections.len(), "{place}");
    let ours: Vec<_> =
        facts.segments.iter().map(|s| (s.kind.clone(), s.rights.clone(), s.file_bytes, s.memory_bytes)).collect();
    assert_eq!(ours, said.segments, "{place}");
    let sum = |is: &dyn Fn(&str, &str) -> bool| -> u64 {
        let wanted = said.sections.iter().filter(|(_, kind, flags, ..)| flags.contains('A') && is(kind, flags));
        wanted.map(|(.., size)| size).sum()
    };
    let loaded = &facts.loaded;
    let ours = [loaded.text_bytes, loaded.rodata_bytes, loaded.data_bytes, loaded.bss_bytes];
    let theirs = [
        sum(&|kind, flags| kind != "NOBITS" && flags.contains('X')),
        sum(&|kind, flags| kind != "NOBITS" && !flags.contains('X') && !flags.contains('W')),
        sum(&|kind, flags| kind != "NOBITS" && !flags.contains('X') && flags.contains('W')),
        sum(&|kind, _| kind == "NOBITS"),
    ];
    assert_eq!(ours, theirs, "{place}");
}

fn linking_agrees(facts: &ElfFacts, said: &Said, path: &Path) {
    let (place, linking) = (path.display(), &facts.linking);
    let first = |tag: &str| said.tagged(tag).first().cloned();
    assert_eq!(linking.interpreter, said.interpreter, "{place}");
    assert_eq!(linking.needed, said.tagged("NEEDED"), "{place}");
    assert_eq!(linking.soname, first("SONAME"), "{place}");
    assert_eq!(linking.rpath, first("RPATH"), "{place}");
    assert_eq!(linking.runpath, first("RUNPATH"), "{place}");
    assert_eq!(linking.dynamic, !said.dynamic.is_empty(), "{place}");
    let mut flags: BTreeSet<String> =
        said.tagged("FLAGS").iter().flat_map(|value| value.split_whitespace()).map(str::to_owned).collect();
    for value in said.tagged("FLAGS_1") {
        flags.extend(value.trim_start_matches("Flags:").split_whitespace().map(|flag| format!("1_{flag}")));
    }
    let tags = ["SYMBOLIC", "TEXTREL", "BIND_NOW"].map(str::to_owned);
    flags.extend(tags.into_iter().filter(|tag| first(tag).is_some()));
    assert_eq!(linking.flags.iter().cloned().collect::<BTreeSet<_>>(), flags, "{place}");
    assert_eq!(linking.symbolic, flags.contains("SYMBOLIC"), "{place}");
    assert_eq!(linking.textrel, flags.contains("TEXTREL"), "{place}");
    let ours = linking.versions.iter().map(|(library, list)| (library.clone(), list.iter().cloned().collect()));
    assert_eq!(ours.collect::<BTreeMap<_, BTreeSet<String>>>(), said.versions, "{place}");
    let kind = match said.header["Type"].split_whitespace().next().unwrap() {
        "EXEC" => ElfKind::Executable,
        "REL" => ElfKind::Relocatable,
        "DYN" if said.header["Type"].contains("Position-Independent Executable") => ElfKind::Pie,
        "DYN" => ElfKind::SharedObject,
        other => panic!("{other}"),
    };
    assert_eq!(facts.kind, kind, "{place}");
    let segment = |kind: &str| said.segments.iter().find(|segment| segment.0 == kind);
    let now = flags.contains("BIND_NOW") || flags.contains("1_NOW");
    let relro = match segment("GNU_RELRO") {
        None => Relro::None,
        Some(_) if now => Relro::Full,
        Some(_) => Relro::Partial,
    };
    let stack = match segment("GNU_STACK") {
        None => Stack::Unsaid,
        Some((_, rights, ..)) if rights.contains('E') => Stack::Executable,
        Some(_) => Stack::NotExecutable,
    };
    assert_eq!(
        (facts.protection.relro, facts.protection.stack, facts.protection.bind_now),
        (relro, stack, now),
        "{place}"
    );
}

fn exports_agree(facts: &ElfFacts, said: &Said, path: &Path) {
    let offered = said.dynamic_symbols.iter().filter(|symbol| {
        !["UND", "ABS"].contains(&symbol.section.as_str())
            && symbol.bind != "LOCAL"
            && ["DEFAULT", "PROTECTED"].contains(&symbol.visibility.as_str())
    });
    let offered: Vec<_> = offered.collect();
    let count = |kinds: &[&str]| offered.iter().filter(|s| kinds.contains(&s.kind.as_str())).count() as u64;
    assert_eq!(facts.exports.functions, count(&["FUNC", "IFUNC"]), "{}", path.display());
    assert_eq!(facts.exports.objects, count(&["OBJECT", "TLS", "COMMON"]), "{}", path.display());
}

/// Texts of `.comment`, and the units of DWARF with their producers.
fn origin_agrees(facts: &ElfFacts, path: &Path) {
    let place = path.display();
    for (section, ours) in [(".comment", &facts.origin.comments), (".GCC.command.line", &facts.origin.command_lines)] {
        let text = readelf(&["-p", section], path);
        let theirs = text.lines().filter_map(|line| line.trim_start().strip_prefix('[')?.split_once("]  "));
        let theirs = theirs.fold(BTreeMap::new(), |mut sum, (_, text)| {
            *sum.entry(text.to_owned()).or_insert(0) += 1;
            sum
        });
        assert_eq!(ours, &theirs, "{place}: {section}");
    }
    let text = readelf(&["--debug-dump=info", "--debug-dump=no-follow-links", "--dwarf-depth=1", "-W"], path);
    let (mut units, mut producers) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(version) = line.trim().strip_prefix("Version:") {
            *units.entry(version.trim().parse().unwrap()).or_insert(0) += 1;
        }
        if let Some((_, value)) = line.split_once("DW_AT_producer") {
            let value = value.trim_start_matches([' ', ':']);
            let value = if value.starts_with('(') { value.split_once("): ").unwrap().1 } else { value };
            *producers.entry(value.trim_end().to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(facts.origin.dwarf_units, units, "{place}");
    let trimmed = facts.origin.producers.iter().map(|(text, count)| (text.trim_end().to_owned(), *count));
    assert_eq!(trimmed.collect::<BTreeMap<_, _>>(), producers, "{place}");
}

/// What the facts are for: which of a library's own functions it calls through its own table.
#[test]
fn self_defined_slots_are_those_that_symbolic_binding_takes_away() {
    let workshop = Workshop::new();
    let slots = |name: &str, arguments: &str| elf(&workshop.gcc(name, arguments)).relocations.jump_slots;
    let plain = slots("plain.so", "library.c -shared -fPIC -O0");
    assert_eq!(plain.own_names.unwrap(), ["chosen", "inner"]);
    let symbolic = slots("symbolic.so", "library.c -shared -fPIC -O0 -Wl,-Bsymbolic");
    // One that is chosen when the library is loaded needs its slot, whoever calls it.
    assert_eq!(symbolic.own_names.unwrap(), ["chosen"]);
    // Four functions of default visibility and three objects; one function is protected, one hidden.
    let exports = |name: &str| elf(&workshop.path(name)).exports;
    assert_eq!(exports("plain.so"), Exports { functions: 5, objects: 3, interposable: 7 });
    assert_eq!(exports("symbolic.so"), Exports { functions: 5, objects: 3, interposable: 0 });
}

/// As rustc makes them: names of sections that take most of the file.
#[test]
fn a_file_of_many_sections_has_all_its_units() {
    let workshop = Workshop::new();
    let functions = (0..3000).map(|n| format!("int function_with_a_rather_long_name_{n}(void) {{ return {n}; }}\n"));
    std::fs::write(workshop.path("many.c"), functions.collect::<String>()).unwrap();
    let path = workshop.gcc("many.o", "many.c -c -g -ffunction-sections");
    assert_eq!(elf(&path).origin.dwarf_units.values().sum::<u64>(), 1);
}

#[test]
fn a_file_without_section_headers_is_refused() {
    let workshop = Workshop::new();
    let mut bytes = std::fs::read(workshop.gcc("plain.so", "library.c -shared -fPIC")).unwrap();
    // e_shoff, e_shnum and e_shstrndx of a 64-bit file.
    bytes[0x28..0x30].fill(0);
    bytes[0x3c..0x40].fill(0);
    let cut = workshop.path("cut");
    std::fs::write(&cut, bytes).unwrap();
    let error = facts_of(&cut, Depth::All).unwrap_err().to_string();
    assert!(error.contains("cut` is broken: it has no section headers"), "{error}");
}
