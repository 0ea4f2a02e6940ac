//! Layers that are built by a profile: the real compilers of this machine, and what they say themselves.

use crate::study::{Study, layer};
use bakeoff_model::record::BuildLine;
use bakeoff_testkit::files::read;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether a compiler can make profiles here; a word about it if not.
fn can_profile(compiler: &str) -> bool {
    let script = "cd \"$(mktemp -d)\" && echo 'int main(void) { return 0; }' > a.c && \
                  $0 -fprofile-generate=$PWD a.c -o a && ./a && $0 -print-prog-name=llvm-profdata";
    let done = Command::new("sh").args(["-c", script, compiler]).output().unwrap();
    if !done.status.success() {
        println!("skipped: {compiler} cannot make profiles here: {}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

/// A program of two files; another one, which nobody executes; a helper, which the build executes; and a probe.
const SCRIPT: &str = "
    echo 'int main(void) { return 0; }' > conftest.c; gcc conftest.c -o conftest; ./conftest
    gcc -O2 -Werror gen.c -o gen; ./gen > gen.h
    gcc -O2 -Werror -c a.c; gcc -O2 -Werror -c b.c -o ./b.o; gcc a.o b.o -o \"$PREFIX/prog\"
    gcc -O2 -Werror other.c -o \"$PREFIX/other\"";

fn project(script: &str, training: &str) -> Study {
    let mut study = Study::new(&[layer("program", script)]);
    study.variant("v", &[]);
    study.variants[0].tuning.training = [("program".to_owned(), training.to_owned())].into();
    let files = [
        ("gen.c", "#include <stdio.h>\nint main(void) { return puts(\"#define N 1000\") < 0; }\n"),
        (
            "a.c",
            "#include \"gen.h\"\nint b(int);\nint main(void) { int s = 0; for (int i = 0; i < N; i++) s += b(i); return s == 1; }\n",
        ),
        ("b.c", "static int odd(int x) { return x & 1; }\nint b(int x) { return odd(x) ? 3 * x + 1 : x / 2; }\n"),
        ("other.c", "int main(void) { return 1; }\n"),
    ];
    for (name, text) in files {
        study.write(name, text);
        study.layers[0].files.push(name.to_owned());
    }
    study
}

/// Reached, and of how many.
fn used(line: &BuildLine) -> (u64, u64) {
    let seen = line.proof.flags.iter().find(|seen| seen.variable == "profile").unwrap();
    (seen.reached, seen.of)
}

fn log(line: &BuildLine) -> String {
    fs::read_to_string(line.layers[0].log.as_ref().unwrap()).unwrap()
}

fn calls(line: &BuildLine) -> String {
    read(Path::new(line.layers[0].log.as_ref().unwrap()).with_extension("tools"))
}

#[test]
fn what_the_training_executes_is_built_by_its_profile_and_the_rest_is_counted() {
    if !can_profile("gcc") {
        return;
    }
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"");
    study.variants[0].tuning.training.clear();
    let plain = study.built().0;
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"");
    // gcc's own word about it: a warning for each file without a profile.
    study.variants[0].tuning.all = vec!["-Wmissing-profile".to_owned(), "-Wno-error=missing-profile".to_owned()];
    let (line, prefix) = study.built();
    assert_ne!(line.digest, plain.digest, "the training is part of a build's name");
    // Neither the program that nobody executed, nor the helper, whose profile is not of the training.
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
    let log = log(&line);
    assert_eq!(log.matches("profile count data file not found").count(), 2, "{log}");
    for said in ["2 of 4 compilations used a profile", "without a profile: gen\n", "training: \"$PREFIX/prog\""] {
        assert!(log.contains(said), "{said}: {log}");
    }
    let calls = calls(&line);
    assert!(!calls.contains("-fprofile-generate") && calls.contains("-c a.c -fprofile-use="), "{calls}");
    assert!(calls.contains("conftest.c -o conftest\n"), "{calls}");
    assert!(prefix.join("prog").exists() && prefix.join("other").exists());
    assert!(line.cost["wall"] > 0.0);
    // Found again, with what was seen.
    let again = study.built().0;
    assert!(again.cached);
    assert_eq!(used(&again), (2, 4));
    study.variants[0].tuning.training = [("program".to_owned(), "\"$PREFIX/prog\" x".to_owned())].into();
    assert_ne!(study.survey()[0].digest, line.digest);
}

#[test]
fn clang_has_one_profile_for_all_and_its_objects_tell_who_used_it() {
    if !can_profile("clang") {
        return;
    }
    let mut study = project(SCRIPT, "\"$PREFIX/prog\"; \"$PREFIX/prog\"");
    study.variants[0].tuning.compiler = Some("clang".to_owned());
    let (line, _) = study.built();
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
    assert!(calls(&line).contains("/clang.profdata"), "{}", calls(&line));
}

#[test]
fn a_training_starts_where_the_script_does_and_knows_nothing_of_the_wrapper() {
    if !can_profile("gcc") {
        return;
    }
    let training = "test -f b.c && test \"$MODE\" = fast && \"$PREFIX/prog\"
        ! env | grep BAKEOFF_PROFILE; gcc -c b.c -o training.o; ! nm training.o | grep gcov";
    let mut study = project(SCRIPT, training);
    study.variants[0].build_variables = [("MODE".to_owned(), "fast".to_owned())].into();
    let (line, _) = study.built();
    assert_eq!(used(&line), (2, 4), "{}", log(&line));
}

#[test]
fn a_program_that_one_call_makes_of_one_file_of_its_name() {
    if !can_profile("gcc") {
        return;
    }
    let (line, _) = project("gcc -O2 other.c -o \"$PREFIX/other\"", "! \"$PREFIX/other\"").built();
    assert_eq!(used(&line), (1, 1), "{}", log(&line));
}

#[test]
fn what_cannot_have_a_profile_fails_and_says_why() {
    if !can_profile("gcc") {
        return;
    }
    let check = |script: &str, training: &str, expect: &str| {
        let study = project(script, training);
        let (why, _) = study.failed();
        assert!(why.contains(expect), "{why}");
        assert_eq!(study.count(|event| matches!(event, bakeoff_builds::BuildEvent::Failed { .. })), 1);
    };
    check(SCRIPT, "\"$PREFIX/prog\"\n  exit 3", "the training exited 3: \"$PREFIX/prog\" exit 3");
    check(SCRIPT, "true", "the training left no profile: it must execute what was installed into $PREFIX");
    check("echo exit > \"$PREFIX/other\"", "true", "nothing could be profiled");
    check("false", "true", "the script exited 1, in the first of two builds");
    let elsewhere = "mkdir $$; cd $$; gcc -c ../other.c; gcc other.o -o \"$PREFIX/other\"";
    check(elsewhere, "! \"$PREFIX/other\"", "none of 1 compilations found its profile, and the training left 1");
}
