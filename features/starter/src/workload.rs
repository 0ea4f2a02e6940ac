//! The workload of a new study: what the user types, with the program that was built in the place of its own, or a stub that
//! says so. Nothing is run here.

use crate::shell::{Word, in_prefix, words};
use crate::targets::{TREE, Target};
use std::fs;
use std::io;
use std::path::{Component, Path};

/// A workload as the study file has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Workload {
    /// The command.
    pub(crate) run: String,
    /// What is run before each trial, and is not measured.
    pub(crate) prepare: Option<String>,
    pub(crate) kind: WorkloadKind,
    /// The harness whose results it prints.
    pub(crate) harness: Option<&'static str>,
}

/// What a workload is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WorkloadKind {
    /// A command that the user has typed.
    #[default]
    Main,
    /// It only shows that the program starts.
    Stub,
    /// A benchmark of the source's own.
    Benchmark,
    /// The tests of the source.
    Tests,
}

impl WorkloadKind {
    /// What such a workload is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Stub => "stub",
            Self::Benchmark => "benchmark",
            Self::Tests => "tests",
        }
    }
}

impl Workload {
    pub(crate) fn is_stub(&self) -> bool {
        self.kind == WorkloadKind::Stub
    }
}

/// The command that the user typed, where each word that means the program becomes the one in `$PREFIX`.
pub(crate) fn of_command(typed: &str, program: &str, product: &Path) -> Workload {
    let ours = in_prefix(program);
    let means_it = |word: &str| {
        let path = Path::new(word.trim_start_matches("./"));
        word == program || path == product || (word.contains('/') && path.file_name() == product.file_name())
    };
    let mut run = String::new();
    let mut is_first = true;
    for Word { raw, text, space } in words(typed) {
        // As an argument a bare name may be a file that is called like the program.
        let is_program = means_it(&text) && (is_first || text.contains('/'));
        is_first = ["|", "&&", ";", "||"].contains(&raw.as_str());
        run.push_str(if is_program { &ours } else { &raw });
        run.push_str(&space);
    }
    Workload { run: run.trim().to_owned(), ..Workload::default() }
}

/// Whether a command that the user typed runs a program.
pub(crate) fn names(typed: &str, program: &str, product: &Path) -> bool {
    of_command(typed, program, product).run != typed.trim()
}

/// Copies the files that a command names, as far as they are in one of these folders and not in the study's; which.
///
/// # Errors
/// What the system says.
pub(crate) fn bring_files(run: &str, from: &[&Path], study_dir: &Path) -> io::Result<Vec<String>> {
    let mut brought = vec![];
    for word in words(run).into_iter().map(|word| word.text) {
        let path = Path::new(&word);
        let stays_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if word.is_empty() || !stays_inside || study_dir.join(path).exists() {
            continue;
        }
        let Some(place) = from.iter().map(|folder| folder.join(path)).find(|place| place.is_file()) else { continue };
        let target = study_dir.join(path);
        let copied = fs::create_dir_all(target.parent().unwrap_or(study_dir)).and_then(|()| fs::copy(&place, target));
        copied.map_err(|error| io::Error::new(error.kind(), format!("cannot copy {}: {error}", place.display())))?;
        brought.push(word);
    }
    Ok(brought)
}

/// The files of the study's folder that a command names and the source does not have: a build gets them only by name.
pub(crate) fn files_of_study(run: &str, tree: &Path, study_dir: &Path) -> Vec<String> {
    let is_one = |word: &String| {
        let stays_inside = Path::new(word).components().all(|part| matches!(part, Component::Normal(_)));
        !word.is_empty() && stays_inside && !tree.join(word).exists() && study_dir.join(word).is_file()
    };
    words(run).into_iter().map(|word| word.text).filter(is_one).collect()
}

/// A workload that only starts the program, with these words.
pub(crate) fn stub(program: &str, words: &str) -> Workload {
    Workload { run: format!("{}{words}", in_prefix(program)), kind: WorkloadKind::Stub, ..Workload::default() }
}

/// A workload that runs a benchmark, a program with this content. One by Google's library works for a fixed time, and says
/// how long an operation took.
pub(crate) fn of_benchmark(program: &str, content: &[u8]) -> Workload {
    /// An option of the library, and how it is named where it is a file of its own.
    const GOOGLE: [&[u8]; 2] = [b"benchmark_format", b"libbenchmark.so"];
    let is_google = GOOGLE.iter().any(|mark| content.windows(mark.len()).any(|part| part == *mark));
    let words = if is_google { " --benchmark_format=json --benchmark_min_time=0.1" } else { "" };
    let run = format!("{}{words}", in_prefix(program));
    Workload { run, prepare: None, kind: WorkloadKind::Benchmark, harness: is_google.then_some("google") }
}

/// A workload that runs a target of the source in a copy of the tree that was built, one for each trial: what it leaves there
/// is in nobody's way.
pub(crate) fn of_target(target: &Target) -> Workload {
    let kind = if target.is_benchmark { WorkloadKind::Benchmark } else { WorkloadKind::Tests };
    let prepare = Some(format!("cp -a \"$PREFIX/{TREE}\" \"$TMPDIR\""));
    Workload { run: target.line(&format!("$TMPDIR/{TREE}"), ""), prepare, kind, harness: target.harness }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_that_works_for_a_fixed_time_has_its_own_clock() {
        let google = of_benchmark("b", b"\x7fELF --benchmark_format=<console|json>");
        assert_eq!((google.harness, google.run.ends_with("min_time=0.1")), (Some("google"), true));
        assert_eq!(of_benchmark("b", b"\x7fELF libbenchmark.so.1").harness, Some("google"));
        assert_eq!(of_benchmark("b", b"\x7fELF").run, "\"$PREFIX/bin/b\"");
    }

    #[test]
    fn the_program_becomes_the_one_that_was_built() {
        let check = |typed: &str, expect: &str| {
            assert_eq!(of_command(typed, "prog", Path::new("src/prog")).run, expect, "{typed}");
        };
        check("./prog input", "\"$PREFIX/bin/prog\" input");
        check("src/prog input", "\"$PREFIX/bin/prog\" input");
        check("prog prog", "\"$PREFIX/bin/prog\" prog");
        check("./src/prog -x  'a b' > /dev/null", "\"$PREFIX/bin/prog\" -x  'a b' > /dev/null");
        check("cat input | ./prog", "cat input | \"$PREFIX/bin/prog\"");
        check("sh run.sh", "sh run.sh");
        let odd = |program: &str, typed: &str| of_command(typed, program, Path::new(program)).run;
        assert_eq!(odd("my prog", "'./my prog' 'a b'"), "\"$PREFIX/bin/my prog\" 'a b'");
        assert_eq!(odd("it's", "./it\\'s x"), "\"$PREFIX/bin/it's\" x");
        assert_eq!(odd("-dash", "./-dash x"), "\"$PREFIX/bin/-dash\" x");
        assert!(names("./prog x", "prog", Path::new("src/prog")) && !names("sh run.sh", "prog", Path::new("prog")));
    }
}
