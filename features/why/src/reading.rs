//! The facts of a build: what its files are, read from their own bytes. [`facts_of`] reads one file, ELF or a static
//! archive, or no more of it than its relocations take; [`facts_below`] all of a folder.
//!
//! Files are hostile: whatever is in one, reading it ends, in memory bounded by its size, with facts or with an [`Error`]
//! that names what is wrong. Nothing here says what a fact means, and no other program is started.

mod archive;
mod content;
mod depth;
mod dwarf;
mod dynamic;
mod elf;
mod error;
mod notes;
mod relocations;
mod source;
mod strings;

pub use depth::Depth;
pub use error::{Error, in_one_line};

use crate::facts::{Content, FileFacts};
use bakeoff_building::Building;
use content::{ELF, elf_at};
use error::Broken;
use object::read::ReadCache;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

const ARCHIVE: &[u8] = b"!<arch>\n";
const THIN: &[u8] = b"!<thin>\n";

/// What a file is: an ELF file or a static archive. Of archives everything is read.
///
/// # Errors
/// Any [`Error`].
pub fn facts_of(path: &Path, depth: Depth) -> Result<FileFacts, Error> {
    let refused = |source| Error::Read { path: path.to_owned(), source };
    // A pipe would make us wait for its writer before it could be seen to be one.
    let about = fs::metadata(path).map_err(refused)?;
    if !about.is_file() {
        return Err(Error::OtherFormat { path: path.to_owned() });
    }
    let file = File::open(path).map_err(refused)?;
    let size_bytes = file.metadata().map_err(refused)?.len();
    let mut magic = [0; 8];
    let known = file.read_at(&mut magic, 0).map_err(refused)?;
    let cache = ReadCache::new(file);
    let content = match &magic[..known] {
        magic if magic.starts_with(ELF) => elf_at(&cache, (0, size_bytes), depth),
        magic if magic.starts_with(ARCHIVE) || magic.starts_with(THIN) => {
            archive::read(cache, size_bytes).map(|facts| Content::Archive(Box::new(facts)))
        }
        _ => return Err(Error::OtherFormat { path: path.to_owned() }),
    };
    let content = content.map_err(|Broken(what)| Error::Broken { path: path.to_owned(), what })?;
    Ok(FileFacts { path: path.display().to_string(), size_bytes, content })
}

/// The facts of all ELF files and static archives below a folder, by their paths in it, sorted; and what could not be
/// read. A file with several names, links among them, counts once, under the first. What a link outside the folder leads
/// to is not in the folder.
///
/// # Errors
/// [`Error::Read`] if the folder itself cannot be listed.
pub fn facts_below(folder: &Path, depth: Depth) -> Result<(Vec<FileFacts>, Vec<Error>), Error> {
    let refused = |path: &Path, source| Error::Read { path: path.to_owned(), source };
    fs::read_dir(folder).map_err(|source| refused(folder, source))?;
    let (mut found, mut errors, mut seen) = (vec![], vec![], BTreeSet::new());
    let mut left = vec![folder.to_owned()];
    // A stack in reverse order: what comes off it is sorted.
    while let Some(path) = left.pop() {
        let mut look = || -> Result<(), Error> {
            let about = fs::symlink_metadata(&path).map_err(|source| refused(&path, source))?;
            if about.is_dir() || path == folder {
                left.extend(entries(&path).map_err(|source| refused(&path, source))?.into_iter().rev());
            } else if about.is_file() && seen.insert((about.dev(), about.ino())) {
                let inside = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                found.push(FileFacts { path: inside, ..facts_of(&path, depth)? });
            }
            Ok(())
        };
        match look() {
            Ok(()) | Err(Error::OtherFormat { .. }) => {}
            Err(error) => errors.push(error),
        }
    }
    Ok((found, errors))
}

/// The ELF files and static archives of a prefix that any of the patterns means, by their paths in it, sorted: what
/// [`facts_of`] can read. A file with several names, links among them, is there under the first that is meant. What a
/// link outside the prefix leads to is not in it.
///
/// # Errors
/// Any [`bakeoff_building::Error`] of a folder that cannot be listed.
pub fn files(prefix: &Path, patterns: &[String]) -> Result<Vec<String>, bakeoff_building::Error> {
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let inside = real(prefix);
    let mut seen = BTreeSet::new();
    let mut files = vec![];
    for (path, about) in Building::files_meant(prefix, &patterns)? {
        let file = real(&prefix.join(&path));
        if file.starts_with(&inside) && is_known(&file) && seen.insert((about.dev(), about.ino())) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Whether a file begins as those do that facts are read of; one that cannot be read counts, so that the error is reported.
fn is_known(path: &Path) -> bool {
    let mut magic = [0; 8];
    let known = File::open(path).and_then(|file| file.read_at(&mut magic, 0));
    known.map_or(true, |known| [ELF, ARCHIVE, THIN].iter().any(|begin| magic[..known].starts_with(begin)))
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
