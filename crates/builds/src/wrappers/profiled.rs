//! Which compilations had a profile to use. gcc keeps one file for each object, and the file's name is that of the object:
//! so the words of a call say which file it looked for. Clang keeps one for all, by functions: there only the objects tell,
//! which are looked into elsewhere.

use super::flags::{Build, builds};
use super::made::plain;
use bakeoff_host::wrapper::{Call, takes_value};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the files of gcc end.
const OF_GCC: &str = "gcda";

/// What the wrapper appends for clang alone.
const TOLERANT: &str = "-Qunused-arguments";

/// How files end that are compiled by what makes profiles.
const SOURCES: [&str; 15] = ["c", "i", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii", "m", "mi", "mm", "M", "mii"];

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
    /// Whether gcc's profile of it was there.
    pub(crate) has_file: bool,
}

impl Profiles {
    /// Those below a folder.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        let mut objects = BTreeSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == OF_GCC) {
                    let below = path.strip_prefix(folder).unwrap_or(&path);
                    objects.insert(object(&below.with_extension("").to_string_lossy()));
                }
            }
        }
        Ok(Self { objects })
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
    let of = |build: Build| {
        let sources = sources(&build.words);
        let has = |source: &&str| names(&build, source).iter().any(|name| profiles.objects.contains(name));
        let has_file = !sources.is_empty() && sources.iter().all(has);
        Compilation { output: output(&build, sources.first().copied()), has_file }
    };
    builds(calls, temporary).into_iter().filter(|build| build.task.compiles_code()).map(of).collect()
}

/// The clang that was called last to make a profile in that folder.
pub(super) fn clang(calls: &[Call], profile: &Path) -> Option<PathBuf> {
    let word = OsString::from(format!("-fprofile-generate={}", profile.display()));
    let is_it = |call: &&Call| call.words.contains(&word) && call.words.iter().any(|word| word == TOLERANT);
    calls.iter().rev().find(is_it).map(|call| call.tool.clone())
}

/// The files that a call compiles.
fn sources(words: &[String]) -> Vec<&str> {
    let (mut sources, mut only_files, mut is_named) = (vec![], false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" if !only_files => only_files = true,
            option if !only_files && takes_value(option.as_bytes()) => {
                let value = words.next();
                is_named = if option == "-x" { value.is_some_and(|value| value != "none") } else { is_named };
            }
            option if !only_files && option.starts_with('-') => is_named |= option.starts_with("-x"),
            file if is_named || SOURCES.iter().any(|ending| file.ends_with(&format!(".{ending}"))) => {
                sources.push(file)
            }
            _ => {}
        }
    }
    sources
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
    use super::*;

    fn call(dir: &str, words: &str) -> Call {
        Call {
            name: "gcc".into(),
            tool: "/usr/bin/gcc".into(),
            dir: dir.into(),
            words: words.split(' ').map(Into::into).collect(),
            response_files: vec![],
            pid: 1,
            parent: 0,
            shuffled: 0,
            of_gcc: false,
        }
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
            assert_eq!((seen.len(), seen[0].has_file, profiles.len()), (1, expect, 1), "{words}: {profile}");
            fs::remove_file(path).unwrap();
        };
        check("-O2 -c b.c", "#w#src#b", true);
        check("-c sub/b.c", "#w#src#b", true);
        check("-c a.c -o ../x.y.o", "#w#src#^#x.y", true);
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
    fn what_compiles_nothing_is_not_counted() {
        let calls = ["a.o -o a", "-c a.s", "-c conftest.c", "-E a.c"].map(|words| call("/w/src", words));
        assert_eq!(compilations(&calls, Path::new("/w/tmp"), &Profiles::default()), []);
    }
}
