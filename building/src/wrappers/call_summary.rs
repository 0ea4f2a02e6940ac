//! What a layer's script compiled and linked, as far as the calls of its tools tell: for those who do not know yet what a
//! source builds. What becomes of the files later, and whether a flag did anything, is not known here.

use super::flags::{Build, builds};
use crate::wrapper::Call;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What a layer's script compiled and linked, probes of configure and its like left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallSummary {
    /// How many calls of compilers compiled something.
    pub compilations: u64,
    /// How many of them had which `-O` last; the empty text stands for none.
    pub optimisation: BTreeMap<String, u64>,
    /// The files that were linked below the script's folder, relative to it, each once and in the order in which they were
    /// linked first. They need not be there any more.
    pub linked: Vec<PathBuf>,
}

/// What the calls made, of a script that started in the folder `tree`.
pub(super) fn summary(calls: &[Call], tree: &Path, temporary: &Path) -> CallSummary {
    let mut made = CallSummary::default();
    for build in builds(calls, temporary) {
        if build.task.compiles_code() {
            made.compilations += 1;
            let last = build.words.iter().rev().find(|word| word.starts_with("-O"));
            *made.optimisation.entry(last.cloned().unwrap_or_default()).or_default() += 1;
        }
        if let Some(output) = linked(&build).and_then(|output| below(&output, tree))
            && !made.linked.contains(&output)
        {
            made.linked.push(output);
        }
    }
    made
}

fn linked(build: &Build) -> Option<PathBuf> {
    build.task.links.then(|| build.dir.join(build.output.as_deref().unwrap_or("a.out")))
}

/// A path relative to a folder, without `.` and `..`.
pub(super) fn below(path: &Path, folder: &Path) -> Option<PathBuf> {
    plain(path).strip_prefix(folder).ok().map(Path::to_owned)
}

/// A path without `.` and `..`, as its text has it.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::called::called;
    use super::*;

    #[test]
    fn what_was_compiled_and_linked_is_seen_and_probes_are_not() {
        let call = |dir: &str, words: &str| called(dir, &format!("gcc {words}"));
        let mut calls = [
            call("/w/tree", "-O0 conftest.c -o conftest"),
            call("/w/tree/src", "-O3 -O2 -c a.c -o a.o"),
            call("/w/tree/src", "-c b.c"),
            call("/w/tree/src", "a.o b.o -o ../bin/./prog"),
            call("/w/tree", "-O2 one.c"),
            call("/w/tree", "-shared -o libx.so src/a.o"),
            call("/w/tree", "-o /elsewhere/y src/a.o"),
            call("/w/tree/src", "a.o b.o -o ../bin/prog"),
        ];
        (1..).zip(&mut calls).for_each(|(pid, call)| call.pid = pid);
        let made = summary(&calls, Path::new("/w/tree"), Path::new("/w/tmp"));
        assert_eq!(made.compilations, 3);
        assert_eq!(made.optimisation, [(String::new(), 1), ("-O2".to_owned(), 2)].into());
        assert_eq!(made.linked, ["bin/prog", "a.out", "libx.so"].map(PathBuf::from));
    }
}
