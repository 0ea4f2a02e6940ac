//! `--html` and `--svg` as a whole: which commands write them, where, and what is refused before anything is run.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use std::fs;

/// `bakeoff` as it is typed.
fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

const RUN: [&str; 6] = ["run", "STUDY", "--quiet", "--blocks", "6", "--simulate=noise:0.01"];
const REPORT: [&str; 2] = ["report", "STUDY"];

#[test]
fn every_command_that_comes_to_findings_writes_a_page_and_its_charts() {
    let sandbox = small();
    let compare: &[&str] = &["compare", "--blocks", "4", "--quiet", "true", "sh -c :"];
    for words in [&RUN[..], &REPORT, compare] {
        let [html, svg] = ["html", "svg"].map(|kind| sandbox.path().join(format!("{}.{kind}", words[0])));
        let files = ["--html", html.to_str().unwrap(), "--svg", svg.to_str().unwrap()];
        typed(&sandbox, &[words, &files].concat()).expect(0, &["more: bakeoff"]);
        let (html, svg) = (fs::read_to_string(html).unwrap(), fs::read_to_string(svg).unwrap());
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"), "{html}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
        for part in ["default-src", "id=\"figures\"", "class=\"st", "Can I believe it?"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
    // A page is the same each time, and takes the place of the report where it goes to standard output.
    let printed = typed(&sandbox, &[&REPORT[..], &["--html", "-"]].concat());
    assert_eq!(printed.code, 0, "{printed:?}");
    let file = sandbox.path().join("again.html");
    typed(&sandbox, &[&REPORT[..], &["--html", file.to_str().unwrap()]].concat()).expect(0, &["more: bakeoff"]);
    assert_eq!(printed.out, fs::read_to_string(file).unwrap());
}

#[test]
fn every_chart_is_written_alone() {
    let sandbox = small();
    typed(&sandbox, &RUN).expect(0, &[]);
    let mut charts = vec![];
    for chart in ["variants", "trials", "distributions"] {
        let printed = typed(&sandbox, &[&REPORT[..], &["--svg", "-", "--chart", chart]].concat());
        assert_eq!(printed.code, 0, "{printed:?}");
        assert!(printed.out.contains("prefers-color-scheme:dark") && printed.out.contains("<desc"), "{}", printed.out);
        assert!(!charts.contains(&printed.out), "{chart} is another one again");
        charts.push(printed.out);
    }
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_executed() {
    let sandbox = small();
    let compare = |more: &[&str]| {
        let words = ["compare", "--blocks", "2", "--quiet", "true", "sh -c :", "--journal", "j.jsonl"];
        typed(&sandbox, &[&words, more].concat())
    };
    for (words, parts) in [
        (&["--html", "no/such/folder/x.html"][..], ["there is no folder no/such/folder", "hint: create the folder"]),
        (&["--svg", "."], ["is a folder", "hint: name a file in it"]),
        (&["--html", "x", "--svg", "x"], ["name the same file", "hint: name a different file"]),
        (&["--html", "-", "--json"], ["cannot be combined", "hint: name a file"]),
        (&["--svg", "x", "--chart", "pie"], ["invalid value 'pie'", "possible values: variants"]),
        (&["--chart", "trials"], ["required arguments", "--svg <FILE>"]),
    ] {
        compare(words).expect(2, &parts);
        assert!(!sandbox.path().join("j.jsonl").exists(), "it was executed: {words:?}");
    }
}

#[test]
fn two_journals_are_drawn_next_to_each_other_and_nothing_is_judged_across_them() {
    let sandbox = small();
    let compare = |journal: &str| {
        let words = ["compare", "--blocks", "6", "--quiet", "--journal", journal, "--name", "a", "--name", "b"];
        typed(&sandbox, &[&words[..], &["true", "sh -c :"]].concat()).expect(0, &[]);
    };
    compare("here.jsonl");
    compare("there.jsonl");
    let against = ["report", "here.jsonl", "--against", "there.jsonl", "--html", "page.html"];
    typed(&sandbox, &against).expect(0, &["here:", "there:"]);
    let page = fs::read_to_string(sandbox.path().join("page.html")).unwrap();
    for part in ["ratio to the baseline, here (left) and there (right)", "This is not a test", "class=\"ch slope\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let svg = ["report", "here.jsonl", "--against", "there.jsonl", "--svg", "x.svg"];
    typed(&sandbox, &svg).expect(2, &["cannot be used with"]);
}
