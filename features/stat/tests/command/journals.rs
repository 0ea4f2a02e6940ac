//! `bakeoff stat` with our own journals: the same n and medians as their report, paired by block.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown, small};
use serde_json::Value;
use std::fs;

fn typed(sandbox: &Sandbox, words: &[&str]) -> Shown {
    Shown::of(&sandbox.command_as_typed(words).output().unwrap())
}

fn json(sandbox: &Sandbox, words: &[&str]) -> Value {
    let shown = typed(sandbox, words);
    assert_eq!(shown.code, 0, "{shown:?}");
    serde_json::from_str(&shown.out).unwrap()
}

/// A journal of two variants, the second of which takes 1.2 times as long; and its name.
fn measured() -> (Sandbox, String) {
    let sandbox = small();
    let truth = "echo=twice:1.2,noise:0.02";
    typed(&sandbox, &["run", "STUDY", "--quiet", "--blocks", "12", "--simulate", truth]).expect(0, &[]);
    let journal = sandbox.journal().to_str().unwrap().to_owned();
    (sandbox, journal)
}

#[test]
fn each_variant_is_a_sample_paired_by_block() {
    let (sandbox, journal) = measured();
    let report = json(&sandbox, &["report", "STUDY", "--json"]);
    let stat = json(&sandbox, &["stat", "--json", &journal]);
    assert_eq!(stat["paired"], true);
    let (table, rows) = (&stat["tables"][0], report["tables"][0]["rows"].as_array().unwrap());
    assert_eq!((&table["unit"], stat["tables"].as_array().unwrap().len()), (&"sec".into(), 1));
    let samples = table["samples"].as_array().unwrap();
    assert_eq!(samples.len(), rows.len());
    for (sample, row) in samples.iter().zip(rows) {
        assert_eq!(sample["sample"], row["variant"]);
        for what in ["n", "median", "mean", "max"] {
            assert_eq!(sample["summary"][what], row["summary"][what], "{what}");
        }
    }
    // The same test on the same blocks.
    let [ours, theirs] = [&samples[1]["comparison"], &rows[1]["comparison"]];
    for what in ["estimate", "interval", "verdict", "blocks"] {
        assert_eq!(ours[what], theirs[what], "{what}");
    }
    // Seen as two files, they are not of one day.
    let copy = sandbox.path().join("copy.jsonl");
    fs::copy(&journal, &copy).unwrap();
    let two = json(&sandbox, &["stat", "--json", &journal, copy.to_str().unwrap()]);
    assert_eq!(
        (&two["paired"], two["tables"][0]["samples"].as_array().unwrap().len()),
        (&false.into(), 2 * rows.len())
    );
}

#[test]
fn what_is_not_whole_is_said() {
    let (sandbox, journal) = measured();
    let at = |name: &str| sandbox.path().join(name).to_str().unwrap().to_owned();
    let text = fs::read_to_string(&journal).unwrap();
    // A line of a trial that was changed by hand.
    let bad = text.replacen("\"variant\":\"echo=twice\"", "\"variant\":\"baseline\"", 1);
    fs::write(at("bad.jsonl"), &bad).unwrap();
    typed(&sandbox, &["stat", &at("bad.jsonl")]).expect(0, &["1 block is left out, as not every variant counts there"]);
    fs::write(at("head.jsonl"), text.lines().next().unwrap().to_owned() + "\n").unwrap();
    typed(&sandbox, &["stat", &at("head.jsonl")])
        .expect(2, &["no block in it in which every variant counts", "hint: "]);
    fs::write(at("broken.jsonl"), text.replacen("\"format\":2", "\"format\":9", 1)).unwrap();
    typed(&sandbox, &["stat", &at("broken.jsonl")]).expect(2, &["hint: `bakeoff report` says what is wrong"]);
    let through = format!("{} stat < {journal}", env!("CARGO_BIN_EXE_bakeoff"));
    let shown = Shown::of(&std::process::Command::new("sh").args(["-c", &through]).output().unwrap());
    shown.expect(2, &["this is a journal, which is read from a plain file only", "hint: name the journal itself"]);
}
