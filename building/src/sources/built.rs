//! What an earlier build left in a folder: object files, archives, libraries and programs that are not in the project's own
//! list of files. A copy of the folder goes without them, so make and its like compile everything again. What has no source
//! in the folder stays, because nothing could make it again. Who asks decides what the project's own files are.

use super::tree::{Without, all_files};
use crate::error::{At as _, Error};
use crate::wrapper::language_of;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Endings of files from which compilers' sources are generated, and of languages that our wrapper does not know.
const GENERATORS: &str = "y yy ypp l ll lpp re rl peg proto vala pyx gperf asn1 go rs asm nasm in m4 py pl awk sh cu";

/// What an earlier build left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Built {
    /// What a copy goes without, absolute.
    pub(super) left_out: BTreeSet<PathBuf>,
    /// What has no source in the folder, relative to it.
    pub(super) kept: Vec<PathBuf>,
}

impl Built {
    /// Of a folder with these files of the project's own, relative to it.
    pub(super) fn of(folder: &Path, own: &BTreeSet<PathBuf>, without: &Without<'_>) -> Result<Self, Error> {
        Self::of_paths(folder, &all_files(folder, without)?.into_iter().collect(), own)
    }

    /// Of some of its files.
    pub(super) fn of_paths(folder: &Path, paths: &BTreeSet<PathBuf>, own: &BTreeSet<PathBuf>) -> Result<Self, Error> {
        let (mut built, mut sources, mut candidates) = (Self::default(), HashSet::new(), vec![]);
        let looked: Vec<(&PathBuf, bool)> =
            paths.par_iter().map(|path| Ok((path, is_built(&folder.join(path))?))).collect::<Result<_, Error>>()?;
        for (path, is_built) in looked {
            match is_built {
                true => candidates.extend((!own.contains(path)).then_some(path)),
                false => sources.extend(is_source(path).then(|| stem(path))),
            }
        }
        for path in candidates {
            let place = folder.join(path);
            let names = origins(&place)?;
            if names.is_empty() || names.iter().any(|name| sources.contains(name)) {
                built.left_out.insert(place);
            } else {
                built.kept.push(path.clone());
            }
        }
        Ok(built)
    }
}

/// Whether compilers, linkers, archivers or libtool make such a file.
fn is_built(place: &Path) -> Result<bool, Error> {
    let mut head = vec![];
    if !fs::symlink_metadata(place).at("inspect", place)?.is_file() {
        return Ok(false);
    }
    File::open(place).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).at("read", place)?;
    Ok(begins_built(&head))
}

/// So much of a file says what it is.
const HEAD_BYTES: u64 = 200;

fn begins_built(head: &[u8]) -> bool {
    // Archives, bitcode of LLVM, and precompiled headers.
    const MARKS: [&[u8]; 6] = [b"!<arch>\n", b"!<thin>\n", b"BC\xc0\xde", b"\xde\xc0\x17\x0b", b"gpch", b"CPCH"];
    // Objects, programs and libraries, but no core dumps.
    let kind = head.get(16..18).map_or(0, |bytes| if head[5] == 2 { bytes[1] } else { bytes[0] });
    let is_elf = head.starts_with(b"\x7fELF") && (1..=3).contains(&kind);
    let is_of_libtool = head.starts_with(b"# ") && String::from_utf8_lossy(head).contains(" - a libtool ");
    // Packages of Debian are archives, too.
    let is_marked = MARKS.iter().any(|mark| head.starts_with(mark)) && head.get(8..21) != Some(b"debian-binary");
    is_elf || is_of_libtool || is_marked
}

fn is_source(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    language_of(path.as_os_str().as_bytes()).is_some() || GENERATORS.split(' ').any(|one| ending == one)
}

/// The name of a file without folders and endings.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name.clone(), |(stem, _)| stem.to_owned())
}

/// The names, without endings, that the sources of a file may have: by its own name, and by its symbols and members. None of
/// a text by which libtool stands for another file, and which it makes with that.
fn origins(place: &Path) -> Result<Vec<String>, Error> {
    let own = stem(place);
    let mut names = vec![own.trim_start_matches("lib").to_owned(), own];
    let bytes = fs::read(place).at("read", place)?;
    if bytes.starts_with(b"# ") {
        return Ok(vec![]);
    }
    let mut add = |bytes: &[u8]| {
        let symbols = object::File::parse(bytes);
        let files = symbols.iter().flat_map(|file| file.symbols()).filter(|one| one.kind() == SymbolKind::File);
        names.extend(files.filter_map(|symbol| symbol.name().ok().map(|name| stem(Path::new(name)))));
    };
    add(&bytes);
    let mut members = vec![];
    for member in ArchiveFile::parse(&*bytes).iter().flat_map(|archive| archive.members()).flatten() {
        members.push(stem(Path::new(&*String::from_utf8_lossy(member.name()))));
        member.data(&*bytes).into_iter().for_each(&mut add);
    }
    names.extend(members);
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_an_object_is_told_from_what_does_not() {
        let elf = |kind: u8| [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[kind, 0]].concat();
        for (head, expect) in [(elf(1), true), (elf(2), true), (elf(3), true), (elf(4), false), (vec![], false)] {
            assert_eq!(begins_built(&head), expect, "{head:?}");
        }
        assert!(
            begins_built(b"!<arch>\nx.o/") && begins_built(b"!<thin>\n") && begins_built(b"# x.lo - a libtool object")
        );
        assert!(!begins_built(b"!<arch>\ndebian-binary   ") && !begins_built(b"!<arch>"));
        assert!(["a.c", "b/x.S", "p.y", "g.py"].iter().all(|name| is_source(Path::new(name))));
        assert!(!["a.h", "a.o", "a.d", "README"].iter().any(|name| is_source(Path::new(name))));
    }
}
