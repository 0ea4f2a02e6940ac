//! Small programs, compiled here: edits that leave code alone, and edits that do not.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "programs are compiled here; a test ends where something is not as it should be"
)]

mod differs;
mod files;
mod same;

use bakeoff_code::{Answer, Part, Program, compare, compare_files};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A program of two files and a header of tables.
const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int a; int b; double c; };
extern struct item items[3];
int called(int n, int m);
double scaled(double x);
static volatile int plain = 7;
static const char *words[] = { "one", "two", "three" };
static int counted(int n) { static int calls = 0; calls += n; return calls; }
static int __attribute__((noinline)) chosen(int n) {
    switch (n) {
    case 0: return called(n, 3);
    case 1: return puts("first");
    case 2: return counted(n) + plain;
    case 3: return called(3, n) * 5;
    case 4: return puts("fourth");
    case 5: return abs(counted(n) - 9);
    default: return -1;
    }
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < argc + 50; i++)
        sum += chosen(i % 7);
    for (int i = 0; i < 3; i++)
        printf("%s %d %g\n", words[i], items[i].b, scaled(items[i].c) + 0.5);
    if (argc > 1 && strcmp(argv[1], "loud") == 0)
        puts("loud enough");
    return sum & 1;
}
"#;
const OTHER: &str = r#"
struct item { int a; int b; double c; };
struct item items[3] = { { 1, 2, 2.5 }, { 3, 4, 4.5 }, { 5, 6, 6.5 } };
static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int __attribute__((noinline)) helper(int n) { return table[n & 7] * 11; }
int called(int n, int m) { return helper(n) - helper(m + 1); }
double scaled(double x) { return x * 1.75 + 0.25; }
int (*hook)(int, int) = called;
"#;

/// A program as it was built.
struct Built {
    parts: Vec<(String, Vec<u8>)>,
    linked: Vec<u8>,
    words: Vec<String>,
}

/// Compiles files, with these flags and linked in their order with these words.
fn built(sources: &[(&str, &str)], flags: &[&str], words: &[&str]) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let ended = Command::new(program).args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    let is_cpp = sources.iter().any(|(name, _)| name.ends_with(".cc"));
    let compiler = if is_cpp { "g++" } else { "gcc" };
    let mut objects = vec![];
    for (name, text) in sources {
        fs::write(folder.path().join(name), text).unwrap();
        let object = format!("{}.o", Path::new(name).file_stem().unwrap().to_str().unwrap());
        run(compiler, &[flags, &["-c", name, "-o", &object]].concat());
        objects.push(object);
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    run(compiler, &[&objects, words, &["-o", "program"]].concat());
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    Built {
        parts: objects.iter().map(|name| ((*name).to_owned(), read(name))).collect(),
        linked: read("program"),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    }
}

impl Built {
    fn program(&self) -> Program<'_> {
        Program {
            parts: self.parts.iter().map(|(name, content)| Part { name, content }).collect(),
            words: self.words.iter().map(String::as_bytes).collect(),
            linked: Some(&self.linked),
        }
    }
}

/// The example, with one of its texts replaced in one of its files.
fn edited(from: &str, to: &str) -> Vec<(&'static str, String)> {
    let all = [("main.c", MAIN), ("other.c", OTHER)];
    let edited: Vec<_> = all.iter().map(|(name, text)| (*name, text.replacen(from, to, 1))).collect();
    assert!(from == to || all.iter().zip(&edited).any(|(old, new)| old.1 != new.1), "{from} is not there");
    edited
}

fn of(sources: &[(&str, String)], flags: &[&str], words: &[&str]) -> Built {
    let sources: Vec<(&str, &str)> = sources.iter().map(|(name, text)| (*name, text.as_str())).collect();
    built(&sources, flags, words)
}

/// The answer in both directions, which must be the same.
#[track_caller]
fn answer(one: &Built, other: &Built) -> Answer {
    let answer = compare(&one.program(), &other.program());
    let back = compare(&other.program(), &one.program());
    assert_eq!(std::mem::discriminant(&answer), std::mem::discriminant(&back), "{answer:?} {back:?}");
    // The files alone may say less, but nothing else.
    if matches!(answer, Answer::Differs(_)) {
        assert_ne!(of_files(one, other), Answer::Same, "{answer:?}");
    }
    answer
}

/// What the files alone say, in both directions.
#[track_caller]
fn of_files(one: &Built, other: &Built) -> Answer {
    let answer = compare_files(&one.linked, &other.linked);
    let back = compare_files(&other.linked, &one.linked);
    assert_eq!(answer == Answer::Same, back == Answer::Same, "{answer:?} {back:?}");
    answer
}

const FLAGS: [&[&str]; 4] = [&["-O2"], &["-O0"], &["-O2", "-fno-pie", "-g"], &["-O3", "-ffunction-sections"]];

fn words_for(flags: &[&str]) -> &'static [&'static str] {
    if flags.contains(&"-fno-pie") { &["-no-pie"] } else { &[] }
}
