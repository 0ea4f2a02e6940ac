//! The levels of a study: as they are asked for, or those that are proposed for a build system. A level is written as
//! its table in the study file. Whether its words arrive is proven later.

use crate::recognise::{BuildSystem, System};
use crate::rust;
use bakeoff_building::{Building, CallSummary};
use bakeoff_command::CommandError;
use bakeoff_host::search_path::find;
use std::path::Path;
use toml_edit::{InlineTable, Value};

/// The level that changes nothing.
pub(crate) const OWN: &str = "own";

/// The keys of levels that a training makes, and the words for them: built by a profile, or rewritten by BOLT. And how
/// such a level is called.
const TRAINED: [(&str, &str); 2] = [("profile", "pgo"), (BOLT, BOLT)];

/// The second of these.
const BOLT: &str = "bolt";

/// The key whose words are for rustc.
const RUST: &str = "rustflags";

/// A level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    pub(crate) name: String,
    /// Its keys and values, in this order.
    pub(crate) entries: Vec<(String, String)>,
}

impl Level {
    fn new(name: &str, entries: &[(&str, &str)]) -> Self {
        let entries = entries.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Self { name: name.to_owned(), entries }
    }

    /// Its table, as the study file has it.
    pub(crate) fn table(&self) -> Value {
        let mut table = InlineTable::new();
        for (key, value) in &self.entries {
            table.insert(key, value.into());
        }
        table.into()
    }

    /// The training that makes it, if one does; empty if that is the workload.
    pub(crate) fn training(&mut self) -> Option<&mut String> {
        let is_trained = |key: &str| TRAINED.iter().any(|(word, _)| key == *word);
        self.entries.iter_mut().find(|(key, _)| is_trained(key)).map(|(_, command)| command)
    }

    /// Whether BOLT makes it of a program that was linked already.
    pub(crate) fn is_bolted(&self) -> bool {
        self.entries.iter().any(|(key, _)| key == BOLT)
    }

    /// The level that BOLT makes by a training, where BOLT is installed.
    pub(crate) fn bolted(training: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut names = std::env::split_paths(&path).filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        let is_here = names.any(|entry| entry.file_name().to_string_lossy().starts_with("llvm-bolt"));
        is_here.then(|| Self::new(BOLT, &[(BOLT, training)]))
    }

    /// What it has rustc do, if it says nothing else: words, or settings of the release profile.
    fn only_rust(&self) -> Option<String> {
        let words = |(key, value): &(String, String)| match key.strip_prefix("CARGO_PROFILE_RELEASE_") {
            Some(setting) => Some(format!("-C {}={value}", setting.to_lowercase().replace('_', "-"))),
            None => (key == RUST).then(|| value.clone()),
        };
        let all: Option<Vec<String>> = self.entries.iter().map(words).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.join(" "))
    }

    /// What it says by this key, if it says nothing else.
    pub(crate) fn only(&self, wanted: &str) -> Option<&str> {
        match &self.entries[..] {
            [(key, words)] if key == wanted => Some(words),
            _ => None,
        }
    }
}

/// A level as it is typed: `-O3 -flto`, `NAME=-O3 -flto`, `clang`, `NAME=clang -O3`, or with variables
/// `NAME=GOAMD64=v3`. Behind words and compiler, `profile` or `profile:COMMAND` may stand, as in `NAME=-O3
/// profile:./prog input`, or `bolt` likewise.
///
/// # Errors
/// If it is none of these.
pub(crate) fn parse(text: &str) -> Result<Level, CommandError> {
    let (name, what) = match text.split_once('=') {
        Some((name, what)) if is_name(name) && !is_variable(name) => (Some(name), what),
        _ => (None, text),
    };
    let (before, training) = cut(what);
    let words: Vec<&str> = before.split_whitespace().collect();
    let mut entries = vec![];
    match &words[..] {
        [] if name == Some(OWN) || training.is_some() => {}
        [] => return Err(CommandError::usage(format!("the level `{text}` changes nothing")).hint(FORMS)),
        [first, ..] if first.split_once('=').is_some_and(|(key, _)| is_variable(key)) => {
            let (key, value) = what.trim().split_once('=').unwrap_or_default();
            entries.push((key.to_owned(), value.to_owned()));
        }
        [first]
            if name.is_none()
                && training.is_none()
                && !first.starts_with(['-', '"'])
                && !Building::is_c_compiler(first) =>
        {
            let why = format!("the level `{text}` is not a flag, a variable or a known compiler");
            return Err(CommandError::usage(why).hint(format!("did you mean `-{first}`? Otherwise {FORMS}")));
        }
        [first, rest @ ..] if !first.starts_with('-') => {
            entries.push(("compiler".to_owned(), (*first).to_owned()));
            entries.extend(by_compiler(rest));
        }
        words => entries.extend(by_compiler(words)),
    }
    let name = name.map_or_else(
        || match training {
            Some(((_, name), _)) => name_of(&format!("{before} {name}")),
            None => name_of(what),
        },
        str::to_owned,
    );
    entries.extend(training.map(|((key, _), command)| (key.to_owned(), command.to_owned())));
    Ok(Level { name, entries })
}

/// Words by the key that has them reach their compiler. What begins as options of rustc do is for rustc: to a C
/// compiler these mean nothing. All others are for C compilers, in a Cargo project too.
fn by_compiler(words: &[&str]) -> Vec<(String, String)> {
    const WITH_VALUE: [&str; 4] = ["-C", "--codegen", "-Z", "--cfg"];
    let (mut rust, mut others) = (vec![], vec![]);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let is_rust = WITH_VALUE.iter().any(|option| word == *option || word.starts_with(&format!("{option}=")))
            || ["-C", "-Z"].iter().any(|option| word.starts_with(option));
        if is_rust { &mut rust } else { &mut others }.push(word);
        if WITH_VALUE.contains(&word) {
            rust.extend(words.next());
        }
    }
    let entries = [("append", others), (RUST, rust)].into_iter().filter(|(_, words)| !words.is_empty());
    entries.map(|(key, words)| (key.to_owned(), words.join(" "))).collect()
}

/// The words and the compiler, and the training behind them. The value of a variable is left whole.
fn cut(what: &str) -> (&str, Option<Training<'_>>) {
    let is_variable = what.trim_start().split_once('=').is_some_and(|(key, _)| is_variable(key));
    let starts = TRAINED.into_iter().flat_map(|key| what.match_indices(key.0).map(move |(at, _)| (at, key)));
    let is_it = |(at, key): &(usize, (&str, &str))| {
        let (before, after) = (&what[..*at], &what[at + key.0.len()..]);
        (before.is_empty() || before.ends_with(' ')) && (after.trim().is_empty() || after.starts_with(':'))
    };
    match starts.filter(is_it).min().filter(|_| !is_variable) {
        Some((at, key)) => (&what[..at], Some((key, what[at + key.0.len()..].trim_start_matches(':').trim()))),
        None => (what, None),
    }
}

/// A key with its name, and the command.
type Training<'a> = ((&'static str, &'static str), &'a str);

/// What is said of a level that cannot be read.
const FORMS: &str = "write `NAME=WORDS` or only WORDS. WORDS can be compiler flags (--level 'lto=-O3 -flto=auto'), \
    the name of a compiler (--level clang), a training command (--level 'pgo=profile:./prog input'), or a variable \
    (--level 'v3=GOAMD64=v3')";

/// A name made of words: `-O3 -march=native` becomes `O3-march-native`, and `-C opt-level=2` becomes `opt-level-2`.
fn name_of(words: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() || c == '+' { c } else { '-' };
    let without = words.split_whitespace().map(|word| match word.strip_prefix("-C") {
        Some(option) => option,
        None => word,
    });
    let name: String = without.collect::<Vec<_>>().join(" ").chars().map(sign).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c))
}

fn is_variable(text: &str) -> bool {
    text.len() > 1
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().filter(char::is_ascii_uppercase).count() > 1
}

/// What is compared where nothing is asked for.
pub(crate) fn proposed(found: &BuildSystem) -> Vec<Level> {
    match found.system {
        System::Cargo => vec![
            Level::new("opt-level-2", &[(RUST, "-C opt-level=2")]),
            Level::new("native", &[(RUST, "-C target-cpu=native")]),
            Level::new("one-unit", &[(RUST, "-C codegen-units=1")]),
            // Not by words: rustc refuses them for a dependency that is also a library for C.
            Level::new("lto", &[("CARGO_PROFILE_RELEASE_LTO", "fat"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")]),
        ],
        System::Go => {
            let mut levels = vec![
                Level::new("v3", &[("GOAMD64", "v3")]),
                Level::new("no-inlining", &[("GOFLAGS", "-gcflags=all=-l")]),
            ];
            if found.facts.has_c {
                levels.push(Level::new("c-O3", &[("append", "-O3")]));
            }
            levels
        }
        _ => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let mut levels = vec![
                Level::new("O2", &[("append", "-O2")]),
                Level::new("O3", &[("append", "-O3")]),
                Level::new("O3-native", &[("append", "-O3 -march=native")]),
                Level::new("lto", &[("append", "-O3 -flto=auto")]),
            ];
            if find("clang", &path, Path::new("")).is_some() {
                levels.push(Level::new("clang", &[("compiler", "clang")]));
            }
            levels
        }
    }
}

/// The one `-O` that all compilations of the plain build have, if there is one.
pub(crate) fn own_optimisation(made: &CallSummary) -> Option<&str> {
    let mut all = made.optimisation.keys();
    let first = all.next().filter(|first| !first.is_empty())?;
    all.next().is_none().then_some(first.as_str())
}

/// Takes away the levels that do what the project does anyway; they are returned apart. `rust` is what it has rustc do.
pub(crate) fn without_own(levels: Vec<Level>, made: &CallSummary, rust: &[String]) -> (Vec<Level>, Vec<Level>) {
    let own = own_optimisation(made);
    let is_own = |level: &Level| {
        (own.is_some() && level.only("append") == own)
            || level.only_rust().is_some_and(|words| rust::are_own(&words, rust))
    };
    levels.into_iter().partition(|level| !is_own(level))
}

/// The variables of all levels, which a script has to mention to get them.
pub(crate) fn variables(levels: &[Level]) -> Vec<&str> {
    let keys = levels.iter().flat_map(|level| &level.entries).map(|(key, _)| key.as_str());
    let mut keys: Vec<&str> = keys.filter(|key| is_variable(key)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn levels_as_they_are_typed() {
        let check = |text: &str, name: &str, entries: &[(&str, &str)]| {
            assert_eq!(parse(text).unwrap(), Level::new(name, entries), "{text}");
        };
        check("-O3", "O3", &[("append", "-O3")]);
        check("-O3 -march=native", "O3-march-native", &[("append", "-O3 -march=native")]);
        check("opt=-Os", "opt", &[("append", "-Os")]);
        check("lto=-O3 -flto=auto", "lto", &[("append", "-O3 -flto=auto")]);
        check("clang", "clang", &[("compiler", "clang")]);
        check("c=clang-14 -O3", "c", &[("compiler", "clang-14"), ("append", "-O3")]);
        check("GOAMD64=v3", "GOAMD64-v3", &[("GOAMD64", "v3")]);
        check("n=RUSTFLAGS=-C target-cpu=native", "n", &[("RUSTFLAGS", "-C target-cpu=native")]);
        check("O2=-O2", "O2", &[("append", "-O2")]);
        check("-C target-cpu=native", "target-cpu-native", &[("rustflags", "-C target-cpu=native")]);
        check("native=-Ctarget-cpu=native", "native", &[("rustflags", "-Ctarget-cpu=native")]);
        check("-Copt-level=2", "opt-level-2", &[("rustflags", "-Copt-level=2")]);
        check("x=-O2 --cfg fast -C lto", "x", &[("append", "-O2"), ("rustflags", "--cfg fast -C lto")]);
        check(
            "-Z threads=4 -march=native",
            "Z-threads-4-march-native",
            &[("append", "-march=native"), ("rustflags", "-Z threads=4")],
        );
        check("own=", "own", &[]);
        check("profile", "pgo", &[("profile", "")]);
        check("pgo=profile:./p x=1 > o", "pgo", &[("profile", "./p x=1 > o")]);
        check("-O3 profile: ./p", "O3-pgo", &[("append", "-O3"), ("profile", "./p")]);
        check("c=clang -O3 profile", "c", &[("compiler", "clang"), ("append", "-O3"), ("profile", "")]);
        check("bolt", "bolt", &[("bolt", "")]);
        check("-O3 bolt:./p profile", "O3-bolt", &[("append", "-O3"), ("bolt", "./p profile")]);
        check("b=clang bolt: ./p", "b", &[("compiler", "clang"), ("bolt", "./p")]);
        check("-fprofile-use", "fprofile-use", &[("append", "-fprofile-use")]);
        check("n=CFLAGS=-g profile", "n", &[("CFLAGS", "-g profile")]);
        assert!(parse("").is_err() && parse("x=").is_err());
        for (text, part) in [("O3", "did you mean `-O3`?"), ("cla", "not a flag, a variable or a known compiler")] {
            let error = parse(text).unwrap_err().render();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_level_that_equals_the_project_is_left_out() {
        let level = |words| Level::new("x", &[("append", words)]);
        let check = |optimisation: &[(&str, u64)], expect: usize| {
            let optimisation = optimisation.iter().map(|(word, n)| ((*word).to_owned(), *n)).collect();
            let made = CallSummary { optimisation, ..CallSummary::default() };
            let levels = vec![level("-O2"), level("-O3"), level("-O2 -flto")];
            assert_eq!(without_own(levels, &made, &[]).0.len(), expect, "{made:?}");
        };
        check(&[("-O2", 34)], 2);
        check(&[("-O2", 33), ("-O3", 1)], 3);
        check(&[("", 3)], 3);
        check(&[("-O1", 3)], 3);
        let own = ["opt-level=3", "lto=fat", "codegen-units=1"].map(str::to_owned);
        let lto = [("CARGO_PROFILE_RELEASE_LTO", "fat"), ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")];
        let levels = vec![Level::new("lto", &lto), Level::new("x", &[("rustflags", "-C opt-level=2")]), level("-O3")];
        let (kept, left) = without_own(levels, &CallSummary::default(), &own);
        assert_eq!((kept.len(), left[0].name.as_str()), (2, "lto"));
    }
}
