//! What linked files alone say, without the objects: the hard cases, and what cannot be told.

use super::*;
use bakeoff_code::{What, Why};

const WORDS: [&[&str]; 3] = [&[], &["-Wl,-z,now"], &["-Wl,-O1"]];

#[track_caller]
fn check_same(from: &str, to: &str) {
    for (flags, words) in
        [&["-O2"][..], &["-O0"], &["-O3", "-ffunction-sections", "-fdata-sections", "-g"]].iter().zip(WORDS)
    {
        let [one, other] = [of(&edited("", ""), flags, words), of(&edited(from, to), flags, words)];
        assert_eq!(of_files(&one, &other), Answer::Same, "{from} with {flags:?}");
    }
}

/// Both texts alone, each built as a program of one file.
#[track_caller]
fn answer_of(texts: [&str; 2], flags: &[&str], words: &[&str]) -> Answer {
    let [one, other] = texts.map(|text| built(&[("x.c", text)], flags, words));
    of_files(&one, &other)
}

#[test]
fn edits_that_leave_code_alone() {
    check_same("", "");
    check_same("int called(int n, int m) {", "int added(int n) { return n * 3; }\nint called(int n, int m) {");
    check_same("static int counted", "char *added(int n) { return n ? \"none\" : \"two\"; }\nstatic int counted");
    check_same(
        "int (*hook)",
        "int added(int n) { switch (n) { case 1: return 8; case 2: return 99; case 3: return 4; \
        case 4: return n * n; case 5: return n / 3; case 6: return n << 5; } return 2; }\nint (*hook)",
    );
    // Local variables of one name are numbered.
    check_same(
        "static int counted(int n) {",
        "int added(int n) { static int calls = 3; return calls += n; }\nstatic int counted(int n) {",
    );
}

#[test]
fn objects_in_another_order() {
    let mut sources = edited("", "");
    let one = of(&sources, &["-O2"], &[]);
    sources.reverse();
    assert_eq!(of_files(&one, &of(&sources, &["-O2"], &[])), Answer::Same);
}

/// A table of which the index begins at 1, so that code names a place in front of it.
fn from_one(table: &str) -> String {
    format!(
        "#include <stdlib.h>\nextern int sink;\nint sink;\nstatic const int before[3] = {{ 9, 8, 7 }};\nstatic const int a[16] = \
         {{ 1, 2, 3 }};\nstatic const int b[16] = {{ 4, 5, 6 }};\nint __attribute__((noinline)) other(int n) {{ return a[n] + b[n] + \
         before[n & 1]; }}\nint __attribute__((noinline)) f(int n) {{ int s = 0; for (int i = 1; i <= n; i++) s += {table}[i - 1] * i; \
         return s; }}\nint main(int argc, char **argv) {{ return f(argc) + other(argc); }}\n"
    )
}

#[test]
fn an_index_that_begins_at_1() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3"], &["-Os"]] {
        let more = from_one("a") + "int added(int n) { return n; }\n";
        assert_eq!(answer_of([&from_one("a"), &more], flags, &[]), Answer::Same);
        assert_ne!(answer_of([&from_one("a"), &from_one("b")], flags, &[]), Answer::Same);
        // The table of one is not in the other, where the next one has its place.
        let alone = |table: &str| from_one(table).replace("a[n] + b[n] + ", "");
        assert_ne!(answer_of([&alone("a"), &alone("b")], flags, &[]), Answer::Same, "{flags:?}");
        let added = from_one("b").replace("a[n] + b[n]", "a[n]");
        let without = from_one("a").replace("a[n] + b[n]", "a[n]");
        assert_ne!(answer_of([&without, &added], flags, &[]), Answer::Same, "{flags:?}");
    }
}

#[test]
fn the_end_of_a_datum_is_not_the_start_of_the_next_one() {
    let text = |after: &str| {
        format!(
            "static const char *names[] = {{ \"one\", \"two\", \"three\" }};\n{after}#include <stdio.h>\nint main(int argc, char **argv) \
        {{ for (const char **n = names + argc - 1; n != names + 3; n++) puts(*n); return 0; }}\n"
        )
    };
    // What is behind it is another thing, so it is not known to be the same; to say that it differs costs a race.
    let answer = answer_of([&text(""), &text("const char *more[] = { \"four\" };\n")], &["-O2"], &[]);
    assert!(matches!(answer, Answer::Same | Answer::Differs(_) | Answer::Unknown(_)));
    assert_ne!(answer_of([&text(""), &text("").replace("names + 3", "names + 2")], &["-O2"], &[]), Answer::Same);
}

#[test]
fn constants_are_as_wide_as_they_are_read() {
    let text = |one: &str, two: &str| {
        format!(
            "double f(double x) {{ return x < {one} ? x * {two} : x; }}\nfloat g(float x) {{ return x * 2.5f; }}\n\
        long double h(long double x) {{ return x * 1.25L; }}\nint main(int argc, char **argv) {{ return f(argc) + g(argc) + h(argc) > 5; }}\n"
        )
    };
    let one = text("1.5", "3.25");
    let added = format!("double added(double x) {{ return x * 9.75 + 1.5; }}\n{one}");
    assert_eq!(answer_of([&one, &added], &["-O2"], &[]), Answer::Same);
    for other in [text("1.5", "3.5"), text("1.25", "3.25"), one.replace("2.5f", "2.25f"), one.replace("1.25L", "1.5L")]
    {
        assert_ne!(answer_of([&one, &other], &["-O2"], &[]), Answer::Same);
    }
}

#[test]
fn texts_are_ends_of_others() {
    let text = |one: &str| {
        format!(
            "#include <stdio.h>\nint main(int argc, char **argv) {{ puts(\"{one}\"); return argc > 1 ? puts(\"found\") : 0; }}\n"
        )
    };
    let [one, other] = [text("plain"), text("plain") + "const char *added(void) { return \"not found\"; }\n"];
    assert_eq!(answer_of([&one, &other], &["-O2"], &[]), Answer::Same);
    assert_ne!(answer_of([&text("not found"), &text("now found")], &["-O2"], &[]), Answer::Same);
    // With a zero in it.
    assert_ne!(answer_of([&text("a\\0b"), &text("a\\0c")], &["-O2"], &[]), Answer::Same);
}

#[test]
fn tables_without_a_name() {
    // The compiler copies it from a constant without a name.
    let text = |last: u32| {
        format!(
            "int g(int *);\nint main(int argc, char **argv) {{ int a[9] = {{ 65, 0, 0, 1, 2, 3, 4, 5, {last} }}; return g(a); }}\n\
        int __attribute__((noinline)) g(int *a) {{ return a[8] + a[0]; }}\n"
        )
    };
    for flags in [&["-O0"][..], &["-O2"], &["-Os"]] {
        assert_ne!(answer_of([&text(6), &text(7)], flags, &[]), Answer::Same);
    }
}

#[test]
fn variables_of_threads_that_change_places() {
    let text = |one: &str, other: &str| {
        format!("_Thread_local int {one}, {other};\nint main(int argc, char **argv) {{ a = argc; b = 3; return a; }}\n")
    };
    let added = text("a", "b") + "int added(int n) { return n; }\n";
    assert_eq!(answer_of([&text("a", "b"), &added], &["-O2"], &[]), Answer::Same);
    assert_ne!(answer_of([&text("a", "b"), &text("b", "a")], &["-O2"], &[]), Answer::Same);
}

#[test]
fn what_the_loader_is_told() {
    let one = of(&edited("", ""), &["-O2"], &[]);
    for words in [
        &["-Wl,--no-as-needed", "-lm"][..],
        &["-Wl,-rpath,/elsewhere"],
        &["-z", "execstack"],
        &["-Wl,-z,norelro"],
        &["-Wl,-e,main"],
        &["-rdynamic"],
    ] {
        assert_ne!(of_files(&one, &of(&edited("", ""), &["-O2"], words)), Answer::Same, "{words:?}");
    }
}

#[test]
fn what_cannot_be_told() {
    let texts = edited("", "");
    let added = edited("int (*hook)", "int added(int n) { return n + 1; }\nint (*hook)");
    for (flags, words) in [
        (&["-O2", "-fno-pie"][..], &["-no-pie"][..]),
        (&["-O2"], &["-s"]),
        (&["-O2"], &["-Wl,-rpath,$ORIGIN/lib"]),
        (&["-O2"], &["-static-pie"]),
    ] {
        let answer = of_files(&of(&texts, flags, words), &of(&added, flags, words));
        assert!(matches!(answer, Answer::Unknown(_)), "{words:?}: {answer:?}");
    }
    let finds_itself =
        "#include <unistd.h>\nint main(void) { char b[9]; return readlink(\"/proc/self/exe\", b, 9); }\n";
    let added = format!("{finds_itself}int added(int n) {{ return n; }}\n");
    assert!(matches!(answer_of([finds_itself, &added], &["-O2"], &[]), Answer::Unknown(_)));
    assert!(matches!(compare_files(b"#!/bin/sh\n", b"#!/bin/sh\n:\n"), Answer::Unknown(Why::NotMachineCode)));
}

#[test]
fn a_difference_is_named() {
    let [one, other] = ["argc + 50", "argc + 51"].map(|to| of(&edited("argc + 50", to), &["-O2"], &[]));
    let Answer::Differs(differences) = of_files(&one, &other) else { panic!("not seen") };
    assert!(differences.iter().any(|one| (one.what, one.name.as_str()) == (What::Symbol, "main")));
}
