//! Object files that no call which was seen has made: a compiler bypassed the wrapper, or they were there before. Of the
//! first only what was compiled from C and its like is counted, and rather too little than too much.

use super::call_summary::plain;
use crate::wrapper::{Call, ToolKind};
use memchr::memmem;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// No more entries are looked at, nor more of a file.
const MOST_ENTRIES: usize = 50_000;
const MOST_BYTES: u64 = 16 << 20;

/// How files of these kinds begin.
const ELF: &[u8] = b"\x7fELF";
const BITCODE: &[u8] = b"BC\xc0\xde";

/// How compilers sign what they make. What an assembler makes has no such mark, and what rustc makes has two.
const MARKS: [&[u8]; 2] = [b"GCC: (", b"clang version "];
const NOT_MARK: &[u8] = b"rustc version ";

/// How many object files below the folder are younger than `since` and come of no call among these.
pub(super) fn unseen(calls: &[Call], tree: &Path, since: SystemTime) -> u64 {
    let outputs: BTreeSet<PathBuf> = calls.iter().flat_map(outputs).collect();
    let is_object = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "o");
    // Objects that are linked may have any name.
    let linked = calls.iter().flat_map(|call| inputs(call, tree));
    let objects: BTreeSet<PathBuf> = all(tree).into_iter().filter(is_object).chain(linked).collect();
    let objects = objects.into_iter().filter(|path| is_young(path, since) && !is_linked(path));
    let content = |path: &PathBuf| content(path).filter(|bytes| is_compiled(bytes));
    let (seen, others): (Vec<PathBuf>, Vec<PathBuf>) = objects.partition(|path| outputs.contains(path));
    if others.is_empty() {
        return 0;
    }
    // What was copied is an object that was seen; and as many may have been moved as are not where they were made.
    let known: HashSet<Vec<u8>> = seen.iter().filter_map(content).collect();
    let moved = outputs.iter().filter(|output| !output.exists()).count();
    let unknown: HashSet<Vec<u8>> = others.iter().filter_map(content).filter(|one| !known.contains(one)).collect();
    unknown.len().saturating_sub(moved) as u64
}

/// What calls took into a library or program although no call of this build made it: objects, members of archives, and
/// libraries below the folder that are older than `since`; and programs that are installed as they were. By their paths.
pub(super) fn left_before(calls: &[Call], [tree, prefix]: [&Path; 2], since: SystemTime) -> BTreeSet<String> {
    let outputs: BTreeSet<PathBuf> = calls.iter().flat_map(outputs).collect();
    let names: BTreeSet<&OsStr> = outputs.iter().filter_map(|path| path.file_name()).collect();
    let mut archived: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.kind() == ToolKind::Archiver) {
        let mut files = files(call).into_iter().skip_while(|path| !path.is_file());
        if let Some(archive) = files.next() {
            archived.entry(archive).or_default().extend(files.filter_map(|path| Some(path.file_name()?.to_owned())));
        }
    }
    let shown = |path: &Path| path.strip_prefix(tree).unwrap_or(path).display().to_string();
    let mut left = BTreeSet::new();
    let taken: BTreeSet<PathBuf> = calls.iter().flat_map(|call| inputs(call, tree)).collect();
    for path in taken.iter().filter(|path| !outputs.contains(*path)) {
        let (Some(bytes), is_old) = (content(path), !is_young(path, since)) else { continue };
        if bytes.starts_with(ELF) || bytes.starts_with(BITCODE) {
            left.extend(is_old.then(|| shown(path)));
        } else if let Ok(archive) = object::read::archive::ArchiveFile::parse(&*bytes) {
            for member in archive.members().flatten() {
                let name = OsStr::from_bytes(member.name());
                let is_made = match archived.get(path) {
                    Some(made) => made.contains(name),
                    // Another program may have made it, of objects that were seen; or of other languages.
                    None => !is_old && (names.contains(name) || !member.data(&*bytes).is_ok_and(is_compiled)),
                };
                left.extend((!is_made).then(|| format!("{}({})", shown(path), name.display())));
            }
        }
    }
    let old = all(tree).into_iter().filter(|path| !is_young(path, since) && !outputs.contains(path) && is_linked(path));
    let old: Vec<PathBuf> = old.collect();
    if !old.is_empty() {
        let installed: HashSet<Vec<u8>> = all(prefix).iter().filter_map(|path| content(path)).collect();
        let is_installed = |path: &&PathBuf| content(path).is_some_and(|bytes| installed.contains(&bytes));
        left.extend(old.iter().filter(is_installed).map(|path| shown(path)));
    }
    left
}

/// The object files that a call makes.
fn outputs(call: &Call) -> Vec<PathBuf> {
    let words = call.all_words();
    let absolute = |path: &OsStr| plain(&call.dir.join(path));
    if call.kind() != ToolKind::Driver && call.kind() != ToolKind::Linker {
        return vec![];
    }
    if let Some(path) = call.output() {
        return vec![absolute(&path)];
    }
    if !words.iter().any(|word| word == "-c") {
        return vec![];
    }
    let files = words.iter().filter(|word| !word.as_bytes().starts_with(b"-"));
    files
        .filter_map(|file| Some(absolute(Path::new(Path::new(file).file_name()?).with_extension("o").as_os_str())))
        .collect()
}

/// The files below a folder, as many as are looked at.
fn all(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files, mut left) = (vec![folder.to_owned()], vec![], MOST_ENTRIES);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            left -= 1;
            if left == 0 {
                return files;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files
}

fn is_young(path: &Path, since: SystemTime) -> bool {
    fs::metadata(path).and_then(|meta| meta.modified()).is_ok_and(|modified| modified >= since)
}

fn content(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).ok()?;
    Some(bytes)
}

/// Whether a compiler of C and its like made it.
fn is_compiled(bytes: &[u8]) -> bool {
    let has = |mark: &[u8]| memmem::find(bytes, mark).is_some();
    bytes.starts_with(ELF) && MARKS.into_iter().any(has) && !has(NOT_MARK)
}

/// Whether a file is a program or a shared library.
pub(crate) fn is_linked(path: &Path) -> bool {
    let mut head = [0; 18];
    let is_read = File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    let kind = if head[5] == 2 { head[17] } else { head[16] };
    is_read && head.starts_with(ELF) && (2..=3).contains(&kind)
}

/// The words of a call that could be files, which need not be there, by their full paths.
fn files(call: &Call) -> Vec<PathBuf> {
    let words = call.all_words();
    let words = words.iter().filter(|word| !word.as_bytes().starts_with(b"-"));
    words.map(|word| plain(&call.dir.join(word))).collect()
}

/// The files below the folder that a call may link, or put into an archive.
fn inputs(call: &Call, tree: &Path) -> Vec<PathBuf> {
    let words = call.texts();
    let of_linker = words.iter().filter_map(|word| word.strip_prefix("-Wl,")).flat_map(|rest| rest.split(','));
    let mut paths: Vec<PathBuf> = of_linker.map(|word| plain(&call.dir.join(word))).chain(files(call)).collect();
    let after = |start: &str| -> Vec<String> {
        let apart = words.windows(2).filter(|pair| pair[0] == start).map(|pair| pair[1].clone());
        words
            .iter()
            .filter_map(|word| word.strip_prefix(start))
            .filter(|rest| !rest.is_empty())
            .map(str::to_owned)
            .chain(apart)
            .collect()
    };
    let folders: Vec<PathBuf> = after("-L").iter().map(|folder| plain(&call.dir.join(folder))).collect();
    for name in after("-l") {
        let files = match name.strip_prefix(':') {
            Some(file) => vec![file.to_owned()],
            None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
        };
        let mut places = folders.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
        paths.extend(places.find(|path| path.is_file()));
    }
    paths.retain(|path| path.starts_with(tree) && path.is_file());
    paths
}

#[cfg(test)]
mod tests {
    use super::super::called::called;
    use super::*;

    #[test]
    fn only_objects_of_calls_that_were_not_seen_count() {
        let folder = tempfile::tempdir().unwrap();
        let since = SystemTime::now() - std::time::Duration::from_secs(10);
        let put = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
        let call = |line: &str| called(folder.path(), &format!("gcc {line}"));
        let calls = [call("-c ./a.c"), call("-c b.c -o x/../b.o"), call("-c c.c -ogone.o")];
        put("a.o", "\x7fELF a GCC: (Debian)");
        put("b.o", "\x7fELF b GCC: (Debian)");
        put("copy.o", "\x7fELF b GCC: (Debian)");
        put("assembled.o", "\x7fELF nasm");
        put("rust.o", "\x7fELF GCC: (x) rustc version 1");
        put("moved.o", "\x7fELF c GCC: (Debian)");
        assert_eq!(unseen(&calls, folder.path(), since), 0);
        put("other.o", "\x7fELF d clang version 14");
        assert_eq!(unseen(&calls, folder.path(), since), 1);
        assert_eq!(unseen(&[], folder.path(), since), 4);
        assert_eq!(unseen(&[], folder.path(), SystemTime::now() + std::time::Duration::from_secs(10)), 0);
    }
}
