//! What the tests of whole commands share: a study in a folder of its own, with a cache of its own, and the program.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test executable uses a part of it")]

pub mod processes;
pub mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a study in it, and an empty cache beside it.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub fn new(study: &str) -> Self {
        Self::within(&std::env::temp_dir(), study)
    }

    /// The same, in a folder of that folder.
    pub fn within(place: &Path, study: &str) -> Self {
        let sandbox = Self { folder: tempfile::tempdir_in(place).unwrap() };
        fs::create_dir(sandbox.study()).unwrap();
        sandbox.write("study.toml", study);
        sandbox
    }

    pub fn study(&self) -> PathBuf {
        self.folder.path().join("study")
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.study().join(name), text).unwrap();
    }

    /// `bakeoff` with these words; `STUDY` stands for the study's folder. A report is printed in full: what a screen leaves
    /// out is not what these tests are about.
    pub fn command(&self, words: &[&str]) -> Command {
        const OTHERWISE: [&str; 7] = ["--json", "--all", "--section", "--provenance", "--trial", "--against", "--help"];
        let mut command = self.command_as_typed(words);
        let reports = words.first().is_some_and(|first| ["run", "compare", "report"].contains(first));
        if reports && !words.iter().any(|word| OTHERWISE.contains(word)) {
            command.arg("--all");
        }
        command
    }

    /// The same, with the words as they are.
    pub fn command_as_typed(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        let study = self.study();
        for &word in words {
            if word == "STUDY" {
                command.arg(&study);
            } else {
                command.arg(word);
            }
        }
        command.env("BAKEOFF_CACHE", self.folder.path().join("cache"));
        // Tests do not wait for each other's trials, nor for those of this machine's users.
        command.env("BAKEOFF_LOCKS", self.folder.path());
        command.env("BAKEOFF_STATE", self.folder.path().join("state"));
        command.env("NO_COLOR", "1").env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
        command.current_dir(self.folder.path());
        command
    }

    pub fn execute(&self, words: &[&str]) -> Shown {
        Shown::of(&self.command(words).output().unwrap())
    }

    /// The study's journals.
    pub fn journals(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.study().join(".bakeoff")).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    pub fn journal(&self) -> PathBuf {
        let mut journals = self.journals();
        assert_eq!(journals.len(), 1, "{journals:?}");
        journals.remove(0)
    }

    pub fn record(&self) -> bakeoff_model::record::Record {
        bakeoff_journal::read(&self.journal()).unwrap().record
    }

    /// Trials in the journal of a study that is being run; 0 while there is none.
    pub fn trials_so_far(&self) -> usize {
        let journals = self.journals();
        let contents = journals.first().and_then(|path| bakeoff_journal::read(path).ok());
        contents.map_or(0, |contents| contents.record.trials.len())
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub struct Shown {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Shown {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Fails unless the exit code is this one and all of these stand in what was printed.
    #[track_caller]
    pub fn expect(&self, code: i32, parts: &[&str]) -> &Self {
        let all = format!("{}\n{}", self.out, self.err);
        let flat = all.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(flat.contains(part), "{part:?} is missing in\n{all}");
        }
        assert_eq!(self.code, code, "exit code of\n{all}");
        self
    }
}

/// A journal's text as a version without checksums would have written it.
pub fn unsealed(journal: &Path) -> String {
    let unsealed = |line: &str| line.split_once(",\"crc32c\":").unwrap().0.to_owned() + "}\n";
    let text: String = fs::read_to_string(journal).unwrap().lines().map(unsealed).collect();
    text.replace("\"format\":2", "\"format\":1")
}

/// Trials of this number of blocks, without those of variants that stopped.
pub fn planned(record: &bakeoff_model::record::Record, blocks: u32) -> usize {
    let study = &record.study;
    let variants = || study.variants.iter().map(|variant| variant.name.as_str()).chain([bakeoff_model::record::TWIN]);
    let cells =
        || study.workloads.iter().flat_map(|workload| study.conditions.iter().map(move |c| (&**workload, &**c)));
    let takes_part = |variant: &str, cell: (&str, &str), block: u32| {
        !record.is_left_out(cell, block) && !record.stopped.iter().any(|one| one.keeps_out(variant, cell, block))
    };
    let of = |block: u32| cells().map(move |cell| variants().filter(|v| takes_part(v, cell, block)).count());
    (1..=blocks).flat_map(of).sum()
}

/// How often each planned trial is in a record; every one of them exactly once, or the test fails.
#[track_caller]
pub fn each_trial_once(record: &bakeoff_model::record::Record, trials: usize) {
    let mut seen = std::collections::BTreeMap::new();
    for trial in &record.trials {
        *seen.entry((trial.block, &trial.workload, &trial.condition, &trial.variant)).or_insert(0) += 1;
    }
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "executed more than once: {twice:?}");
    assert_eq!(record.trials.len(), trials, "planned trials that are in the journal");
    for block in &record.blocks {
        for variant in &block.order {
            let key = (block.block, &block.workload, &block.condition, variant);
            assert!(seen.contains_key(&key), "{key:?} was lost");
        }
    }
}

/// A study without builds is not possible, so this one builds two shell scripts; a trial takes a few milliseconds.
pub const SMALL: &str = r#"
format = 1
name = "small"
question = "Does a second echo cost anything?"
[build_factors.echo]
once = { LINES = "echo hello" }
twice = { LINES = "echo hello; echo again >&2" }
[[build]]
name = "script"
tools = []
script = '''
mkdir -p "$PREFIX/bin"
printf '%s\n' '#!/bin/sh' "$LINES" > "$PREFIX/bin/hello"
chmod +x "$PREFIX/bin/hello"
'''
verify = ['test -x "$PREFIX/bin/hello"']
[workloads.hello]
run = '"$PREFIX/bin/hello"'
expect = "hello.out"
[plan]
layouts = "one"
blocks = 8
seed = 178
[decide]
baseline = { echo = "once" }
metrics = ["wall", "user", "sys", "maxrss"]
"#;

/// The study [`SMALL`] in a folder, with its expected output.
pub fn small() -> Sandbox {
    let sandbox = Sandbox::new(SMALL);
    sandbox.write("hello.out", "hello\n");
    sandbox
}

/// Whether one of these tools is not installed, which is said.
pub fn is_missing(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(missing) = missing {
        println!("skipped: {missing} is not installed");
    }
    missing.is_some()
}
