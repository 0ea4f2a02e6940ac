//! `bakeoff init` with each build system, on the smallest source that it builds: what is recognised, where the program is
//! found, and that the first build is that of the plain level. Real packages are tried by tools/starter.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use std::fs;
use std::path::Path;
use std::process::Command;

const MAIN_C: &str = "#include <stdio.h>\nint main(void) { puts(\"done\"); return 0; }\n";

fn is_missing(tools: &[(&str, &str)]) -> bool {
    // A program of rustup may be there for root alone.
    let answers = |(tool, version): &&(&str, &str)| {
        Command::new(tool).arg(version).output().is_ok_and(|output| output.status.success())
    };
    let missing = tools.iter().find(|tool| !answers(tool));
    if let Some((missing, _)) = missing {
        println!("skipped: {missing} is not installed, or not for this user");
    }
    missing.is_some()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

/// A study of these files: what is printed, and how often something was built.
fn init(files: &[(&str, &str)], level: &str, run: &str, expect: &[&str], builds: usize) {
    let sandbox = Sandbox::new("");
    let folder = sandbox.path().join("prog");
    write(&folder, files);
    let shown = typed(&sandbox, &["init", "prog", "--level", level, "--run", run, "--yes"]);
    shown.expect(0, expect);
    assert_eq!(shown.err.matches("built prog in").count(), builds, "{}", shown.err);
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    assert!(study.contains("expect = \"prog.expect\""), "{study}");
    assert_eq!(fs::read_to_string(folder.join("prog.expect")).unwrap(), "done\n");
    typed(&sandbox, &["build", "prog"]).expect(0, &["baseline: in the cache"]);
}

#[test]
fn cmake_builds_in_a_folder_of_its_own() {
    if is_missing(&[("cmake", "--version"), ("make", "--version"), ("cc", "--version")]) {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.10)\nproject(prog C)\nadd_executable(prog main.c)\n";
    let files = [("CMakeLists.txt", lists), ("main.c", MAIN_C)];
    let expect = ["built by CMakeLists.txt", "the program is bakeoff-build/prog", "-O1 reached 1 of 1 call"];
    init(&files, "-O1", "./prog", &expect, 2);
}

#[test]
fn meson_builds_in_a_folder_of_its_own() {
    if is_missing(&[("meson", "--version"), ("ninja", "--version"), ("cc", "--version")]) {
        return;
    }
    let files = [("meson.build", "project('prog', 'c')\nexecutable('prog', 'main.c')\n"), ("main.c", MAIN_C)];
    let expect = ["built by meson.build", "the program is bakeoff-build/prog", "-O1 reached 1 of 1 call"];
    init(&files, "-O1", "./prog", &expect, 2);
}

#[test]
fn a_configure_script_need_not_be_executable_and_the_guess_may_be_wrong() {
    if is_missing(&[("make", "--version"), ("cc", "--version")]) {
        return;
    }
    let configure = "printf 'sub/prog: main.c\\n\\tmkdir -p sub && cc -O2 -o sub/prog main.c\\n' > Makefile\n";
    let expect = ["built by configure", "the program is sub/prog", "-O1 reached 1 of 1 call"];
    init(&[("configure", configure), ("main.c", MAIN_C)], "-O1", "./sub/prog", &expect, 2);
    // What was built is looked at, and then built once more to be installed.
    init(&[("configure", configure), ("main.c", MAIN_C)], "-O1", "./prog", &expect, 2);
}

#[test]
fn cargo_builds_with_the_toolchain_of_the_user() {
    if is_missing(&[("cargo", "--version"), ("cc", "--version")]) {
        return;
    }
    let manifest = "[package]\nname = \"prog\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let lock = "version = 3\n\n[[package]]\nname = \"prog\"\nversion = \"0.1.0\"\n";
    let main = "fn main() { println!(\"done\"); }\n";
    let files = [("Cargo.toml", manifest), ("Cargo.lock", lock), ("src/main.rs", main)];
    let said = ["built by Cargo.toml", "the program is target/release/prog"];
    let rustc = "opt-level-1: -C opt-level=1 reached 1 of 1 call to rustc and took effect in 1";
    init(&files, "-C opt-level=1", "./prog", &[said[0], said[1], rustc], 2);
    init(&files, "O1=CARGO_PROFILE_RELEASE_OPT_LEVEL=1", "./prog", &said, 2);
    // Words for C compilers find none here. What was built before is no part of the source.
    let tag = ("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    let with_target = [&files[..], &[tag, ("target/release/prog", "old")]].concat();
    let nowhere = "-O1 reached no compiler; Bakeoff saw no call to a C compiler (flags for rustc begin with -C or -Z";
    init(&with_target, "-O1", "./prog", &[nowhere], 2);
    // A level that is the project's own is left out, and then there is nothing to compare.
    let sandbox = Sandbox::new("");
    write(&sandbox.path().join("prog"), &files);
    typed(&sandbox, &["init", "prog", "--level", "-C opt-level=3", "--run", "./prog"]).expect(
        2,
        &[
            "Omitted: opt-level-3, because the project already builds that",
            "no level differs from the project's own flags",
        ],
    );
}

#[test]
fn go_builds_in_a_folder_of_its_own() {
    if is_missing(&[("go", "version")]) {
        return;
    }
    let files = [
        ("go.mod", "module prog\n\ngo 1.18\n"),
        ("main.go", "package main\n\nfunc main() { print2() }\n"),
        ("print.go", "package main\n\nimport \"fmt\"\n\nfunc print2() { fmt.Println(\"done\") }\n"),
    ];
    let expect = ["built by go.mod", "the program is bakeoff-build/prog"];
    init(&files, "plain=GOFLAGS=-gcflags=all=-l", "./prog", &expect, 2);
}

#[test]
fn the_benchmarks_of_a_go_module_are_timed_by_their_harness() {
    if is_missing(&[("go", "version")]) {
        return;
    }
    let sandbox = Sandbox::new("");
    let benchmark = "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc BenchmarkRead(b *testing.B) {\n\t\
                     if _, err := os.ReadFile(\"input\"); err != nil {\n\t\tb.Fatal(err)\n\t}\n}\n";
    let files = [
        ("go.mod", "module prog\n\ngo 1.18\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
        ("a/a.go", "package a\n"),
        ("a/a_test.go", benchmark),
        ("a/input", "what a benchmark reads lies next to it"),
    ];
    write(&sandbox.path().join("prog"), &files);
    typed(&sandbox, &["init", "prog", "--level", "v2=GOAMD64=v2"]).expect(
        0,
        &["the workload is the go benchmark suite in a (choose another with --run COMMAND)", "next: bakeoff run prog"],
    );
    let study = fs::read_to_string(sandbox.path().join("prog/study.toml")).unwrap();
    for part in ["harness = \"go\"", "(cd \"./a\" && go test -c -o bakeoff.test .)", "[workloads.benchmark]"] {
        assert!(study.contains(part), "{part} is missing in\n{study}");
    }
    typed(&sandbox, &["run", "prog", "--blocks", "6", "--quiet"]).expect(0, &["sec/op", "v2"]);
}

#[test]
fn a_library_gets_a_program_that_uses_it() {
    if is_missing(&[("make", "--version"), ("cc", "--version"), ("ar", "--version")]) {
        return;
    }
    let sandbox = Sandbox::new("");
    let makefile = "libsum.a: sum.o\n\tar rcs $@ sum.o\ninstall: libsum.a\n\tmkdir -p $(PREFIX)/lib $(PREFIX)/include\n\t\
                    cp libsum.a $(PREFIX)/lib\n\tcp include/sum.h $(PREFIX)/include\n";
    let files = [
        ("Makefile", makefile),
        ("include/sum.h", "long sum(long n);\n"),
        ("sum.c", "long sum(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"),
    ];
    write(&sandbox.path().join("source/sum"), &files);
    let mut tar = Command::new("tar");
    tar.args(["-czf", "sum-1.0.tar.gz", "-C", "source", "sum"]).current_dir(sandbox.path());
    assert!(tar.status().unwrap().success());
    // An archive gets a new folder, called like it. The skeleton builds, runs, and is the user's to go on with.
    typed(&sandbox, &["init", "sum-1.0.tar.gz", "--level", "-O1", "--yes"])
        .expect(0, &["the source is a library", "wrote the skeleton sum/driver.c", "next: bakeoff run sum"]);
    let study = fs::read_to_string(sandbox.path().join("sum/study.toml")).unwrap();
    for part in ["files = [\"driver.c\"]", "-lsum", "[workloads.stub]", "driver.c is a skeleton", "path = \""] {
        assert!(study.contains(part), "{part} is missing in\n{study}");
    }
    assert!(!study.contains("expect ="), "{study}");
    // One that is there is taken.
    fs::remove_file(sandbox.path().join("sum/study.toml")).unwrap();
    let driver =
        "#include <stdio.h>\n#include <sum.h>\nint main(void) { printf(\"%ld\\n\", sum(1000000)); return 0; }\n";
    fs::write(sandbox.path().join("sum/driver.c"), driver).unwrap();
    typed(&sandbox, &["init", "sum-1.0.tar.gz", "--level", "-O1", "--run", "./driver", "--yes"])
        .expect(0, &["the program that uses the library: driver.c"]);
    assert_eq!(fs::read_to_string(sandbox.path().join("sum/driver.expect")).unwrap(), "499999500000\n");
    typed(&sandbox, &["run", "sum", "--blocks", "6", "--quiet"]).expect(0, &["O1", "baseline"]);
}

#[test]
fn what_would_not_be_a_name_is_never_executed() {
    let sandbox = Sandbox::new("");
    for (source, expect) in [
        ("debian:x;true", "not a valid Debian package name"),
        ("debian:", "not a valid Debian package name"),
        ("crate:x y", "not a valid crate name"),
        ("crate:x@$(true)", "not a valid version"),
        ("crate:-x", "not a valid crate name"),
        ("go:example.org//x", "not a valid part of a Go module path"),
        ("go:example.org/x@", "not a valid version"),
    ] {
        typed(&sandbox, &["init", source]).expect(2, &[expect]);
    }
}
