//! Which compilations had a profile to use. gcc keeps one file for each object, and the file's name is that of the object:
//! so the words of a call say which file it looked for. Clang keeps one for all, by functions: there only the objects tell,
//! which are looked into elsewhere.

use super::call_summary::plain;
use super::flags::{Build, builds};
use crate::error::Error;
use crate::files::below;
use crate::wrapper::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How the files of gcc end.
const OF_GCC: &str = "gcda";

/// What the wrapper appends for clang alone.
const TOLERANT: &str = "-Qunused-arguments";

/// What a training left of gcc's.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// The objects, each without the ending of its name.
    objects: BTreeSet<PathBuf>,
}

/// A call that compiled something.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compilation {
    /// What it made.
    pub(crate) output: PathBuf,
    /// Whether it was called with the full path of a source.
    pub(crate) by_full_path: bool,
    /// What is known of gcc's profile of it.
    pub(crate) of_gcc: OfGcc,
}

/// What is known of the profile that gcc keeps of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OfGcc {
    /// It was there.
    There,
    /// Several sources were compiled to an object of one name, and only one of them can have left it.
    Shared,
    /// Its name is longer than that of a file may be.
    TooLong,
    /// It was not there.
    Missing,
}

impl Profiles {
    /// Those below a folder.
    pub(crate) fn of(folder: &Path) -> Result<Self, Error> {
        let files = below(folder)?.into_iter().map(|(path, _)| path);
        let files = files.filter(|path| path.extension().is_some_and(|ending| ending == OF_GCC));
        let names = files.map(|path| path.strip_prefix(folder).unwrap_or(&path).with_extension(""));
        Ok(Self { objects: names.map(|name| object(&name.to_string_lossy())).collect() })
    }

    /// The name of the profile of a source that there is.
    fn name_of(&self, build: &Build, source: &str) -> Option<PathBuf> {
        names(build, source).into_iter().find(|name| self.objects.contains(name))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }
}

/// The object that a profile is of: `#w#tree#^#a` of `/w/a`. Old compilers make folders instead.
fn object(name: &str) -> PathBuf {
    let mut path = PathBuf::from("/");
    name.split(['#', '/'])
        .filter(|part| !part.is_empty())
        .for_each(|part| path.push(if part == "^" { ".." } else { part }));
    plain(&path)
}

/// The calls that compiled code, probes left out.
pub(super) fn compilations(calls: &[Call], temporary: &Path, profiles: &Profiles) -> Vec<Compilation> {
    let builds = builds(calls, temporary);
    let builds: Vec<&Build> = builds.iter().filter(|build| build.task.compiles_code()).collect();
    let mut sharing: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for build in &builds {
        for source in build.sources() {
            if let Some(name) = profiles.name_of(build, source) {
                sharing.entry(name).or_default().insert(plain(&build.dir.join(source)));
            }
        }
    }
    let of_source = |build: &Build, source: &str| match profiles.name_of(build, source) {
        Some(name) if sharing[&name].len() > 1 => OfGcc::Shared,
        Some(_) => OfGcc::There,
        None if names(build, source).iter().all(|name| is_too_long(name)) => OfGcc::TooLong,
        None => OfGcc::Missing,
    };
    let of = |build: &&Build| {
        let sources = build.sources();
        let worst = sources.iter().map(|source| of_source(build, source)).max();
        Compilation {
            output: output(build, sources.first().copied()),
            by_full_path: sources.iter().any(|source| source.starts_with('/')),
            of_gcc: worst.unwrap_or(OfGcc::Missing),
        }
    };
    builds.iter().map(of).collect()
}

/// Whether the path of an object makes too long a name: gcc puts all of it into one.
fn is_too_long(object: &Path) -> bool {
    const LONGEST: usize = 255;
    object.as_os_str().len() + 1 + OF_GCC.len() > LONGEST
}

/// The clang that was called last to make or use a profile in that folder.
pub(super) fn clang(calls: &[Call], profile: &Path) -> Option<PathBuf> {
    let starts = ["generate", "use"].map(|what| format!("-fprofile-{what}={}", profile.display()));
    let is_word = |word: &OsString| starts.iter().any(|start| word.as_bytes().starts_with(start.as_bytes()));
    let is_it = |call: &&Call| call.words.iter().any(is_word) && call.words.iter().any(|word| word == TOLERANT);
    calls.iter().rev().find(is_it).map(|call| call.tool.clone())
}

/// What it makes: what it says, or what compilers choose.
fn output(build: &Build, source: Option<&str>) -> PathBuf {
    let chosen = || match source.filter(|_| !build.task.links) {
        Some(source) => PathBuf::from(format!("{}.o", stem(source).display())),
        None => PathBuf::from("a.out"),
    };
    plain(&build.dir.join(build.output.as_ref().map_or_else(chosen, PathBuf::from)))
}

/// The names, without ending, that gcc's profile of a source may have. Where the same call links, new compilers put the
/// program's name before it, unless both are the same.
fn names(build: &Build, source: &str) -> Vec<PathBuf> {
    let output = output(build, Some(source));
    let whole = output.with_extension("");
    if !build.task.links {
        return vec![whole, output];
    }
    let stem = stem(source);
    let after = |program: &Path| {
        let mut name = program.as_os_str().to_owned();
        name.push("-");
        name.push(&stem);
        PathBuf::from(name)
    };
    let mut names = vec![after(&output), after(&whole), plain(&build.dir.join(&stem))];
    names.extend([output, whole].into_iter().filter(|name| name.file_name() == Some(stem.as_os_str())));
    names
}

/// The name of a file, without folders and ending.
fn stem(source: &str) -> PathBuf {
    PathBuf::from(Path::new(source).file_stem().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::called::called;
    use super::*;
    use std::fs;

    fn call(dir: &str, words: &str) -> Call {
        called(dir, &format!("gcc {words}"))
    }

    /// The names are those that gcc 12 gave.
    #[test]
    fn a_call_has_the_profile_of_its_object() {
        let folder = tempfile::tempdir().unwrap();
        let check = |words: &str, profile: &str, expect: bool| {
            let path = folder.path().join(format!("{profile}.gcda"));
            fs::write(&path, "").unwrap();
            let profiles = Profiles::of(folder.path()).unwrap();
            let seen = compilations(&[call("/w/src", words)], Path::new("/w/tmp"), &profiles);
            let is_there = seen[0].of_gcc == OfGcc::There;
            assert_eq!((seen.len(), is_there, profiles.len()), (1, expect, 1), "{words}: {profile}");
            fs::remove_file(path).unwrap();
        };
        check("-O2 -c b.c", "#w#src#b", true);
        check("-c sub/b.c", "#w#src#b", true);
        check("-c a.c -o ../x.y.o", "#w#src#^#x.y", true);
        check("-c a.c -ox.o", "#w#src#x", true);
        check("-c a.c -o noext", "#w#src#noext", true);
        check("a.c b.o -o ../prog", "#w#src#^#prog-a", true);
        check("a.c -o ./prog2.exe", "#w#src#.#prog2-a", true);
        check("a.c -o p.out", "#w#src#p.out-a", true);
        check("a.c", "#w#src#a-a", true);
        check("a.c -o prog", "#w#src#a", true);
        check("-xc -c a.x -o a.o", "#w#src#a", true);
        check("-include b.c -c a.c", "#w#src#b", false);
        check("a.c b.c -o p", "#w#src#p-a", false);
        check("-c a.c", "#w#other#a", false);
    }

    #[test]
    fn a_profile_that_several_sources_could_have_left_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let check = |lines: &[&str], profile: &str, expect: &[OfGcc]| {
            let path = folder.path().join(format!("{profile}.gcda"));
            fs::write(&path, "").unwrap();
            let calls: Vec<Call> = (1..).zip(lines).map(|(pid, line)| Call { pid, ..call("/w", line) }).collect();
            let seen = compilations(&calls, Path::new("/w/tmp"), &Profiles::of(folder.path()).unwrap());
            assert_eq!(seen.iter().map(|one| one.of_gcc).collect::<Vec<_>>(), expect, "{lines:?}");
            fs::remove_file(path).unwrap();
        };
        check(&["-c one/a.c", "-c two/a.c"], "#w#a", &[OfGcc::Shared; 2]);
        check(&["-c one/a.c", "-c ./one/a.c"], "#w#a", &[OfGcc::There; 2]);
        check(&["one/a.c two/a.c -o p"], "#w#p-a", &[OfGcc::Shared]);
        let long = "long".repeat(70);
        check(&[&format!("-c a.c -o {long}/a.o"), "-c b.c"], "#w#a", &[OfGcc::TooLong, OfGcc::Missing]);
    }

    #[test]
    fn what_compiles_nothing_is_not_counted() {
        let calls = ["a.o -o a", "-c a.s", "-c conftest.c", "-E a.c"].map(|words| call("/w/src", words));
        assert_eq!(compilations(&calls, Path::new("/w/tmp"), &Profiles::default()), []);
    }
}
