//! Object files that no call which was seen has made: a compiler bypassed the wrapper. Only what was compiled from C and its like
//! is counted, and rather too little than too much.

use super::made::plain;
use bakeoff_host::wrapper::{Call, Kind};
use memchr::memmem;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// No more entries are looked at, nor more of a file.
const MOST_ENTRIES: usize = 50_000;
const MOST_BYTES: u64 = 16 << 20;

/// How compilers sign what they make. What an assembler makes has no such mark, and what rustc makes has two.
const MARKS: [&[u8]; 2] = [b"GCC: (", b"clang version "];
const NOT_MARK: &[u8] = b"rustc version ";

/// How many object files below the folder are younger than `since` and come of no call among these.
pub(super) fn unseen(calls: &[Call], tree: &Path, since: SystemTime) -> u64 {
    let outputs: BTreeSet<PathBuf> = calls.iter().flat_map(outputs).collect();
    let mut objects = vec![];
    find(tree, since, &mut MOST_ENTRIES.clone(), &mut objects);
    let content = |path: &PathBuf| {
        let mut bytes = vec![];
        File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes)).ok()?;
        let has = |mark: &[u8]| memmem::find(&bytes, mark).is_some();
        (bytes.starts_with(b"\x7fELF") && MARKS.into_iter().any(has) && !has(NOT_MARK)).then_some(bytes)
    };
    let (seen, others): (Vec<PathBuf>, Vec<PathBuf>) = objects.into_iter().partition(|path| outputs.contains(path));
    if others.is_empty() {
        return 0;
    }
    // What was copied is an object that was seen; and as many may have been moved as are not where they were made.
    let known: HashSet<Vec<u8>> = seen.iter().filter_map(content).collect();
    let moved = outputs.iter().filter(|output| !output.exists()).count();
    let unknown: HashSet<Vec<u8>> = others.iter().filter_map(content).filter(|one| !known.contains(one)).collect();
    unknown.len().saturating_sub(moved) as u64
}

/// The object files that a call makes.
fn outputs(call: &Call) -> Vec<PathBuf> {
    let words = call.all_words();
    let absolute = |path: &OsStr| plain(&call.dir.join(path));
    if call.kind() != Kind::Driver && call.kind() != Kind::Linker {
        return vec![];
    }
    if let Some(pair) = words.windows(2).find(|pair| pair[0] == "-o") {
        return vec![absolute(&pair[1])];
    }
    let joined = words.iter().find_map(|word| word.as_bytes().strip_prefix(b"-o").filter(|rest| !rest.is_empty()));
    if let Some(path) = joined {
        return vec![absolute(OsStr::from_bytes(path))];
    }
    if !words.iter().any(|word| word == "-c") {
        return vec![];
    }
    let files = words.iter().filter(|word| !word.as_bytes().starts_with(b"-"));
    files
        .filter_map(|file| Some(absolute(Path::new(Path::new(file).file_name()?).with_extension("o").as_os_str())))
        .collect()
}

fn find(folder: &Path, since: SystemTime, left: &mut usize, objects: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if *left == 0 {
            return;
        }
        *left -= 1;
        if kind.is_dir() {
            find(&path, since, left, objects);
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "o") {
            let is_young = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|modified| modified >= since);
            objects.extend(is_young.then_some(path));
        }
    }
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
