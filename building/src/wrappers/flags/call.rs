//! What a call builds, as far as its words tell.

use crate::wrapper::{Call, Language, Task, ToolKind, language_of, takes_value, task};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A call that builds something.
#[derive(Debug)]
pub(in crate::wrappers) struct Build {
    /// What it compiles, and whether it makes a program or library.
    pub(in crate::wrappers) task: Task,
    /// The folder it was called in.
    pub(in crate::wrappers) dir: PathBuf,
    /// What it writes, if it says so.
    pub(in crate::wrappers) output: Option<String>,
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

impl Build {
    /// The files that it compiles and that are no assembler's, as its words have them.
    pub(in crate::wrappers) fn sources(&self) -> Vec<&str> {
        let (mut sources, mut only_files, mut is_named) = (vec![], false, false);
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--" if !only_files => only_files = true,
                option if !only_files && takes_value(option.as_bytes()) => {
                    let value = words.next();
                    is_named = if option == "-x" { value.is_some_and(|value| value != "none") } else { is_named };
                }
                option if !only_files && option.starts_with('-') => is_named |= option.starts_with("-x"),
                file if is_named || compiled(file.as_bytes()) => sources.push(file),
                _ => {}
            }
        }
        sources
    }
}

fn compiled(file: &[u8]) -> bool {
    language_of(file).is_some_and(|language| language != Language::Assembler)
}

/// The calls that build something, probes left out.
pub(in crate::wrappers) fn builds(calls: &[Call], temporary: &Path) -> Vec<Build> {
    let mut drivers: BTreeMap<u32, (usize, &Call)> = BTreeMap::new();
    let mut builds: Vec<Option<Build>> = vec![];
    for call in calls {
        match call.kind() {
            ToolKind::Driver if !call.of_gcc => {
                // A script that became the compiler, as c99 may be, is the same call.
                let again = drivers.get(&call.pid).filter(|(_, before)| is_same(before, call));
                if let Some(&(place, _)) = again {
                    builds[place] = None;
                }
                drivers.insert(call.pid, (builds.len(), call));
                builds.push(of_driver(call, temporary));
            }
            ToolKind::Linker if !call.of_gcc && !drivers.contains_key(&call.parent) => builds.push(of_linker(call)),
            _ => {}
        }
    }
    builds.into_iter().flatten().collect()
}

/// Whether the later call is what the earlier one became.
pub(super) fn is_same(earlier: &Call, later: &Call) -> bool {
    earlier.dir == later.dir && earlier.words.iter().all(|word| later.words.contains(word))
}

fn bare_words(all: &[OsString]) -> Vec<String> {
    all.iter().map(|word| bare(&word.to_string_lossy())).collect()
}

fn of_driver(call: &Call, temporary: &Path) -> Option<Build> {
    let all = call.all_words();
    let words = all.iter().map(|word| word.as_bytes());
    let (dir, temporary) = (call.dir.as_os_str().as_bytes(), temporary.as_os_str().as_bytes());
    let task = task(call.name.as_bytes(), words, dir, temporary).filter(|task| !task.is_probe)?;
    Some(Build::of(task, call, bare_words(&all), false))
}

fn of_linker(call: &Call) -> Option<Build> {
    let words = bare_words(&call.all_words());
    let none =
        |word: &String| ["-r", "-i", "--relocatable", "-v", "-V", "--version", "--help"].contains(&word.as_str());
    let has_inputs = words.iter().any(|word| !word.starts_with('-'));
    let links = has_inputs && !words.iter().any(none);
    links.then(|| Build::of(Task::link(), call, words, true))
}

impl Build {
    fn of(task: Task, call: &Call, words: Vec<String>, is_linker: bool) -> Self {
        let output = call.output().map(|output| output.to_string_lossy().into_owned());
        Self { task, dir: call.dir.clone(), output, is_linker, words }
    }
}

/// Without the quotes and backslashes that shells take away on the flag's way, some of them twice.
pub(super) fn bare(word: &str) -> String {
    word.chars().filter(|letter| !['"', '\'', '\\'].contains(letter)).collect()
}
