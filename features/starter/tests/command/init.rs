//! `bakeoff init` as a user types it: from a small project with a Makefile to a verdict.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, is_missing};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const SUM_C: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **v) {\n  volatile unsigned x = 0;\n  \
                     for (long i = 0; i < atol(v[1]); i++) x += i * n;\n  printf(\"%u\\n\", x);\n  return 0;\n}\n";
const MAKEFILE: &str = "CFLAGS ?= -O2\nall: sum mktab\nsum: sum.o\n\t$(CC) -o $@ sum.o\nmktab: mktab.o\n\t$(CC) -o $@ mktab.o\n\
                        clean:\n\trm -f *.o sum mktab\n";

/// A project with one program and a helper of its build.
fn project() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new("");
    let folder = sandbox.path().join("sum");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("sum.c"), SUM_C).unwrap();
    fs::write(folder.join("mktab.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(folder.join("Makefile"), MAKEFILE).unwrap();
    (sandbox, folder)
}

fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

const LEVEL: &str = "O0=CFLAGS=-O0";

#[test]
fn two_commands_lead_from_a_folder_to_a_verdict() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    let init = typed(&sandbox, &["init", "sum", "--level", LEVEL, "--run", "./sum 20000000"]);
    init.expect(
        0,
        &[
            "sum: built by Makefile",
            "2 compilations, all with -O2; the program is sum.",
            "O0: -O0 reached 2 of 2 calls and took effect in 2",
            "next: bakeoff run sum",
        ],
    );
    assert_eq!(fs::read_to_string(folder.join("sum.expect")).unwrap().lines().count(), 1);
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    for part in
        ["O0 = { CFLAGS = \"-O0\" }", "run = '\"$PREFIX/bin/sum\" 20000000'", "expect = \"sum.expect\"", "path = \".\""]
    {
        assert!(study.contains(part), "{part} is missing in\n{study}");
    }
    // Both were built, and neither the study nor what it expects is part of what they were built of.
    typed(&sandbox, &["build", "sum"]).expect(0, &["baseline: in the cache", "O0: in the cache"]);
    typed(&sandbox, &["run", "sum", "--blocks", "6", "--quiet"]).expect(0, &["O0", "baseline"]);
    typed(&sandbox, &["init", "sum", "--level", LEVEL]).expect(2, &["a study already exists", "--add-level"]);
}

#[test]
fn a_level_may_be_trained_by_a_command_or_by_the_workload() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    typed(&sandbox, &["init", "sum", "--level", "pgo=profile"])
        .expect(2, &["is trained on the workload, but there is no workload", "--run"]);
    let level = "pgo=-O3 profile:./sum 1000";
    let init = typed(&sandbox, &["init", "sum", "--level", level, "--run", "./sum 2000"]);
    init.expect(0, &["pgo: 1 of 2 compilations used a profile", "pgo: -O3 reached 2 of 2 calls"]);
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    let line = "pgo = { append = \"-O3\", profile = '\"$PREFIX/bin/sum\" 1000' }";
    assert!(study.contains(line), "{study}");
    let new = "by=profile:\"$PREFIX/bin/sum\" 2000";
    typed(&sandbox, &["init", "sum", "--add-level", new])
        .expect(0, &["added to flags: by", "`files` of the [[build]]"]);
    typed(&sandbox, &["init", "sum", "--add-level", "x=profile"]).expect(2, &["needs a training command"]);
    typed(&sandbox, &["build", "sum"]).expect(0, &["1 of 2 compilations used a profile"]);
}

#[test]
fn a_level_may_be_made_by_bolt_and_is_listed_where_that_is_installed() {
    if is_missing(&["make", "cc", "llvm-bolt-22"]) {
        return;
    }
    let (sandbox, folder) = project();
    typed(&sandbox, &["init", "sum", "--level", "bolt"])
        .expect(2, &["is trained on the workload, but there is no workload", "bolt=bolt:./prog"]);
    let init = typed(&sandbox, &["init", "sum", "--level", "-O3", "--run", "./sum 2000"]);
    init.expect(0, &["O3: -O3 reached 2 of 2 calls"]);
    let listed = "# bolt = { bolt = '\"$PREFIX/bin/sum\" 2000' }   # ";
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    assert!(study.contains(listed), "{study}");
    typed(&sandbox, &["init", "sum", "--add-level", "b=bolt:\"$PREFIX/bin/sum\" 2000"])
        .expect(0, &["added to flags: b"]);
    fs::remove_file(folder.join("study.toml")).unwrap();
    let init = typed(&sandbox, &["init", "sum", "--level", "-O3 bolt", "--run", "./sum 2000"]);
    init.expect(0, &["O3-bolt: llvm-bolt-22 rewrote 1 of 1 file", "O3-bolt: -O3 reached 2 of 2 calls"]);
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    assert!(study.contains(&listed["# bolt = { ".len()..]) && !study.contains("# bolt = {"), "{study}");
}

#[test]
fn what_was_built_before_is_built_again_by_every_level() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    assert!(Command::new("make").args(["-s", "CFLAGS=-O1"]).current_dir(&folder).status().unwrap().success());
    fs::write(folder.join("sum.c"), SUM_C.replace("%u", "= %u")).unwrap();
    let init = typed(&sandbox, &["init", "sum", "--yes", "--level", "-O3", "--run", "./sum 1000"]);
    init.expect(
        0,
        &[
            "note: source sum contains files from an earlier build: Bakeoff leaves mktab, mktab.o, sum, sum.o out of its \
             copy, so they are compiled again",
            "2 compilations, all with -O2",
            "O3: -O3 reached 2 of 2 calls and took effect in 2",
        ],
    );
    assert!(!fs::read_to_string(folder.join("study.toml")).unwrap().contains("make clean"));
    assert!(fs::read_to_string(folder.join("sum.expect")).unwrap().starts_with("= "));
    // What a build leaves in the folder is no other source.
    fs::remove_file(folder.join("sum")).unwrap();
    typed(&sandbox, &["build", "sum"]).expect(0, &["baseline: in the cache", "O3: in the cache"]);
}

#[test]
fn a_level_that_reaches_only_a_part_of_the_program_is_not_proven() {
    if is_missing(&["make", "cc", "git"]) {
        return;
    }
    let (sandbox, folder) = project();
    let script = "cc -O1 -c -o part.o -x c - && git init -q . && git add .";
    let part = Command::new("sh").args(["-c", script]).current_dir(&folder).stdin(std::process::Stdio::piped()).spawn();
    let mut part = part.unwrap();
    std::io::Write::write_all(&mut part.stdin.take().unwrap(), b"int part(void) { return 1; }\n").unwrap();
    assert!(part.wait().unwrap().success());
    fs::write(
        folder.join("Makefile"),
        MAKEFILE.replace("sum.o\n\t$(CC) -o $@ sum.o", "sum.o\n\t$(CC) -o $@ sum.o part.o"),
    )
    .unwrap();
    typed(&sandbox, &["init", "sum", "--yes", "--level", "-O0", "--run", "./sum 1000"]).expect(
        0,
        &[
            "O0: -O0 reached 2 of 2 calls and took effect in 2; not proven, because 1 part of the program was not \
                compiled",
            "not proven: -O0 (from append, for flags=O0) took effect in 2 of 2 compilations and links in layer sum; \
             part.o was not compiled by this build, because the source already contained it",
        ],
    );
    typed(&sandbox, &["run", "sum", "--blocks", "6", "--quiet"])
        .expect(0, &["may lack effect, because part.o was not compiled by the build"]);
}

/// As Debian's Lua has it: only debian/rules knows what its Makefile needs.
#[test]
fn a_makefile_that_compiles_nothing_gives_way_to_debian_rules() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    fs::write(folder.join("Makefile"), "sum: sum.c\n\tTOOL=$(TOOL) $(TOOL) true $(CC) -O2 -o $@ sum.c\n").unwrap();
    fs::create_dir(folder.join("debian")).unwrap();
    fs::write(folder.join("debian/rules"), "build:\n\tcc -O2 -o sum sum.c\n").unwrap();
    let words = ["init", "sum", "--level", "-O0", "--run", "./sum 2000"];
    typed(&sandbox, &words).expect(
        0,
        &[
            "sum: built by Makefile (not used: debian/rules)",
            "Makefile compiled nothing; trying debian/rules",
            "1 compilation, all with -O2; the program is sum.",
        ],
    );
    fs::remove_file(folder.join("study.toml")).unwrap();
    let named = |file: &'static str| [&words[..], &["--build-system", file]].concat();
    typed(&sandbox, &named("debian/rules")).expect(0, &["sum: built by debian/rules The plain build took"]);
    fs::remove_file(folder.join("study.toml")).unwrap();
    typed(&sandbox, &named("meson.build")).expect(
        2,
        &["`meson.build` is not the file of a recognised build system", "available: Makefile, debian/rules"],
    );
}

#[test]
fn a_workload_that_fails_is_said_and_the_study_stays() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    let init = typed(&sandbox, &["init", "sum", "--level", LEVEL, "--run", "./sum 10 && exit 3"]);
    init.expect(4, &["fails: it exited with 3", "correct `run` in sum/study.toml"]);
    assert!(folder.join("study.toml").exists());
}

#[test]
fn a_level_is_added_to_a_study_of_ones_own() {
    let sandbox = crate::common::small();
    let before = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    typed(&sandbox, &["init", "study", "--add-level", "thrice=LINES=echo hello; true; true"])
        .expect(0, &["added to echo: thrice", "next: bakeoff run study"]);
    let after = fs::read_to_string(sandbox.study().join("study.toml")).unwrap();
    let new: Vec<&str> = after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
    assert_eq!(new, ["thrice = { LINES = \"echo hello; true; true\" }"]);
    typed(&sandbox, &["init", "study", "--add-level", "wrong=OTHER=x"])
        .expect(2, &["OTHER", "the change to study.toml was undone"]);
    assert_eq!(fs::read_to_string(sandbox.study().join("study.toml")).unwrap(), after);
}

#[test]
fn what_cannot_be_a_study_is_said_with_a_remedy() {
    let (sandbox, folder) = project();
    typed(&sandbox, &["init", "nowhere"]).expect(2, &["no file or folder `nowhere`", "debian:lua5.4"]);
    fs::remove_file(folder.join("Makefile")).unwrap();
    typed(&sandbox, &["init", "sum"]).expect(2, &["no known build system in", "bakeoff help study-file"]);
    typed(&sandbox, &["init", "sum", "--level", "x="]).expect(2, &["changes nothing", "lto=-O3 -flto=auto"]);
}

/// A project with tests and a benchmark of its own: programs that are linked only when they are run.
fn with_targets(test: &str) -> (Sandbox, PathBuf) {
    let (sandbox, folder) = project();
    let targets = format!("check: sum t\n\t{test}\nt: t.o\n\t$(CC) -o $@ t.o\n");
    fs::write(folder.join("t.c"), "int main(void) { return 0; }\n").unwrap();
    fs::write(folder.join("Makefile"), format!("{MAKEFILE}{targets}")).unwrap();
    (sandbox, folder)
}

#[test]
fn the_tests_of_a_project_are_its_workload_if_nothing_else_is_said() {
    if is_missing(&["make", "cc", "timeout"]) {
        return;
    }
    // They leave a file, and print what differs from one program to the other.
    let (sandbox, folder) = with_targets("./t && ./sum 1000 > log && cksum sum");
    typed(&sandbox, &["init", "sum", "--level", LEVEL]).expect(
        0,
        &[
            "trying the test command `make check`",
            "the workload is the test command `make check` (choose another with --run COMMAND)",
            "O0: -O0 reached 3 of 3 calls and took effect in 3",
            "next: bakeoff run sum",
        ],
    );
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    for part in ["[workloads.tests]", "prepare = 'cp -a \"$PREFIX/tree\" \"$TMPDIR\"'", "output = \"varies\""] {
        assert!(study.contains(part), "{part} is missing in\n{study}");
    }
    typed(&sandbox, &["build", "sum"]).expect(0, &["baseline: in the cache", "O0: in the cache"]);
    let shown = typed(&sandbox, &["run", "sum", "--blocks", "6", "--quiet"]);
    shown.expect(0, &["O0", "baseline"]);
    assert!(!shown.out.contains("failed"), "{}", shown.out);
    // A profile may be trained by them.
    fs::remove_file(folder.join("study.toml")).unwrap();
    typed(&sandbox, &["init", "sum", "--level", "pgo=profile"]).expect(0, &["pgo: 2 of 3 compilations used a profile"]);
}

#[test]
fn tests_that_are_no_workload_are_not_taken() {
    if is_missing(&["make", "cc", "timeout"]) {
        return;
    }
    let check = |test: &str, expect: &str| {
        let (sandbox, folder) = with_targets(test);
        let expect = ["not used: the test command `make check`", expect, "the workload only starts sum"];
        typed(&sandbox, &["init", "sum", "--level", LEVEL, "--product", "sum"]).expect(0, &expect);
        let study = fs::read_to_string(folder.join("study.toml")).unwrap();
        assert!(study.contains("[workloads.stub]") && !study.contains("$PREFIX/tree"), "{study}");
    };
    check("./sum 10; rm -f t", "calls a compiler");
    check("exit 3", "cannot run in its build folder");
}

#[test]
fn a_manual_that_cannot_be_built_does_not_stop_the_program() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    let manual = "all: manual\nmanual:\n\tno-such-tool > $@\n";
    fs::write(folder.join("Makefile"), format!("{manual}{MAKEFILE}")).unwrap();
    typed(&sandbox, &["init", "sum", "--level", LEVEL, "--run", "./sum 1000"]).expect(
        0,
        &[
            "Part of the source could not be built (",
            "no-such-tool",
            ", but the program was built.",
            "O0: -O0 reached 2 of 2 calls",
        ],
    );
    assert!(fs::read_to_string(folder.join("study.toml")).unwrap().contains("make -k -j\"$JOBS\" || true"));

    // A system that cannot build it gives way to the next; so does one that builds only another program.
    let (sandbox, folder) = project();
    fs::write(folder.join("configure"), "echo 'error: no luck' >&2\nexit 1\n").unwrap();
    typed(&sandbox, &["init", "sum", "--level", LEVEL, "--run", "./sum 1000"])
        .expect(0, &["configure could not build the source (error: no luck); trying Makefile", "the program is sum."]);
    fs::remove_file(folder.join("study.toml")).unwrap();
    let other = "printf 'all: other sum\\nother:\\n\\tcc -O2 -o other mktab.c\\nsum: none\\n' > GNUmakefile\n";
    fs::write(folder.join("configure"), other).unwrap();
    typed(&sandbox, &["init", "sum", "--level", LEVEL, "--run", "./sum 1000"])
        .expect(0, &["configure could not build all of the source (", "; trying Makefile", "the program is sum."]);
}

#[test]
fn a_benchmark_that_was_built_is_the_workload_if_it_needs_no_words() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let check = |main: &str, expect: &[&str], workload: &str| {
        let (sandbox, folder) = project();
        let makefile = format!("{MAKEFILE}all: sum-bench\nsum-bench: bench.o\n\t$(CC) -o $@ bench.o\n");
        fs::write(folder.join("Makefile"), makefile).unwrap();
        fs::write(folder.join("bench.c"), format!("#include <stdio.h>\nint main(void) {{ {main} }}\n")).unwrap();
        typed(&sandbox, &["init", "sum", "--level", LEVEL]).expect(0, expect);
        let study = fs::read_to_string(folder.join("study.toml")).unwrap();
        assert!(study.contains(workload), "{workload} is missing in\n{study}");
    };
    let taken =
        ["the workload is the benchmark sum-bench (choose another with --run COMMAND)", "next: bakeoff run sum"];
    check(
        "puts(\"1 s\"); return 0;",
        &taken,
        "[workloads.benchmark]\nrun = '\"$PREFIX/bin/sum-bench\"'\noutput = \"varies\"",
    );
    let usage = ["not used: the benchmark sum-bench only prints its usage", "the workload only starts sum"];
    check("puts(\"Usage: sum-bench N\"); return 0;", &usage, "run = '\"$PREFIX/bin/sum\" --version'");
    check(
        "return 1;",
        &["not used: the benchmark sum-bench is not a usable workload: it exited with 1"],
        "[workloads.stub]",
    );
}

#[test]
fn programs_with_names_that_shells_would_take_apart() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    for name in ["my prog", "it's", "-dash", "a\"b"] {
        let (sandbox, folder) = project();
        let shell = name.replace('\'', "'\\''");
        fs::write(folder.join("Makefile"), format!("all:\n\t$(CC) -O2 -o '{shell}' sum.c\n")).unwrap();
        let init = typed(&sandbox, &["init", "sum", "--yes", "--level", "-O1", "--run", &format!("'./{shell}' 1000")]);
        init.expect(0, &[&format!("the program is {name}."), "O1: -O1 reached 1 of 1 call"]);
        typed(&sandbox, &["run", "sum", "--blocks", "6", "--quiet"]).expect(0, &["O1"]);
    }
}

#[test]
fn a_crate_without_a_program_gets_a_skeleton() {
    if is_missing(&["cargo", "rustc"]) {
        return;
    }
    let sandbox = Sandbox::new("");
    let folder = sandbox.path().join("my-sum");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"my-sum\"\nversion = \"1.0.0\"\nedition = \"2021\"\n")
        .unwrap();
    fs::write(folder.join("Cargo.lock"), "version = 3\n\n[[package]]\nname = \"my-sum\"\nversion = \"1.0.0\"\n")
        .unwrap();
    fs::write(folder.join("src/lib.rs"), "pub fn sum(n: u64) -> u64 { (0..n).sum() }\n").unwrap();
    let level = "o1=-C opt-level=1";
    typed(&sandbox, &["init", "my-sum", "--yes", "--level", level])
        .expect(0, &["the source is a library", "wrote the skeleton my-sum/driver.rs", "-C opt-level=1 reached"]);
    assert!(fs::read_to_string(folder.join("driver.rs")).unwrap().contains("// use my_sum::…;"));
    fs::write(folder.join("driver.rs"), "fn main() { println!(\"{}\", my_sum::sum(7)); }\n").unwrap();
    typed(&sandbox, &["run", "my-sum", "--blocks", "6", "--quiet", "--anyway"]).expect(0, &["o1"]);
}

#[test]
fn the_first_error_and_the_log_are_shown() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    let noise = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do echo line $$i; done";
    fs::write(folder.join("sum.c"), "int main(void) { return absent; }\n").unwrap();
    fs::write(folder.join("Makefile"), format!("all:\n\t$(CC) -c sum.c || {{ {noise}; exit 1; }}\n")).unwrap();
    let shown = typed(&sandbox, &["init", "sum", "--yes", "--level", LEVEL]);
    shown.expect(4, &["(log: ", "the first error:", "'absent' undeclared", "full log: "]);
    assert!(!shown.err.contains("(make: ***"), "{}", shown.err);
}

#[test]
fn what_a_debian_package_is_built_with_and_this_machine_lacks_is_named() {
    if is_missing(&["make", "cc", "dpkg-checkbuilddeps"]) {
        return;
    }
    let (sandbox, folder) = project();
    fs::create_dir(folder.join("debian")).unwrap();
    let control =
        "Source: sum\nBuild-Depends: no-such-tool (>= 2), nor-this | or-this\n\nPackage: sum\nArchitecture: any\n";
    fs::write(folder.join("debian/control"), control).unwrap();
    let install = "sudo apt-get install no-such-tool nor-this";
    let words = ["init", "sum", "--yes", "--level", LEVEL, "--run", "./sum 1000"];
    typed(&sandbox, &words).expect(0, &["Missing build dependencies: no-such-tool (>= 2)", install]);
    fs::remove_file(folder.join("study.toml")).unwrap();
    fs::write(folder.join("sum.c"), "no C\n").unwrap();
    typed(&sandbox, &words).expect(4, &["hint: install the missing build dependencies", install]);
}

#[test]
fn the_plain_program_is_built_once() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    // The name of the program is neither that of the source nor typed.
    let makefile = "PROG = adder\nall: $(PROG)\n$(PROG): sum.c\n\t$(CC) -O2 -o $@ sum.c\n";
    fs::write(folder.join("Makefile"), makefile).unwrap();
    typed(&sandbox, &["init", "sum", "--yes", "--level", LEVEL]).expect(0, &["the program is adder."]);
    let built = fs::read_dir(sandbox.path().join("cache/builds")).unwrap().count();
    assert_eq!(built, 2, "the plain level and the changed one");
}

#[test]
fn a_study_has_the_locale_of_who_asked_for_it() {
    if is_missing(&["make", "cc"]) {
        return;
    }
    let (sandbox, folder) = project();
    typed(&sandbox, &["init", "sum", "--yes", "--level", LEVEL, "--run", "./sum 1000"]).expect(0, &[]);
    let study = fs::read_to_string(folder.join("study.toml")).unwrap();
    assert!(study.contains("[conditions.idle]\nlocale = \"C.UTF-8\""), "{study}");
    let again = typed(&sandbox, &["init", "sum", "--level", "-O3"]);
    again.expect(2, &["a study already exists", "`bakeoff init sum --add-level '-O3'` adds a level to it"]);
}
