//! Instructions as the deciding metric on a machine without counters, end to end: programs whose doses are known to the
//! instruction, one that waits, and what cannot be counted.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, is_missing};
use bakeoff_model::metric::SEEN;
use bakeoff_model::record::Record;
use serde_json::Value;
use std::process::Command;

/// Steps of two instructions each, and milliseconds of waiting.
const DOSE: &str = r#"
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
    long steps = atol(argv[1]);
    struct timespec wait = { 0, atol(argv[2]) * 1000000 };
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(steps) : : "cc");
    nanosleep(&wait, 0);
    return 0;
}
"#;

const STUDY: &str = r#"
format = 1
name = "doses"
[run_factors.steps]
few = { STEPS = "100000" }
many = { STEPS = "200000" }
[services.other]
run = 'echo ready; exec sleep 600'
ready = { log = "ready" }
[workloads.work]
run = '../dose $STEPS 100'
services = ["other"]
[plan]
blocks = 3
[decide]
baseline = { steps = "few" }
metrics = ["instructions", "wall"]
"#;

/// A place with the program, if instructions are counted by valgrind here.
fn place(study: &str) -> Option<Sandbox> {
    let has_counters =
        bakeoff_host::counters(true).iter().any(|(name, opened)| *name == "instructions" && opened.is_ok());
    if has_counters || !cfg!(target_arch = "x86_64") {
        println!("skipped: this machine counts instructions by itself, or is not x86-64");
        return None;
    }
    if is_missing(&["valgrind", "cc"]) {
        return None;
    }
    let sandbox = Sandbox::new(study);
    std::fs::write(sandbox.path().join("dose.c"), DOSE).unwrap();
    let compiled = Command::new("cc").args(["-O2", "-o", "dose", "dose.c"]).current_dir(sandbox.path()).status();
    assert!(compiled.unwrap().success());
    Some(sandbox)
}

/// Compares commands in the journal `j`.
fn compare(sandbox: &Sandbox, commands: &[&str]) -> (Shown, Record) {
    let shown = sandbox.execute(&[&["compare", "--journal", "j.jsonl", "--metric", "instructions"], commands].concat());
    let record = bakeoff_journal::read(&sandbox.path().join("j.jsonl")).unwrap().record;
    (shown, record)
}

/// The only count of a variant, or the test fails.
#[track_caller]
fn count(record: &Record, variant: &str) -> u64 {
    let of_it = record.trials.iter().filter(|trial| trial.variant == variant);
    let counts: Vec<u64> = of_it.map(|trial| trial.value("instructions").unwrap() as u64).collect();
    assert!(counts.len() == 3 && counts.iter().all(|count| *count == counts[0]), "{variant}: {counts:?}");
    counts[0]
}

/// The verdict on a row of the first table, and the kinds of its doubts.
fn verdict(sandbox: &Sandbox, journal: &str, row: usize) -> (String, Vec<String>) {
    let shown = sandbox.execute(&["report", journal, "--json"]);
    let findings: Value = serde_json::from_str(&shown.out).unwrap();
    let comparison = &findings["tables"][0]["rows"][row]["comparison"];
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let kinds = comparison["caveats"].as_array().unwrap().iter().map(|caveat| text(&caveat["kind"]));
    (text(&comparison["verdict"]), kinds.collect())
}

#[test]
fn equal_programs_are_equal_and_five_percent_more_are_exactly_that() {
    let Some(sandbox) = place(STUDY) else { return };
    let [few, same, more] = ["./dose 400000000 0", "./dose 400000000 0", "./dose 420000000 0"];
    let (shown, record) = compare(&sandbox, &["-n", "few", "-n", "same", "-n", "more", few, same, more]);
    shown.expect(
        0,
        &["instructions in user mode, counted under valgrind; times are not measured", "more needs 5.0 % more"],
    );
    assert_eq!(count(&record, "same"), count(&record, "few"));
    assert_eq!(count(&record, "more"), count(&record, "few") + 2 * 20_000_000);
    assert_eq!(verdict(&sandbox, "j.jsonl", 1), ("equivalent".to_owned(), vec![]));
    assert_eq!(verdict(&sandbox, "j.jsonl", 2), ("slower".to_owned(), vec![]));
    let measured = record.trials.iter().flat_map(|trial| trial.measurements.keys());
    assert!(measured.into_iter().all(|name| ["instructions", SEEN].contains(&name)));
    assert!(record.study.metrics[0].source.starts_with("valgrind-"));
    sandbox.execute(&["report", "j.jsonl", "--all"]).expect(0, &["Counts cover at least this share of the time: "]);
}

#[test]
fn a_program_that_waits_is_never_shown_to_be_equal() {
    let Some(sandbox) = place(STUDY) else { return };
    let waiting = "./dose 100000 100";
    let (shown, record) = compare(&sandbox, &["-n", "a", "-n", "b", waiting, waiting]);
    shown.expect(0, &["a and b cannot be distinguished", "of the run time, so they cannot show equality"]);
    assert_eq!(count(&record, "a"), count(&record, "b"));
    assert_eq!(verdict(&sandbox, "j.jsonl", 1).1, ["unseen-time"]);
    assert!(record.trials.iter().all(|trial| trial.value(SEEN).is_some_and(|share| share < 0.5)));
}

#[test]
fn a_study_is_counted_without_its_services() {
    let Some(sandbox) = place(STUDY) else { return };
    sandbox.execute(&["run", "STUDY"]).expect(0, &["and services are not counted", "steps=many needs"]);
    let record = sandbox.record();
    assert_eq!(count(&record, "steps=many"), count(&record, "baseline") + 2 * 100_000);
    sandbox
        .execute(&["report", "STUDY", "--all"])
        .expect(0, &["not measured here: wall (this study counts instructions"]);
}

#[test]
fn what_cannot_be_counted_is_refused_by_name() {
    let Some(sandbox) = place(&STUDY.replace("[plan]", "[conditions.two]\nprocesses = 2\n[plan]")) else { return };
    let refused = "instructions of a condition (2 processes at once) cannot be counted without them";
    sandbox.execute(&["run", "STUDY"]).expect(2, &[refused, "choose another deciding metric"]);
    let mut command = sandbox.command(&["compare", "--metric", "instructions", "./dose 1 0", "./dose 2 0"]);
    let shown = Shown::of(&command.env("PATH", sandbox.path()).output().unwrap());
    shown.expect(2, &["no hardware counters", "valgrind is not installed", "install the package valgrind"]);
}
