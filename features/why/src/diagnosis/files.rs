//! The files of all variants side by side. Which file belongs to which is decided by [`super::pieces::keys`]; what differs is
//! shown, and not yet compared with anything.

use super::pieces::{Pieces, keys};
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
        let (mut rows, mut absent, mut seen): (Vec<FileRow>, Vec<String>, Vec<&str>) = (vec![], vec![], vec![]);
        for ((variant, files), own) in looked_at.iter().zip(&keys) {
            let variant = (*variant).to_owned();
            let Some(place) = own.iter().position(|known| *known == key) else {
                absent.push(variant);
                continue;
            };
            let (path, numbers) = (&files[place].path, numbers(&files[place]));
            seen.push(path);
            match rows.iter_mut().find(|row| row.numbers == numbers) {
                Some(row) => row.variants.push(variant),
                None => rows.push(FileRow { variants: vec![variant], path: path.clone(), numbers }),
            }
        }
        let name = if seen.iter().all(|path| *path == seen[0]) { seen[0] } else { key };
        FileTable { name: name.to_owned(), rows, absent }
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
