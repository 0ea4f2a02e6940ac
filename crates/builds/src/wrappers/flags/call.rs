//! What a call builds, as far as its words tell.

use bakeoff_host::wrapper::{Call, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::wrappers) enum Language {
    C,
    Cxx,
    ObjectiveC,
    Fortran,
    Assembler,
}

/// A call that builds something.
#[derive(Debug)]
pub(in crate::wrappers) struct Build {
    /// The folder it was called in.
    pub(in crate::wrappers) dir: PathBuf,
    /// What it writes, if it says so.
    pub(in crate::wrappers) output: Option<String>,
    /// The languages that it compiles.
    pub(in crate::wrappers) compiles: BTreeSet<Language>,
    /// Whether it makes a program or library.
    pub(in crate::wrappers) links: bool,
    /// Whether it is a linker that was called directly.
    pub(super) is_linker: bool,
    /// Its words, bare.
    pub(in crate::wrappers) words: Vec<String>,
}

impl Build {
    /// Whether it has a flag; what a driver hands to the linker may be put together in other pieces.
    pub(super) fn has(&self, flag: &str) -> bool {
        let has = |flag: &str| self.words.iter().any(|word| word == flag);
        let Some(parts) = flag.strip_prefix("-Wl,") else { return has(flag) };
        let handed = |part: &str| {
            let by_comma = self.words.iter().filter_map(|word| word.strip_prefix("-Wl,"));
            let by_word = self.words.windows(2).filter(|pair| pair[0] == "-Xlinker").map(|pair| pair[1].as_str());
            by_comma.flat_map(|parts| parts.split(',')).chain(by_word).any(|handed| handed == part)
        };
        has(flag) || parts.split(',').all(|part| handed(part) || (self.is_linker && has(part)))
    }
}

/// The calls that build something, probes left out.
pub(in crate::wrappers) fn builds(calls: &[Call], temporary: &Path) -> Vec<Build> {
    let mut drivers: BTreeMap<u32, (usize, &Call)> = BTreeMap::new();
    let mut builds: Vec<Option<Build>> = vec![];
    for call in calls {
        match call.kind() {
            Kind::Driver if !call.of_gcc => {
                // A script that became the compiler, as c99 may be, is the same call.
                let again = drivers.get(&call.pid).filter(|(_, before)| is_same(before, call));
                if let Some(&(place, _)) = again {
                    builds[place] = None;
                }
                drivers.insert(call.pid, (builds.len(), call));
                builds.push(of_driver(call, temporary));
            }
            Kind::Linker if !call.of_gcc && !drivers.contains_key(&call.parent) => builds.push(of_linker(call)),
            _ => {}
        }
    }
    builds.into_iter().flatten().collect()
}

/// Whether the later call is what the earlier one became.
fn is_same(earlier: &Call, later: &Call) -> bool {
    earlier.dir == later.dir && earlier.words.iter().all(|word| later.words.contains(word))
}

fn bare_words(call: &Call) -> Vec<String> {
    call.all_words().iter().map(|word| bare(&word.to_string_lossy())).collect()
}

/// Options whose value is the next word.
const VALUES: [&str; 24] = [
    "-o",
    "-x",
    "-T",
    "-u",
    "-z",
    "-L",
    "-l",
    "-I",
    "-D",
    "-U",
    "-A",
    "-e",
    "-B",
    "-include",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-imacros",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-target",
    "--param",
];

/// What only asks something.
const QUESTIONS: [&str; 6] = ["-E", "-M", "-MM", "-fsyntax-only", "--version", "-###"];

fn of_driver(call: &Call, temporary: &Path) -> Option<Build> {
    let words = bare_words(call);
    let asks = |word: &String| {
        QUESTIONS.contains(&word.as_str()) || ["-print-", "-dump", "--help"].iter().any(|start| word.starts_with(start))
    };
    if words.iter().any(asks) {
        return None;
    }
    let (mut inputs, mut compiles, mut output) = (vec![], BTreeSet::new(), None);
    let mut forced: Option<Option<Language>> = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if VALUES.contains(&word.as_str()) {
            let value = rest.next();
            match word.as_str() {
                "-x" => forced = value.filter(|name| *name != "none").map(|name| of_name(name)),
                "-o" => output = value,
                _ => {}
            }
        } else if let Some(name) = word.strip_prefix("-x") {
            forced = (name != "none").then(|| of_name(name));
        } else if !word.starts_with('-') || word == "-" {
            inputs.push(word);
            compiles.extend(forced.unwrap_or_else(|| of_file(word)));
        }
    }
    let is_probe = |path: &&String| is_probe(&call.dir.join(path), temporary);
    if inputs.is_empty() || inputs.iter().chain(&output).any(is_probe) {
        return None;
    }
    let stops = |word: &String| ["-c", "-S", "-r", "-Wl,-r"].contains(&word.as_str());
    let (dir, output, links) = (call.dir.clone(), output.cloned(), !words.iter().any(stops));
    Some(Build { dir, output, compiles, links, is_linker: false, words })
}

fn of_linker(call: &Call) -> Option<Build> {
    let words = bare_words(call);
    let none =
        |word: &String| ["-r", "-i", "--relocatable", "-v", "-V", "--version", "--help"].contains(&word.as_str());
    let has_inputs = words.iter().any(|word| !word.starts_with('-'));
    let links = has_inputs && !words.iter().any(none);
    let output = words.windows(2).find(|pair| pair[0] == "-o").map(|pair| pair[1].clone());
    links.then_some(Build { dir: call.dir.clone(), output, compiles: BTreeSet::new(), links, is_linker: true, words })
}

/// The language of `-x`; none for headers and what is not known.
fn of_name(name: &str) -> Option<Language> {
    match name {
        "c" | "cpp-output" => Some(Language::C),
        "c++" | "c++-cpp-output" => Some(Language::Cxx),
        "objective-c" | "objective-c++" => Some(Language::ObjectiveC),
        "assembler" | "assembler-with-cpp" => Some(Language::Assembler),
        name if name.starts_with('f') => Some(Language::Fortran),
        _ => None,
    }
}

fn of_file(path: &str) -> Option<Language> {
    match path.rsplit_once('.')?.1 {
        "c" | "i" => Some(Language::C),
        "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii" => Some(Language::Cxx),
        "m" | "mi" | "mm" | "M" | "mii" => Some(Language::ObjectiveC),
        "f" | "for" | "ftn" | "F" | "FOR" | "f90" | "f95" | "f03" | "f08" | "F90" | "F95" | "F03" | "F08" => {
            Some(Language::Fortran)
        }
        "s" | "S" | "sx" => Some(Language::Assembler),
        _ => None,
    }
}

/// Whether a file is a probe of what finds out what the machine has: Autoconf, Perl's Configure, CMake, Meson, or a
/// script's own, which are compiled from standard input or where temporary files lie.
fn is_probe(path: &Path, temporary: &Path) -> bool {
    const FOLDERS: [&str; 6] = ["UU", "CMakeTmp", "CMakeScratch", "CompilerIdC", "CompilerIdCXX", "meson-private"];
    const STEMS: [&str; 3] = ["conftest", "try", "sanitycheck"];
    let text = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    let stem = path.file_stem().map(text).unwrap_or_default();
    let of_name = stem.starts_with("conftest") || stem.starts_with("sanitycheck") || STEMS.contains(&stem.as_str());
    let folder = path.parent().unwrap_or(path);
    let of_folder = folder.components().any(|part| {
        let part = text(part.as_os_str());
        FOLDERS.contains(&part.as_str()) || part.contains("TryCompile")
    });
    of_name || of_folder || stem == "-" || path.starts_with("/dev") || path.starts_with(temporary)
}

/// Without the quotes and backslashes that shells take away on the flag's way, some of them twice.
pub(super) fn bare(word: &str) -> String {
    word.chars().filter(|letter| !['"', '\'', '\\'].contains(letter)).collect()
}
