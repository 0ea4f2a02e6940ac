//! The parts of a program, as far as a linker places them: of each object the sections with code and data, in their order,
//! with sizes and alignments. It reads objects, and places nothing.

use crate::error::{At, Error};
use crate::links::recorded::{Recorded, Word};
use crate::proof::loaded;
use object::elf::SHF_MERGE;
use object::{Architecture, File, Object as _, ObjectComdat as _, ObjectSection as _, SectionFlags};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The sections of a program that are padded.
pub(super) const GROUPS: [&str; 4] = [".text", ".rodata", ".data", ".bss"];

/// Linkers put functions of these kinds elsewhere than others.
const APART: [&str; 5] = [".text.unlikely", ".text.exit", ".text.startup", ".text.hot", ".text.sorted"];

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// The same in every build.
    pub(super) name: String,
    pub(super) copy: PathBuf,
    /// A digest of what is in it.
    pub(super) content: String,
    /// Its sections of each group.
    pub(super) groups: [Vec<Section>; 4],
    /// Whether it has functions that are run before `main`.
    has_initialisers: bool,
    pub(super) architecture: Architecture,
    /// The note that says by what rules its code was made, if it has one.
    pub(super) property: Option<Vec<u8>>,
}

/// A section of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) size: u64,
    /// At least 1.
    pub(super) align: u64,
    /// Of sections with the same signature, a linker takes the first.
    pub(super) signature: Option<String>,
}

/// The parts of a link in its order; the layer of that digest made them.
pub(super) fn of(recorded: &Recorded, copies: &Path, layer: &str) -> Result<Vec<Part>, Error> {
    let mut parts = vec![];
    let has_apart = has_apart(recorded);
    for word in &recorded.words {
        if let Word::Part { name, copy } = word {
            let path = copies.join(copy);
            let mut part = part(name, copy, &fs::read(&path).at("read", &path)?, layer, has_apart);
            if let Some(dropped) = recorded.dropped.get(copy) {
                part.drop_sections(dropped);
            }
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Whether the linker puts rare functions elsewhere; lld and mold do that only if asked.
fn has_apart(recorded: &Recorded) -> bool {
    let file = fs::canonicalize(&recorded.tool).unwrap_or_else(|_| recorded.tool.clone());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_asked = |word: &Word| matches!(word, Word::Text(text) if text == "keep-text-section-prefix");
    !(name.contains("lld") || name.contains("mold")) || recorded.words.iter().any(is_asked)
}

fn part(name: &str, copy: &Path, content: &[u8], layer: &str, has_apart: bool) -> Part {
    let mut part = Part {
        name: name.to_owned(),
        copy: copy.to_owned(),
        content: loaded(content, layer),
        groups: Default::default(),
        has_initialisers: false,
        architecture: Architecture::Unknown,
        property: None,
    };
    let Ok(file) = File::parse(content) else { return part };
    part.architecture = file.architecture();
    let mut signatures = HashMap::new();
    for comdat in file.comdats() {
        let signature = comdat.name().unwrap_or_default().to_owned();
        signatures.extend(comdat.sections().map(|section| (section, signature.clone())));
    }
    for section in file.sections() {
        let name = section.name().unwrap_or_default();
        part.has_initialisers |= name.starts_with(".init_array") || name.starts_with(".ctors");
        if name == ".note.gnu.property" {
            part.property = section.data().ok().map(<[u8]>::to_vec);
        }
        if let Some(group) = group_of(name, section.flags(), has_apart) {
            let signature = signatures.get(&section.index()).cloned();
            let (name, align) = (name.to_owned(), section.align().max(1));
            part.groups[group].push(Section { name, size: section.size(), align, signature });
        }
    }
    part
}

/// The group that a section belongs to, if it is placed with others.
fn group_of(name: &str, flags: SectionFlags, has_apart: bool) -> Option<usize> {
    let SectionFlags::Elf { sh_flags, .. } = flags else { return None };
    let is_below = |group: &str| name == group || name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
    let group = GROUPS.iter().position(|group| is_below(group))?;
    let is_apart = has_apart && APART.iter().any(|apart| name.starts_with(apart)) || name.starts_with(".data.rel.ro");
    (!is_apart && sh_flags.0 & SHF_MERGE.0 == 0).then_some(group)
}

/// Whether functions of several parts are run before `main`: in another order, the program may be another one.
pub(super) fn order_matters(parts: &[Part]) -> bool {
    parts.iter().filter(|part| part.has_initialisers).count() > 1
}

impl Part {
    /// Leaves these sections empty. A dropped one still keeps those of the same signature out.
    fn drop_sections(&mut self, dropped: &BTreeSet<String>) {
        for section in self.groups.iter_mut().flatten().filter(|section| dropped.contains(&section.name)) {
            (section.size, section.align) = (0, 1);
        }
    }

    /// Where its sections of a group end that begin at that address. Those of known signatures are not taken.
    pub(super) fn end(&self, group: usize, mut at: u64, is_taken: &mut dyn FnMut(&str) -> bool) -> u64 {
        for section in &self.groups[group] {
            if section.signature.as_deref().is_none_or(&mut *is_taken) {
                at = at.next_multiple_of(section.align) + section.size;
            }
        }
        at
    }
}

#[cfg(test)]
pub(super) mod test {
    use super::*;

    /// An object with one section of code of that size.
    pub(in crate::layouts) fn part(name: &str, size: u64, version: u32) -> Part {
        let section = Section { name: ".text".to_owned(), size, align: 16, signature: None };
        Part {
            name: name.to_owned(),
            copy: PathBuf::new(),
            content: version.to_string(),
            groups: [vec![section], vec![], vec![], vec![]],
            has_initialisers: false,
            architecture: Architecture::X86_64,
            property: None,
        }
    }
}
