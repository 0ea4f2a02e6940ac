//! The files of all variants side by side. Which file belongs to which is decided by [`super::pieces::keys`]; what differs is
//! shown, and not yet compared with anything.

use super::pieces::{Pieces, group, keys};
use crate::facts::{Content, FileFacts, Relocations};
use crate::findings::{FileNumbers, FileRow, FileTable};

/// What relative relocations are called, whatever the processor: `R_X86_64_RELATIVE`, `R_AARCH64_RELATIVE`.
const RELATIVE: &str = "_RELATIVE";

/// One table for each file, in the order in which the variants have them.
pub(super) fn tables(pieces: &Pieces<'_>) -> Vec<FileTable> {
    let looked_at: Vec<(&str, &[FileFacts])> =
        pieces.variants.iter().filter_map(|v| Some((v.name.as_str(), pieces.facts(v)?))).collect();
    let paths: Vec<Vec<&str>> =
        looked_at.iter().map(|(_, files)| files.iter().map(|file| file.path.as_str()).collect()).collect();
    let keys = keys(&paths);
    let mut order: Vec<&str> = vec![];
    keys.iter().flatten().for_each(|key| {
        if !order.contains(key) {
            order.push(key);
        }
    });
    let table = |key: &str| {
        let mut groups = vec![];
        let (mut absent, mut seen): (Vec<String>, Vec<&str>) = (vec![], vec![]);
        for ((variant, files), own) in looked_at.iter().zip(&keys) {
            match own.iter().position(|known| *known == key) {
                Some(place) => {
                    group(&mut groups, numbers(&files[place]), variant);
                    seen.push(&files[place].path);
                }
                None => absent.push((*variant).to_owned()),
            }
        }
        let row = |(numbers, variants): (FileNumbers, Vec<String>)| {
            let first =
                looked_at.iter().zip(&keys).find(|((variant, _), _)| variants.first().is_some_and(|v| v == variant));
            let path = first.and_then(|((_, files), own)| {
                own.iter().position(|known| *known == key).map(|place| files[place].path.clone())
            });
            FileRow { variants, path: path.unwrap_or_default(), numbers }
        };
        let name = if seen.iter().all(|path| *path == seen[0]) { seen[0] } else { key };
        FileTable { name: name.to_owned(), rows: groups.into_iter().map(row).collect(), absent }
    };
    order.into_iter().map(table).collect()
}

/// The numbers of a file. An archive is not loaded, and has nothing that the loader does.
pub(super) fn numbers(file: &FileFacts) -> FileNumbers {
    let size_bytes = file.size_bytes;
    match &file.content {
        Content::Elf(facts) => FileNumbers {
            text_bytes: Some(facts.loaded.text_bytes),
            symbolic: Some(facts.linking.symbolic),
            textrel: Some(facts.linking.textrel),
            ..of_relocations(&facts.relocations, size_bytes)
        },
        Content::Relocations(found) => of_relocations(found, size_bytes),
        Content::Archive(facts) => {
            FileNumbers { size_bytes, text_bytes: Some(facts.loaded.text_bytes), ..FileNumbers::default() }
        }
    }
}

fn of_relocations(found: &Relocations, size_bytes: u64) -> FileNumbers {
    let loaded = || found.tables.iter().filter(|table| table.loaded);
    let (_, relr) = found.relr();
    let relative = loaded().flat_map(|table| &table.by_type).filter(|(name, _)| name.ends_with(RELATIVE));
    FileNumbers {
        size_bytes,
        relocations: loaded().map(|table| table.relocations).sum(),
        relative: relative.map(|(_, count)| count).sum::<u64>() + relr,
        relr,
        jump_slots: found.jump_slots.total,
        own_jump_slots: found.jump_slots.own,
        glob_dat: found.glob_dat.total,
        ..FileNumbers::default()
    }
}
