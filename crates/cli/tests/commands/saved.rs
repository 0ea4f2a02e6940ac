//! `compare --save` and `--against`: what is still the same races again, of the rest only the numbers are there, and names.

use crate::common::processes::alive_in;
use crate::common::{Sandbox, Shown};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A sandbox with two programs, of which the second one takes much longer.
struct Place(Sandbox);

impl Place {
    fn new() -> Self {
        let place = Self(Sandbox::new(""));
        place.program("old", "exec sleep 0.002");
        place.program("new", "exec sleep 0.05");
        place
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn typed(&self, words: &[&str]) -> Shown {
        self.typed_in(self.0.path(), words)
    }

    fn typed_in(&self, folder: &Path, words: &[&str]) -> Shown {
        let mut command = self.0.command_as_typed(words);
        Shown::of(&command.current_dir(folder).output().unwrap())
    }

    fn save(&self, name: &str, commands: &[&str]) -> Shown {
        self.typed(&[&["compare"], commands, &["--save", name, "--blocks", "6"]].concat())
    }

    fn against(&self, name: &str, more: &[&str]) -> Shown {
        self.typed(&[&["compare", "./new", "--against", name, "--blocks", "6"], more].concat())
    }
}

const NOT_PAIRED: &str = "not paired with today's trials, so there is no verdict";

#[test]
fn what_is_the_same_by_its_digests_races_again() {
    let place = Place::new();
    place.save("day", &["./old"]).expect(0, &["saved as day; use --against day to compare with it"]);
    let shown = place.against("day", &["--require-verdict"]);
    shown.expect(0, &["saved day runs again", "saved day is faster: ./new "]);
    assert!(!shown.out.contains(NOT_PAIRED), "{}", shown.out);
    // The short form too, and another baseline.
    let words = ["./new", "true", "--against", "day", "--blocks", "6", "--baseline", "./new", "-q"];
    let shown = place.typed(&words);
    shown.expect(0, &["saved day", "as fast"]);
    assert!(shown.err.is_empty(), "{}", shown.err);
    let findings: Value = serde_json::from_str(&place.typed(&[&words[..], &["--json"]].concat()).out).unwrap();
    let names: Vec<&str> =
        findings["variants"].as_array().unwrap().iter().filter_map(|variant| variant["name"].as_str()).collect();
    assert_eq!(names, ["./new", "true", "saved day"]);
    // Of several commands each has its name; and those that raced again are not saved a second time.
    place.save("both", &["./old", "./new"]).expect(0, &["saved as both"]);
    place
        .typed(&["compare", "true", "--against", "both", "--save", "third", "--blocks", "6"])
        .expect(0, &["saved both: ./old runs again", "saved both: ./new runs again"]);
    let shown = place.against("third", &[]);
    shown.expect(0, &["saved third runs again"]);
    assert!(!shown.out.contains("both"), "{}", shown.out);
}

#[test]
fn what_is_another_one_has_numbers_and_no_verdict() {
    let place = Place::new();
    place.save("day", &["./old"]).expect(0, &[]);
    place.program("old", "exec sleep 0.003");
    let parts = ["saved as day on 20", NOT_PAIRED, "that day", "today", "./old: ", "/old has changed since then"];
    let shown = place.against("day", &[]);
    shown.expect(0, &parts);
    // Under load, the baseline's twin may come out faster.
    let is_verdict = |line: &str| line.starts_with("./") && line.contains("faster");
    assert!(!shown.out.lines().any(is_verdict) && !shown.err.contains("runs again"), "{shown:?}");
    place.against("day", &["--all"]).expect(0, &parts);
    place.against("day", &["--require-verdict"]).expect(3, &parts);
    let findings: Value = serde_json::from_str(&place.against("day", &["--json"]).out).unwrap();
    let rows = findings["saved"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (row, day, other) in [(&rows[0], "that_day", "today"), (&rows[1], "today", "that_day")] {
        assert!(row[day]["median"].as_f64().unwrap() > 0.0 && row[other].is_null(), "{row}");
    }
    // A baseline that is gone, and the rest that races.
    place.save("both", &["./old", "./new"]).expect(0, &[]);
    fs::remove_file(place.0.path().join("old")).unwrap();
    place.against("both", &[]).expect(0, &["saved both: ./new runs again", "./old: `./old` does not exist"]);
}

#[test]
fn what_cannot_be_known_to_be_the_same_does_not_race_again() {
    let place = Place::new();
    let check = |name: &str, words: &[&str], folder: &Path, part: &str| {
        place.save(name, words).expect(0, &[]);
        let words = ["compare", "true", "--against", name, "--blocks", "2"];
        place.typed_in(folder, &words).expect(0, &[NOT_PAIRED, part]);
    };
    let here = place.0.path();
    check("folder", &["./old"], &place.0.study(), "ran in another folder");
    check("shell", &["./old", "--shell", "sh -e"], here, "ran in another shell");
    check("words", &["P=./old; $P"], here, "the command does not show which files it runs");
    let around = ["./old", "true", "--prepare", "true", "--prepare", "echo"];
    check("around", &around, here, "had commands before or after the trials that the others lacked");
    fs::write(here.join("data"), "1").unwrap();
    place.save("data", &["cat data"]).expect(0, &[]);
    fs::write(here.join("data"), "2").unwrap();
    place.against("data", &[]).expect(0, &["cat data: data has changed since then"]);
    fs::remove_file(here.join("data")).unwrap();
    place.against("data", &[]).expect(0, &["cat data: data no longer exists"]);
}

#[test]
fn a_library_is_a_part_of_the_program() {
    let place = Place::new();
    let here = place.0.path();
    let library = |value: u32| {
        fs::write(here.join("x.c"), format!("int x(void) {{ volatile int y = {value}; return y - y; }}\n")).unwrap();
        fs::write(here.join("main.c"), "int x(void);\nint main(void) { return x(); }\n").unwrap();
        let script = "cc -O0 -shared -fPIC -o new.so x.c && mv new.so libx.so && \
                      { test -e prog || cc -o prog main.c -L. -lx -Wl,-rpath,\"$PWD\"; }";
        assert!(Command::new("sh").args(["-ec", script]).current_dir(here).status().unwrap().success());
    };
    library(1);
    place.save("day", &["./prog"]).expect(0, &[]);
    place.against("day", &[]).expect(0, &["saved day runs again"]);
    library(2);
    place.against("day", &[]).expect(0, &["./prog: ", "/libx.so has changed since then"]);
}

#[test]
fn names_are_checked_before_anything_is_executed() {
    let place = Place::new();
    place.program("once", "echo x >> log");
    let log = || fs::read_to_string(place.0.path().join("log")).unwrap_or_default();
    place
        .typed(&["compare", "./once", "--against", "day"])
        .expect(2, &["there is no saved comparison `day`", "compare --save"]);
    place.typed(&["saved"]).expect(0, &["no comparisons are saved; use `compare --save NAME` to save one"]);
    for name in ["", ".", "../day", "a/b", "a\nb"] {
        place.typed(&["compare", "./once", "--save", name]).expect(2, &["cannot be the name", "no `/`"]);
        place.typed(&["compare", "./once", "--against", name]).expect(2, &["there is no saved comparison"]);
    }
    place.save("tuesday", &["./old"]).expect(0, &[]);
    place.save("main", &["./old"]).expect(0, &[]);
    place.typed(&["compare", "./once", "--save", "main"]).expect(2, &["already saved as `main`", "--replace"]);
    place.typed(&["compare", "./once", "--against", "tusday"]).expect(2, &["did you mean `tuesday`?"]);
    place.typed(&["compare", "./once", "--against", "x"]).expect(2, &["there are: main, tuesday"]);
    place.typed(&["compare", "./once", "--replace"]).expect(2, &["--save"]);
    place.typed(&["compare", "-n", "saved x", "./once"]).expect(2, &["the name `saved x` is reserved"]);
    place.typed(&["compare", "./once", "--save", "x", "--git", "a"]).expect(2, &["cannot be used with"]);
    assert_eq!(log(), "", "nothing was executed");
    // It cannot be written: not found out at the end.
    let mut command = place.0.command_as_typed(&["compare", "./once", "--save", "x"]);
    let shown = Shown::of(&command.env("BAKEOFF_STATE", place.0.path().join("old")).output().unwrap());
    shown.expect(2, &["cannot use", "BAKEOFF_STATE to another folder"]);
    assert_eq!(log(), "");
}

#[test]
fn what_is_killed_midway_replaces_nothing() {
    let place = Place::new();
    place.save("day", &["./old"]).expect(0, &[]);
    let folder = place.0.path().join("state/saved");
    let before = fs::read(folder.join("day.jsonl")).unwrap();
    let begun = place.0.path().join("begun");
    let words = ["compare", "touch begun; sleep 600", "--save", "day", "--replace"];
    let mut command = place.0.command_as_typed(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !begun.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(begun.exists() && fs::read(folder.join("day.jsonl")).unwrap() == before);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing else is there");
    // Its launcher kills what it started, and then the sandbox may go.
    while !alive_in(place.0.path()).is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn saved_comparisons_are_listed_replaced_and_removed() {
    let place = Place::new();
    place.save("day", &["./old"]).expect(0, &[]);
    place.typed(&["saved"]).expect(0, &["day: 20", "UTC, 6 blocks, ./old", "/state/saved"]);
    place.save("day", &["./new", "--replace"]).expect(0, &["saved as day"]);
    place.typed(&["saved"]).expect(0, &["6 blocks, ./new"]);
    // What ends before its last block replaces nothing.
    place.save("day", &["./nowhere", "--replace"]).expect(2, &["`./nowhere` does not exist"]);
    let journal = place.0.path().join("state/saved/day.jsonl");
    place.typed(&["report", journal.to_str().unwrap()]).expect(0, &["./new"]);
    place.typed(&["saved", "--remove", "dya"]).expect(2, &["did you mean `day`?"]);
    place.typed(&["saved", "--remove", "day"]).expect(0, &[]);
    place.typed(&["saved"]).expect(0, &["no comparisons are saved"]);
    assert_eq!(fs::read_dir(journal.parent().unwrap()).unwrap().count(), 0);
}

/// What was not written to a file can be asked about afterwards, without measuring again.
#[test]
fn the_last_comparison_is_reported_again() {
    let place = Place::new();
    place
        .typed(&["report", "--last"])
        .expect(2, &["no last comparison", "hint: run `bakeoff compare`; it keeps its trials there"]);
    place
        .typed(&["compare", "./old", "true", "--blocks", "6"])
        .expect(0, &["which is faster?", "more: bakeoff report --last --all"]);
    place
        .typed(&["compare", "./new", "true", "--blocks", "6", "--journal", "j"])
        .expect(0, &["more: bakeoff report j --all"]);
    let shown = place.typed(&["report", "--last", "--export-csv", "trials.csv"]);
    shown.expect(0, &["./old or true: which is faster?", "more: bakeoff report --last --all"]);
    assert!(fs::read_to_string(place.0.path().join("trials.csv")).unwrap().contains("./old"));
    place.typed(&["report", "--last", "j"]).expect(2, &["cannot be used with"]);
    // Where nothing can be kept, nothing is lost but this.
    let mut command = place.0.command_as_typed(&["compare", "./old", "true", "--blocks", "6"]);
    let shown = Shown::of(&command.env("BAKEOFF_STATE", "/dev/null/x").output().unwrap());
    shown.expect(0, &["which is faster?", "more: bakeoff compare … --all"]);
}
