//! Files that no rule about a command's words finds are swapped while trials run, between two commands, and between two
//! days: a traced run sees them, later blocks do not count, and a later command does not mix two programs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use bakeoff_model::record::{Outcome, Record};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The baseline of every comparison here: from its seventh trial on, in the fourth block, it waits for a file `go`.
const GATE: &str = "echo x >> trials; n=$(wc -l < trials)\n\
                    if [ $n -gt 6 ]; then echo > waits; while [ ! -e go ]; do sleep 0.01; done; fi\n";
const BLOCKS: &str = "6";

/// A comparison of the gate with a command, in a folder of its own.
struct Case {
    sandbox: Sandbox,
    words: Vec<String>,
}

impl Case {
    fn of(command: &str) -> Self {
        let sandbox = small();
        fs::write(sandbox.path().join("gate.sh"), GATE).unwrap();
        let words = ["compare", "sh gate.sh", command, "--blocks", BLOCKS, "--journal", "j.jsonl", "--quiet"];
        Self { sandbox, words: words.map(str::to_owned).to_vec() }
    }

    fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A library with a function that returns a number, which `prog` prints.
    fn library(&self, name: &str, number: u32) {
        self.write("lib.c", &format!("int number(void) {{ return {number}; }}\n"));
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        self.cc(&["-shared", "-fPIC", "-o", name, "lib.c"]);
    }

    fn program_of_library(&self) {
        self.library("lib/libnumber.so", 1);
        self.write(
            "prog.c",
            "#include <stdio.h>\nint number(void);\nint main(void) { printf(\"%d\\n\", number()); }\n",
        );
        self.cc(&["-o", "prog", "prog.c", "-Llib", "-lnumber"]);
    }

    fn cc(&self, words: &[&str]) {
        assert!(Command::new("cc").args(words).current_dir(self.sandbox.path()).status().unwrap().success());
    }

    fn command(&self) -> Command {
        self.sandbox.command(&self.words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn record(&self) -> Record {
        bakeoff_journal::read(&self.path("j.jsonl")).unwrap().record
    }

    /// Runs one block more.
    fn longer(&self) -> Shown {
        let words = self.words.iter().map(|word| if word == BLOCKS { "7" } else { word.as_str() });
        self.sandbox.execute(&words.collect::<Vec<_>>())
    }

    /// Runs it, and does something to its files in the middle of its fourth block.
    fn swapped(&self, swap: impl FnOnce(&Self)) -> Shown {
        let mut child = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !self.path("waits").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before its fourth block");
            std::thread::yield_now();
        }
        swap(self);
        fs::write(self.path("go"), "").unwrap();
        Shown::of(&child.wait_with_output().unwrap())
    }
}

/// Puts another file in the place of one, with its times.
fn replace(case: &Case, name: &str, text: &str) {
    let (path, aside) = (case.path(name), case.path("aside"));
    let about = fs::metadata(&path).unwrap();
    fs::write(&aside, text).unwrap();
    fs::set_permissions(&aside, about.permissions()).unwrap();
    fs::File::options().write(true).open(&aside).unwrap().set_modified(about.modified().unwrap()).unwrap();
    fs::rename(&aside, &path).unwrap();
}

/// The blocks before the swap count, the others do not, and the journal cannot be continued with other files.
#[track_caller]
fn check(what: &str, case: &Case, swap: impl FnOnce(&Case), named: &str) {
    let shown = case.swapped(swap);
    println!("{what}: {}", shown.err);
    if shown.err.contains("was not traced") {
        return println!("skipped: {what}: {}", shown.err);
    }
    shown.expect(2, &["stopped because these changed while trials ran", named, "must run again"]);
    let record = case.record();
    for block in 1..=6 {
        let trials = record.trials.iter().filter(|trial| trial.block == block);
        let counts: Vec<bool> = trials.map(|trial| trial.outcome == Outcome::Ok).collect();
        let outcomes: Vec<_> =
            record.trials.iter().map(|trial| (trial.block, &trial.variant, &trial.outcome)).collect();
        assert!(counts.iter().all(|counts| *counts == (block < 4)), "{what}: {outcomes:?}");
    }
    let again = Shown::of(&case.command().output().unwrap());
    again.expect(2, &["belongs to another study, or to another version of this study", named]);
}

#[test]
fn scripts_and_their_interpreters_are_seen() {
    for mode in [0o755, 0o644] {
        let case = Case::of("sh x.sh");
        case.write("x.sh", "echo 1\n");
        fs::set_permissions(case.path("x.sh"), fs::Permissions::from_mode(mode)).unwrap();
        check("a script behind its interpreter", &case, |case| replace(case, "x.sh", "echo 22\n"), "x.sh");
    }
    let case = Case::of("sh < prog");
    case.program("prog", "echo 1\n");
    check("a program on standard input", &case, |case| replace(case, "prog", "echo 2\n"), "prog");

    let case = Case::of("./by-env");
    case.program("bin/interpreter", "#!/bin/sh\nexec sh \"$@\"\n");
    case.program("by-env", "#!/usr/bin/env interpreter\necho 1\n");
    let path = format!("PATH={}:/usr/bin:/bin", case.path("bin").display());
    let case = case.with(&["--env", &path]);
    check(
        "the interpreter behind env",
        &case,
        |case| replace(case, "bin/interpreter", "#!/bin/sh\n: another\nexec sh \"$@\"\n"),
        "interpreter",
    );

    let case = Case::of("sh x.sh");
    case.write("x.sh", "sh ./y.sh\n");
    case.write("y.sh", "echo 1\n");
    check("a script of a script", &case, |case| replace(case, "y.sh", "echo 2\n"), "y.sh");

    let case = Case::of("sh link.sh");
    case.write("one.sh", "echo 1\n");
    case.write("other.sh", "echo 1; echo 2\n");
    std::os::unix::fs::symlink("one.sh", case.path("link.sh")).unwrap();
    check(
        "a link that leads elsewhere",
        &case,
        |case| {
            std::os::unix::fs::symlink("other.sh", case.path("new")).unwrap();
            fs::rename(case.path("new"), case.path("link.sh")).unwrap();
        },
        "link.sh",
    );
}

#[test]
fn data_are_seen_however_they_are_opened() {
    for (what, target) in [("the end of a link", "one"), ("a link that leads elsewhere", "link")] {
        let case = Case::of("sh -c 'cat link'");
        case.write("one", "1\n");
        std::os::unix::fs::symlink("one", case.path("link")).unwrap();
        let swap = |case: &Case| {
            case.write("new", "2\n");
            fs::rename(case.path("new"), case.path(target)).unwrap();
        };
        check(what, &case, swap, "link");
    }
    let case = Case::of("sh -c 'exec 3<> data; cat <&3'");
    case.write("data", "1\n");
    check("a file that may be written", &case, |case| replace(case, "data", "2\n"), "data");

    let case = Case::of("cat").with(&["--input", "data"]);
    case.write("data", "1\n");
    check("standard input", &case, |case| replace(case, "data", "2\n"), "data");
}

#[test]
fn what_bakeoff_and_the_trials_write_stops_nothing() {
    // The journal and what is printed are read by the trials themselves.
    let case = Case::of("sh -c 'cat j.jsonl printed > /dev/null'");
    let printed = fs::File::create(case.path("printed")).unwrap();
    let mut child = case.command().stdout(printed.try_clone().unwrap()).stderr(printed).spawn().unwrap();
    fs::write(case.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{}", fs::read_to_string(case.path("printed")).unwrap());

    // One command writes what the other one reads.
    let case = Case::of("sh -c 'cat log'");
    case.write("gate.sh", &format!("{GATE}echo 1 >> log\n"));
    case.write("log", "1\n");
    case.swapped(|_| ()).expect(0, &["6 of 6 blocks"]);

    // Written under a lock, now and then.
    let case = Case::of("sh x.sh");
    case.write("index", "1\n");
    case.write(
        "x.sh",
        "cat index; : > index.lock; [ $(wc -l < trials) != 8 ] || { cat index > index.lock; mv index.lock index; }\n",
    );
    case.swapped(|_| ()).expect(0, &["6 of 6 blocks"]);

    // What is set up is set up again.
    let case = Case::of("sh -c 'cat made'").with(&["--setup", "echo 1 > made", "--cleanup", "rm made"]);
    case.swapped(|_| ()).expect(0, &["6 of 6 blocks"]);
    case.longer().expect(0, &["7 of 7 blocks"]);
}

#[test]
fn libraries_are_seen_however_they_are_found() {
    let swap = |case: &Case| {
        case.library("other/libnumber.so", 2);
        fs::rename(case.path("other/libnumber.so"), case.path("lib/libnumber.so")).unwrap();
    };
    let case = Case::of("LD_LIBRARY_PATH=$PWD/lib ./prog");
    case.program_of_library();
    check("LD_LIBRARY_PATH in the command", &case, swap, "libnumber.so");

    let case = Case::of("LD_LIBRARY_PATH=lib ./prog");
    case.program_of_library();
    check("a relative one", &case, swap, "libnumber.so");

    let case = Case::of("./prog").with(&["--env", "LD_LIBRARY_PATH=lib"]);
    case.program_of_library();
    check("LD_LIBRARY_PATH by --env", &case, swap, "libnumber.so");

    let case = Case::of("cat gate.sh");
    case.library("lib/libnumber.so", 1);
    let preload = format!("LD_PRELOAD={}", case.path("lib/libnumber.so").display());
    let case = case.with(&["--env", &preload]);
    check("LD_PRELOAD by --env", &case, swap, "libnumber.so");

    let case = Case::of("LD_LIBRARY_PATH=early:lib ./prog");
    case.program_of_library();
    fs::create_dir(case.path("early")).unwrap();
    check("a library earlier on the path", &case, |case| case.library("early/libnumber.so", 2), "libnumber.so");

    let case = Case::of("LD_LIBRARY_PATH=early:lib ./prog");
    case.program_of_library();
    fs::create_dir(case.path("early")).unwrap();
    let there_and_gone = |case: &Case| {
        case.library("early/libnumber.so", 2);
        fs::remove_file(case.path("early/libnumber.so")).unwrap();
    };
    check("one that was there for a while", &case, there_and_gone, "early");
}

#[test]
fn new_files_and_folders_of_input_are_seen() {
    let case = Case::of("tool");
    case.program("late/tool", "#!/bin/sh\necho 1\n");
    fs::create_dir(case.path("early")).unwrap();
    let folders = ["early", "late"].map(|name| case.path(name).display().to_string());
    let path = format!("PATH={}:{}:/usr/bin:/bin", folders[0], folders[1]);
    let case = case.with(&["--env", &path]);
    check("a program earlier on PATH", &case, |case| case.program("early/tool", "#!/bin/sh\necho 2\n"), "early/tool");

    let case = Case::of("cat input/*");
    case.write("input/a", "1\n");
    check("a new file in a folder of input", &case, |case| case.write("input/b", "2\n"), "input");

    let case = Case::of("sh -c 'cat input/*'");
    case.write("input/a", "1\n");
    check("a file in a folder of input", &case, |case| replace(case, "input/a", "2\n"), "input/a");

    let case = Case::of("grep -rc 1 input");
    case.write("input/deep/down/a", "1\n");
    check("a file deep down", &case, |case| replace(case, "input/deep/down/a", "2\n"), "down/a");
}

#[test]
fn what_trials_write_is_no_input_and_what_is_only_touched_is_the_same() {
    // Written by the first trial, by each, by what stands before each, and put back by what stands after each.
    let case = Case::of("[ -e cache ] || echo 1 > cache; cat cache input given; echo 1 >> log").with(&[
        "--prepare",
        "echo 2 > input",
        "--conclude",
        "cp aside given",
    ]);
    ["aside", "given"].into_iter().for_each(|name| case.write(name, "3\n"));
    let shown = case.swapped(|_| ());
    shown.expect(0, &["6 of 6 blocks"]);
    case.longer().expect(0, &["7 of 7 blocks"]);

    let case = Case::of("sh x.sh");
    case.write("x.sh", ". ./y.sh\n");
    case.write("y.sh", "echo 1\n");
    case.swapped(|_| ()).expect(0, &["6 of 6 blocks"]);
    replace(&case, "y.sh", "echo 1\n");
    case.longer().expect(0, &["7 of 7 blocks"]);
}

#[test]
fn a_file_that_is_edited_between_two_commands_is_named_before_the_first_block() {
    let case = Case::of("sh x.sh");
    case.program("x.sh", "echo 1\n");
    case.swapped(|_| ()).expect(0, &["6 of 6 blocks"]);
    replace(&case, "x.sh", "echo 2\n");
    let trials = case.record().trials.len();
    let again = Shown::of(&case.command().output().unwrap());
    again.expect(2, &["belongs to another study, or to another version of this study", "x.sh"]);
    assert_eq!(case.record().trials.len(), trials);
    // The same of another day.
    let sandbox = small();
    let write = |text: &str| {
        fs::write(sandbox.path().join("x.sh"), text).unwrap();
        fs::set_permissions(sandbox.path().join("x.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("echo 1\n");
    sandbox.execute(&["compare", "sh x.sh", "true", "--blocks", "3", "--save", "then", "--quiet"]).expect(0, &[]);
    let against = ["compare", "true", "--against", "then", "--blocks", "3", "--quiet"];
    sandbox.execute(&against).expect(0, &["saved then: sh x.sh"]);
    write("echo 2\n");
    sandbox.execute(&against).expect(0, &["x.sh", "has changed since then"]);
}

/// The same of a study: a new journal begins.
#[test]
fn a_study_whose_traced_files_are_other_ones_begins_another_journal() {
    let sandbox = small();
    let study = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let outside = sandbox.path().join("outside.sh");
    fs::write(&outside, ":\n").unwrap();
    let run = format!("run = '. {}; \"$PREFIX/bin/hello\"'", outside.display());
    sandbox.write("study.toml", &study.replace("run = '\"$PREFIX/bin/hello\"'", &run));
    let run = |blocks: &str| sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", blocks]);
    run("6").expect(0, &["6 of 6 blocks"]);
    run("7").expect(0, &["7 of 7 blocks"]);
    assert_eq!(sandbox.journals().len(), 1);
    fs::write(&outside, ": :\n").unwrap();
    let shown = run("7");
    shown.expect(0, &["note: starting a new journal", "outside.sh", "7 of 7 blocks"]);
    assert_eq!(sandbox.journals().len(), 2);
    run("8").expect(0, &["8 of 8 blocks"]);
    fs::write(&outside, ":\n").unwrap();
    run("8").expect(0, &["8 of 8 blocks"]);
    assert_eq!(sandbox.journals().len(), 2, "either journal is resumed by its files");
}

#[test]
fn nothing_is_traced_where_that_is_not_wanted() {
    let sandbox = small();
    let counted = |words: &[&str]| {
        let counter = Path::new("count");
        let _ = fs::remove_file(sandbox.path().join(counter));
        let words = [&["compare", "echo x >> count", "true", "--blocks", "3", "--quiet"], words].concat();
        sandbox.execute(&words).expect(0, &[]);
        fs::read_to_string(sandbox.path().join(counter)).unwrap().lines().count()
    };
    // In each block the command and its twin.
    assert_eq!(counted(&["--no-trace"]), 6);
    assert_eq!(counted(&[]), 7);
}
