//! What a user sees of `bakeoff init` while it works, and what becomes of a study that is there: its steps, Ctrl-C, and the
//! questions of a second `init`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::processes::alive_in;
use crate::common::terminal::{self, Terminal, drawn};
use crate::common::{Sandbox, Shown, is_missing};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SUM_C: &str = "#include <stdio.h>\nint main(void) { puts(\"sum\"); return 0; }\n";
const MAKEFILE: &str = "CFLAGS ?= -O2\nsum: sum.o\n\t$(CC) -o $@ sum.o\n";
const INIT: [&str; 6] = ["init", "sum", "--level", "-O0", "--run", "./sum"];

/// A project of one program.
fn project(makefile: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new("");
    let folder = sandbox.path().join("sum");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("sum.c"), SUM_C).unwrap();
    fs::write(folder.join("Makefile"), makefile).unwrap();
    (sandbox, folder)
}

fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

/// The lines that name a step.
fn steps(shown: &str) -> Vec<&str> {
    shown.lines().filter(|line| line.starts_with("step ")).collect()
}

#[test]
fn each_step_is_announced_once_on_standard_error() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project(MAKEFILE);
    let shown = typed(&sandbox, &INIT);
    shown.expect(0, &["next: bakeoff run sum"]);
    let expect = [
        "step 1 of 3: building the plain program",
        "step 2 of 3: building one level, flags=O0",
        "step 3 of 3: running the workload, at least twice",
    ];
    assert_eq!(steps(&shown.err), expect);
    assert!(steps(&shown.out).is_empty(), "{}", shown.out);
    // What is in the cache is not built, and the line says so.
    fs::remove_file(folder.join("study.toml")).unwrap();
    let again = typed(&sandbox, &INIT);
    assert_eq!(steps(&again.err)[1], "step 2 of 3: building one level, flags=O0: in the cache");
}

#[test]
fn a_workload_that_is_not_named_is_a_step_of_its_own() {
    if is_missing(&["make", "cc", "timeout"]) {
        return;
    }
    let check = |makefile: &str, expect: &str| {
        let (sandbox, _) = project(makefile);
        let shown = typed(&sandbox, &["init", "sum", "--level", "-O0"]);
        shown.expect(0, &[expect]);
        let steps = steps(&shown.err);
        assert_eq!((steps.len(), steps[1]), (4, "step 2 of 4: choosing a workload"), "{}", shown.err);
    };
    check(MAKEFILE, "assumed: the workload only starts sum");
    check(
        &format!("{MAKEFILE}check: sum\n\t./sum\n"),
        "trying the test command `make check`: building it and running it twice",
    );
    let library = "libsum.a: sum.o\n\tar rcs $@ sum.o\ninstall: libsum.a\n\tmkdir -p $(PREFIX)/lib $(PREFIX)/include\n\t\
                   cp libsum.a $(PREFIX)/lib\n\ttouch $(PREFIX)/include/sum.h\n";
    check(library, "wrote the skeleton sum/driver.c");
}

#[test]
fn no_line_of_progress_is_wider_than_the_terminal() {
    if is_missing(&["make", "cc"]) || terminal::is_missing() {
        return;
    }
    let (sandbox, _) = project(MAKEFILE);
    let shown = Terminal::of(&sandbox.command_as_typed(&INIT), 30).ended();
    shown.expect(0, &["next: bakeoff run sum"]);
    let lines = drawn(&shown);
    let steps: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("step ")).collect();
    let expect = ["step 1 of 3: building the pl…", "step 2 of 3: building one le…", "step 3 of 3: running the wor…"];
    assert_eq!(steps, expect);
}

/// What waits for this file, and reports that it does by a named pipe, whose opening waits for the other side.
fn wait(meeting: &Path, file: &str) -> String {
    let place = meeting.display();
    format!("test -e {place}/{file} || {{ echo > {place}/begun; sleep 1000; }}")
}

/// A project whose compilation waits for a file named after its `CFLAGS`.
fn held_up() -> (Sandbox, PathBuf, tempfile::TempDir) {
    // Scripts may write here.
    let meeting = tempfile::tempdir_in("/dev/shm").unwrap();
    let wait = wait(meeting.path(), "go$(CFLAGS)");
    let (sandbox, folder) = project(&format!("{MAKEFILE}sum.o: sum.c\n\t{wait}\n\t$(CC) $(CFLAGS) -c sum.c\n"));
    assert!(Command::new("mkfifo").arg(meeting.path().join("begun")).status().unwrap().success());
    (sandbox, folder, meeting)
}

/// The command, whose workload waits, too.
fn command(sandbox: &Sandbox, meeting: &Path) -> Command {
    let run = format!("{}; ./sum", wait(meeting, "go"));
    sandbox.command_as_typed(&["init", "sum", "--level", "O0=CFLAGS=-O0", "--run", &run])
}

/// Presses Ctrl-C as soon as something waits.
fn interrupted(sandbox: &Sandbox, meeting: &Path, typed: &str) -> Shown {
    let terminal = Terminal::of(&command(sandbox, meeting), 80).type_in(typed);
    fs::read(meeting.join("begun")).unwrap();
    let shown = terminal.interrupted();
    shown.expect(130, &["hint: finished builds are kept; run the same command again to resume"]);
    assert!(alive_in(sandbox.path()).is_empty(), "{:#?}", alive_in(sandbox.path()));
    shown
}

#[test]
fn after_ctrl_c_the_same_command_goes_on_with_what_was_built() {
    if is_missing(&["make", "cc"]) || terminal::is_missing() {
        return;
    }
    let (sandbox, folder, meeting) = held_up();
    let study = folder.join("study.toml");
    // While the plain program is built, while the level is, and while the workload runs.
    for (go, built) in [("go-O2", 0), ("go-O0", 1), ("go", 1)] {
        let shown = interrupted(&sandbox, meeting.path(), "");
        assert_eq!((shown.out.matches("built sum in").count(), study.exists()), (built, false), "{}", shown.out);
        fs::write(meeting.path().join(go), "").unwrap();
    }
    let shown = Shown::of(&command(&sandbox, meeting.path()).output().unwrap());
    shown.expect(0, &["O0: in the cache", "next: bakeoff run sum"]);
    assert!(study.exists() && !shown.err.contains("built sum in"), "{}", shown.err);
}

#[test]
fn after_ctrl_c_a_study_that_was_to_be_written_again_is_as_it_was() {
    if is_missing(&["make", "cc"]) || terminal::is_missing() {
        return;
    }
    let (sandbox, folder, meeting) = held_up();
    let is_there = |name: &str| folder.join(name).exists();
    fs::write(folder.join("study.toml"), "# mine\n").unwrap();
    for go in ["go-O2", "go-O0", "go"] {
        interrupted(&sandbox, meeting.path(), "3\n");
        assert_eq!(fs::read_to_string(folder.join("study.toml")).unwrap(), "# mine\n", "before {go}");
        assert!(!is_there("study.toml.old"), "before {go}");
        fs::write(meeting.path().join(go), "").unwrap();
    }
    let mut asked = Terminal::of(&command(&sandbox, meeting.path()), 80);
    asked.shows("number [1]: ");
    asked.interrupted().expect(130, &["interrupted"]);
    assert!(is_there("study.toml") && !is_there("study.toml.old"));
    let again = Terminal::of(&command(&sandbox, meeting.path()), 80).type_in("3\n").ended();
    again.expect(0, &["O0: in the cache", "next: bakeoff run sum"]);
    assert!(is_there("study.toml.old"));
}

#[test]
fn a_second_init_leaves_the_study_adds_a_level_or_writes_it_again() {
    if is_missing(&["make", "cc"]) || terminal::is_missing() {
        return;
    }
    let (sandbox, folder) = project(MAKEFILE);
    let study = || fs::read_to_string(folder.join("study.toml")).unwrap();
    typed(&sandbox, &INIT).expect(0, &[]);
    let first = study();
    let again = |words: &[&str], typed: &str, expect: &[&str]| {
        let shown = Terminal::of(&sandbox.command_as_typed(words), 80).type_in(typed).ended();
        let question = "1 leave it unchanged 2 add a level to it 3 replace it (the old one is kept as study.toml.old)";
        shown.expect(0, &[&["a study already exists: ", question, "number [1]:"], expect].concat());
    };
    // What is no number of an answer is asked again, and no answer is the first.
    again(&["init", "sum"], "4\nall\n\n", &["number [1]: number [1]: number [1]:"]);
    assert_eq!(study(), first);
    again(&["init", "sum"], "2\nO1=-O1\n", &["Level, such as lto=-O3 -flto=auto: ", "added to flags: O1"]);
    let added = study();
    assert!(added.contains("O1 = { append = \"-O1\" }") && added.contains("O0 ="), "{added}");
    again(&["init", "sum", "--level", "-O3"], "2\n", &["added to flags: O3"]);
    let added = study();
    again(&["init", "sum", "--level", "-Os", "--run", "./sum"], "3\n", &["step 1 of 3: ", "Os: -Os reached"]);
    let new = study();
    assert!(new.contains("Os = { append = \"-Os\" }") && !new.contains("O1 ="), "{new}");
    assert_eq!(fs::read_to_string(folder.join("study.toml.old")).unwrap(), added);
    // What the old one expected is no part of the source, as it is none once the new one is written.
    typed(&sandbox, &["build", "sum"]).expect(0, &["baseline: in the cache", "Os: in the cache"]);
}

#[test]
fn a_study_that_cannot_be_written_again_stays() {
    if is_missing(&["make", "cc"]) || terminal::is_missing() {
        return;
    }
    let (sandbox, folder) = project("sum:\n\texit 3\n");
    fs::write(folder.join("study.toml"), "# mine\n").unwrap();
    let shown = Terminal::of(&sandbox.command_as_typed(&INIT), 80).type_in("3\n").ended();
    shown.expect(4, &["cannot build the source"]);
    assert_eq!(fs::read_to_string(folder.join("study.toml")).unwrap(), "# mine\n");
}
