//! What commands print: it can be read and compared, and a study does not call another program faster.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use bakeoff_model::record::Record;

fn compare(sandbox: &Sandbox, words: &[&str]) -> (Shown, Record) {
    let journal = sandbox.path().join("compare.jsonl");
    let kept = ["compare", "--blocks", "6", "--quiet", "--journal", journal.to_str().unwrap()];
    let shown = sandbox.execute(&[&kept, words].concat());
    let record = bakeoff_journal::read(&journal).map(|contents| contents.record);
    std::fs::remove_file(&journal).unwrap();
    (shown, record.unwrap())
}

#[test]
fn a_command_can_read_its_standard_input() {
    let (shown, _) = compare(&Sandbox::new(""), &["cat", "true"]);
    shown.expect(0, &[]);
    assert!(!shown.out.contains("do not count"), "{}", shown.out);
}

/// `grep` stops at the first match where its output is thrown away; so a pipe seemed to cost six times as much.
#[test]
fn grep_does_the_same_work_with_and_without_a_pipe() {
    let sandbox = Sandbox::new("");
    let text = sandbox.path().join("text");
    std::fs::write(&text, "one line\nthe next one\n".repeat(5000)).unwrap();
    let (shown, record) = compare(&sandbox, &["grep e text", "grep e text | cat"]);
    shown.expect(0, &[]);
    assert!(!shown.out.contains("something other"), "{}", shown.out);
    let bytes = std::fs::metadata(&text).unwrap().len();
    for trial in &record.trials {
        assert_eq!(trial.output.iter().map(|output| output.bytes).collect::<Vec<_>>(), [bytes], "{trial:?}");
    }
}

#[test]
fn compare_begins_with_a_difference_and_still_decides() {
    let sandbox = Sandbox::new("");
    let (shown, _) = compare(&sandbox, &["echo one", "echo two; sleep 0.1"]);
    shown.expect(
        0,
        &["echo two; sleep 0.1 did not print the same output as echo one in 6 of 6 trials (also 4 B)", "slower"],
    );
    shown.expect(0, &["▲ echo two; sleep 0.1 prints different output; check that it does the same work"]);
    shown.expect(0, &["first in line 1: | echo one: one | echo two; sleep 0.1: two"]);
    for quiet in [["--output", "varies"], ["--output", "null"]] {
        let (shown, record) = compare(&sandbox, &[&quiet[..], &["echo one", "echo two; sleep 0.1"]].concat());
        assert!(!shown.expect(0, &["slower"]).out.contains("something other"), "{}", shown.out);
        assert_eq!(record.trials[0].output.is_empty(), quiet[1] == "null");
    }
    let (shown, _) = compare(&sandbox, &["date +%N", "echo no"]);
    shown.expect(0, &["the output of date +%N varies from trial to trial"]);
    assert!(!shown.out.contains("different output"), "{}", shown.out);
}

const STUDY: &str = r#"
format = 1
name = "outputs"
[run_factors.words]
all = { WORDS = "one two" }
few = { WORDS = "one" }
more = { WORDS = "one  two" }
[workloads.print]
run = 'printf "%s\n" $WORDS'
[plan]
blocks = 6
seed = 178
[decide]
baseline = { words = "all" }
metrics = ["wall"]
"#;

#[test]
fn a_study_gives_no_verdict_to_another_program() {
    let sandbox = Sandbox::new(STUDY);
    sandbox.execute(&["run", "STUDY", "--quiet"]).expect(
        0,
        &[
            "▲ words=few prints different output on print, first in line 2: no verdict",
            "print (idle): words=few did not print the same output as the baseline in 6 of 6 trials (4 B, not 8 B)",
            "first in line 2: | the baseline: two | words=few: (nothing: the output ends here)",
        ],
    );
    let json = sandbox.execute(&["report", "STUDY", "--json"]);
    let findings: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(findings["outputs"][0]["others"][0]["variant"], "words=few");
    assert_eq!(findings["tables"][0]["rows"][1]["comparison"]["verdict"], "withheld");

    // What may vary is said afterwards too; nothing is run for it.
    sandbox.write("study.toml", &STUDY.replace("[plan]", "output = \"varies\"\n[plan]"));
    let shown = sandbox.execute(&["run", "STUDY", "--quiet"]);
    assert!(!shown.expect(0, &[]).out.contains("something other"), "{}", shown.out);
    crate::common::each_trial_once(&sandbox.record(), 4 * 6);
}
