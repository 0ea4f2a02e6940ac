//! `--export-…` as a whole: what is written when, where, and what is refused before anything is run.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::processes::signal;
use crate::common::{Sandbox, Shown, small};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

const OPTIONS: [&str; 6] =
    ["--export-markdown", "--export-csv", "--export-trials", "--export-json", "--export-findings", "--export-go"];

/// `bakeoff` as it is typed.
fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

fn compare(sandbox: &Sandbox, more: &[&str]) -> Shown {
    let words = ["compare", "--blocks", "2", "--quiet", "true", "sh -c :", "--journal", "j.jsonl"];
    typed(sandbox, &[&words, more].concat())
}

#[test]
fn every_command_that_comes_to_findings_writes_every_format() {
    let sandbox = small();
    let run: &[&str] = &["run", "STUDY", "--quiet", "--blocks", "6", "--simulate", "noise:0.01"];
    let report: &[&str] = &["report", "STUDY"];
    let compare: &[&str] = &["compare", "--blocks", "2", "--quiet", "true", "sh -c :"];
    for words in [run, report, compare] {
        for option in OPTIONS {
            let file = sandbox.path().join(format!("{}{option}", words[0]));
            let shown = typed(&sandbox, &[words, &[option, file.to_str().unwrap()]].concat());
            shown.expect(0, &["more: bakeoff"]);
            let whole = fs::read_to_string(&file).unwrap();
            assert!(whole.ends_with('\n') && whole.len() > 60, "{option}: {whole}");
            // Instead of the report, the same bytes; but a plan of `compare` is another one each time.
            let printed = typed(&sandbox, &[words, &[option, "-"]].concat());
            assert_eq!(printed.code, 0, "{printed:?}");
            assert!(!printed.out.contains("more: bakeoff"), "{}", printed.out);
            assert!(words[0] == "compare" || printed.out == whole, "{option}: {} is not {whole}", printed.out);
        }
    }
    // All at once, and no file of ours is left beside them.
    let before = fs::read_dir(sandbox.path()).unwrap().count();
    let files: Vec<String> = OPTIONS.iter().map(|option| format!("all{option}")).collect();
    let pairs: Vec<&str> = OPTIONS.iter().zip(&files).flat_map(|(option, file)| [*option, file.as_str()]).collect();
    typed(&sandbox, &[report, &pairs].concat()).expect(0, &["more: bakeoff"]);
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), before + OPTIONS.len());
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_executed() {
    let sandbox = small();
    for (words, parts) in [
        (
            &["--export-csv", "no/such/folder/x.csv"][..],
            ["there is no folder no/such/folder", "hint: create the folder"],
        ),
        (&["--export-csv", "."], ["is a folder", "hint: name a file in it"]),
        (&["--export-csv", "x", "--export-go", "x"], ["name the same file", "hint: name a different file"]),
        (&["--export-csv", "-", "--export-go", "-"], ["name the same file", "hint: name a different file"]),
        (&["--export-csv", "-", "--json"], ["cannot be combined", "hint: name a file"]),
        (&["--export-csv", "-", "--all"], ["cannot be combined", "hint: name a file"]),
        (&["--export-asciidoc", "x"], ["cannot write AsciiDoc", "hint: use --export-markdown, --export-csv or"]),
        (&["--export-orgmode", "-"], ["cannot write Org", "hint: use --export-markdown, --export-csv or"]),
    ] {
        compare(&sandbox, words).expect(2, &parts);
        assert!(!sandbox.path().join("j.jsonl").exists(), "it was executed: {words:?}");
    }
    // A command that asks for something other than findings gets no file of them.
    for other in [&["--provenance"][..], &["--trial", "a/b/1/c"], &["--against", "j"]] {
        let words = [&["report", "STUDY", "--export-csv", "x"], other].concat();
        typed(&sandbox, &words).expect(2, &["cannot be used with"]);
    }
}

#[test]
fn a_journal_is_never_replaced() {
    let sandbox = small();
    compare(&sandbox, &["--export-csv", "new.csv"]).expect(0, &[]);
    let journal = sandbox.path().join("j.jsonl");
    let before = fs::read(&journal).unwrap();
    typed(&sandbox, &["report", "j.jsonl", "--export-csv", "j.jsonl"]).expect(2, &["is a journal", "hint: "]);
    // A journal that this command itself begins.
    let words = ["compare", "--blocks", "2", "--quiet", "true", ":", "--journal", "k.jsonl", "--export-csv", "k.jsonl"];
    typed(&sandbox, &words).expect(2, &["k.jsonl is a journal; Bakeoff never replaces journals"]);
    assert_eq!(fs::read(&journal).unwrap(), before);
    typed(&sandbox, &["report", "k.jsonl"]).expect(0, &[]);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let sandbox = small();
    let failing = ["compare", "--blocks", "2", "--quiet", "true", "false", "--export-markdown", "x.md"];
    typed(&sandbox, &failing).expect(4, &[]);
    let page = fs::read_to_string(sandbox.path().join("x.md")).unwrap();
    assert!(page.contains("exited with code 1"), "{page}");
    let undecided = ["--require-verdict", "--export-markdown", "-"];
    compare(&sandbox, &undecided).expect(3, &["### true or sh"]);
}

#[test]
fn what_there_is_when_a_study_is_interrupted_is_written() {
    let sandbox = small();
    let words = ["compare", "--blocks", "10000", "--quiet", "true", "sh -c :", "--journal", "j.jsonl"];
    let mut command = sandbox.command_as_typed(&[&words[..], &["--export-markdown", "so-far.md"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let trials = || bakeoff_journal::read(&sandbox.path().join("j.jsonl")).map_or(0, |read| read.record.trials.len());
    while trials() < 30 {
        assert!(began.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    signal("-TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let page = fs::read_to_string(sandbox.path().join("so-far.md")).unwrap();
    assert!(page.contains("so far ") && page.contains(" of 10,000 blocks"), "{page}");
}
