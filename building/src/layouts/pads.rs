//! The pads of a layout: how many bytes stand in front of each object of each build, so that the same object begins at the
//! same address in all of them, and the objects that hold these bytes. No linker is run here.
//!
//! The objects of a program are placed one after the other, in one order for all builds. A cursor is where an object
//! begins. It ends where the largest of its builds ends; the next begins 0 to 1,008 bytes behind that, on 16 bytes, as the seed
//! says. In front of the first is a whole page, and 0 to 4,080 bytes more: what differs before it does not shift it. An
//! object that is not the same in all builds gets 0 to 4,080 bytes more in front, drawn for each of them: what is moved inside of
//! it would otherwise be moved alike under every seed, and no number of layouts would average that out.

use super::parts::{GROUPS, Part};
use bakeoff_model::shuffle::Stream;
use object::elf::{ELFOSABI_GNU, SHF_ALLOC, SHF_EXECINSTR, SHF_MERGE, SHF_STRINGS, SHF_WRITE, SHT_PROGBITS};
use object::write::{Object, SectionId};
use object::{Architecture, BinaryFormat, Endianness, FileFlags, SectionFlags, SectionKind, elf};
use std::collections::{BTreeMap, BTreeSet};

/// Stands for what is behind the last object.
pub(super) const END: &str = "";

/// Code and data begin on multiples of this at most.
const PAGE: u64 = 4096;
const STEP: u64 = 16;

/// Between two objects are fewer steps than this; in front of the first, or of a changed one, fewer than that.
const BETWEEN: u64 = 64;
const IN_FRONT: u64 = 256;

/// Bytes of a pad in each group.
pub(super) type Sizes = [u64; 4];

/// The names of all objects, in one order: that of the first build; what only others have follows what it follows there.
pub(super) fn order(all: &[Option<&[Part]>]) -> Vec<String> {
    let mut order: Vec<String> = vec![];
    for parts in all.iter().flatten() {
        let mut before = None;
        for part in *parts {
            let place = order.iter().position(|known| *known == part.name).unwrap_or_else(|| {
                let place = before.map_or(0, |before| before + 1);
                order.insert(place, part.name.clone());
                place
            });
            before = Some(place);
        }
    }
    order
}

/// The pads of each build: by object, what stands in front of it.
pub(super) fn table(all: &[Option<&[Part]>], seed: u32) -> Vec<BTreeMap<String, Sizes>> {
    let order = order(all);
    let part = |build: usize, name: &str| all[build]?.iter().find(|part| part.name == name);
    let mut tables = vec![BTreeMap::new(); all.len()];
    for (group, group_name) in GROUPS.iter().enumerate() {
        let draw =
            |what: &[&str], steps: u64| STEP * Stream::of(seed.into(), &[&[*group_name], what].concat()).below(steps);
        let mut begin = draw(&["front"], IN_FRONT);
        // Where each build is behind its last object; the pad in front of the first ends a page.
        let mut ends = vec![0; all.len()];
        let mut taken: Vec<BTreeSet<String>> = vec![BTreeSet::new(); all.len()];
        for name in &order {
            let mut furthest = begin;
            let is_changed = is_changed(all, name);
            for build in 0..all.len() {
                let Some(part) = part(build, name) else { continue };
                let own = if is_changed { draw(&["own", name, &build.to_string()], IN_FRONT) } else { 0 };
                set(&mut tables[build], name, group, begin + own - ends[build]);
                let taken = &mut taken[build];
                ends[build] = part.end(group, begin + own, &mut |signature| taken.insert(signature.to_owned()));
                furthest = furthest.max(ends[build]);
            }
            begin = furthest.next_multiple_of(STEP) + draw(&["behind", name], BETWEEN);
        }
        for (table, end) in tables.iter_mut().zip(ends) {
            set(table, END, group, begin - end);
        }
    }
    tables
}

fn set(table: &mut BTreeMap<String, Sizes>, name: &str, group: usize, bytes: u64) {
    table.entry(name.to_owned()).or_default()[group] = bytes;
}

/// Whether an object is not the same in all builds that have it.
fn is_changed(all: &[Option<&[Part]>], name: &str) -> bool {
    let mut contents = all.iter().flatten().filter_map(|parts| parts.iter().find(|part| part.name == name));
    let first = contents.next().map(|part| &part.content);
    contents.any(|part| Some(&part.content) != first)
}

/// An object that is a pad of these sizes, for a program with that object. The first one begins pages.
pub(super) fn object(like: Option<&Part>, sizes: Sizes, is_first: bool) -> Vec<u8> {
    let architecture = like.map_or(Architecture::X86_64, |part| part.architecture);
    let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
    // Without this, a linker does not heed that sections are to be kept.
    object.flags = FileFlags::Elf { os_abi: ELFOSABI_GNU, abi_version: 0, e_flags: elf::FileFlags(0) };
    let mut section = |name: &str, kind: SectionKind, flags: elf::SectionFlags| -> SectionId {
        let id = object.add_section(vec![], name.as_bytes().to_vec(), kind);
        object.section_mut(id).flags = SectionFlags::Elf { sh_type: type_of(kind), sh_flags: flags };
        id
    };
    let align = if is_first { PAGE } else { 1 };
    // Strings and constants that linkers merge lie where the first of their kind is: in front of everything.
    let merged: Vec<(SectionId, u64)> = [1, 8]
        .iter()
        .filter(|_| is_first)
        .map(|&align| {
            let name = format!(".rodata.str1.{align}");
            (section(&name, SectionKind::ReadOnlyString, SHF_ALLOC | SHF_MERGE | SHF_STRINGS), align)
        })
        .collect();
    let kinds = [
        (SectionKind::Text, SHF_EXECINSTR, 0xcc),
        (SectionKind::ReadOnlyData, elf::SectionFlags(0), 0),
        (SectionKind::Data, SHF_WRITE, 0),
        (SectionKind::UninitializedData, SHF_WRITE, 0),
    ];
    let groups: Vec<SectionId> = GROUPS
        .iter()
        .zip(kinds)
        .map(|(name, (kind, flags, _))| section(name, kind, SHF_ALLOC | elf::SHF_GNU_RETAIN | flags))
        .collect();
    section(".note.GNU-stack", SectionKind::Other, elf::SectionFlags(0));
    let property = like.and_then(|part| part.property.as_deref());
    let note = property.map(|note| (section(".note.gnu.property", SectionKind::Note, SHF_ALLOC), note));
    for (id, align) in merged {
        object.append_section_data(id, &[0], align);
    }
    for ((id, (kind, _, byte)), size) in groups.into_iter().zip(kinds).zip(sizes) {
        match kind {
            SectionKind::UninitializedData => object.append_section_bss(id, size, align),
            _ => object.append_section_data(id, &vec![byte; size as usize], align),
        };
    }
    if let Some((id, note)) = note {
        object.append_section_data(id, note, 8);
    }
    object.write().unwrap_or_default()
}

fn type_of(kind: SectionKind) -> elf::SectionType {
    match kind {
        SectionKind::UninitializedData => elf::SHT_NOBITS,
        SectionKind::Note => elf::SHT_NOTE,
        _ => SHT_PROGBITS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::parts::test::part;

    fn begins(parts: &[Part], table: &BTreeMap<String, Sizes>, group: usize) -> BTreeMap<String, u64> {
        let mut at = 0;
        let begin = |part: &Part| {
            at += table[&part.name][group];
            let begin = at;
            at = part.end(group, at, &mut |_| true);
            (part.name.clone(), begin)
        };
        parts.iter().map(begin).collect()
    }

    #[test]
    fn the_same_object_begins_at_the_same_place_in_all_builds() {
        let base = [part("a", 100, 1), part("b", 70, 1), part("c", 33, 1)];
        let grown = [part("a", 100, 1), part("b", 150, 2), part("c", 33, 1)];
        let more = [part("a", 100, 1), part("new", 5000, 1), part("b", 70, 1), part("c", 33, 1)];
        let all: Vec<Option<&[Part]>> = vec![Some(&base), Some(&grown), None, Some(&more)];
        let mut drawn = BTreeSet::new();
        for seed in 0..200 {
            let tables = table(&all, seed);
            let [base_at, grown_at, more_at] =
                [(&base[..], 0), (&grown, 1), (&more, 3)].map(|(parts, build)| begins(parts, &tables[build], 0));
            for name in ["a", "c"] {
                assert_eq!(base_at[name], grown_at[name], "seed {seed}");
                assert_eq!(base_at[name], more_at[name], "seed {seed}");
            }
            assert!(base_at.values().all(|at| at % STEP == 0));
            drawn.insert((base_at["a"], base_at["c"]));
        }
        assert!(drawn.len() > 190, "{} places", drawn.len());
    }

    #[test]
    fn a_changed_object_has_pads_of_its_own() {
        let (base, grown) = ([part("a", 100, 1), part("b", 70, 1)], [part("a", 104, 2), part("b", 70, 1)]);
        let all: Vec<Option<&[Part]>> = vec![Some(&base), Some(&grown)];
        let differ = (0..100).filter(|&seed| {
            let tables = table(&all, seed);
            begins(&base, &tables[0], 0)["a"] != begins(&grown, &tables[1], 0)["a"]
        });
        assert!(differ.count() > 90);
    }

    #[test]
    fn one_order_holds_for_all() {
        let base = [part("a", 1, 1), part("b", 1, 1), part("c", 1, 1)];
        let other = [part("a", 1, 1), part("x", 1, 1), part("c", 1, 1), part("y", 1, 1)];
        let turned = [part("c", 1, 1), part("z", 1, 1), part("a", 1, 1)];
        let order = order(&[Some(&base), Some(&other), Some(&turned)]);
        assert_eq!(order, ["a", "x", "b", "c", "z", "y"]);
    }

    #[test]
    fn a_pad_is_an_object_that_linkers_keep() {
        use object::{Object as _, ObjectSection as _};
        let content = super::object(Some(&part("a", 1, 1)), [48, 32, 16, 64], true);
        let file = object::File::parse(&*content).unwrap();
        for (name, size) in GROUPS.iter().zip([48, 32, 16, 64]) {
            let section = file.section_by_name(name).unwrap();
            assert_eq!((section.size(), section.align()), (size, 4096), "{name}");
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { panic!() };
            assert!(sh_flags.0 & elf::SHF_GNU_RETAIN.0 != 0);
        }
        assert!(file.section_by_name(".note.GNU-stack").is_some());
    }
}
