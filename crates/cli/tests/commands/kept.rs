//! What 0.1.0 wrote is read: a study file of format 1, and the journal of its run. Both are kept as they were; a later version
//! that cannot read them breaks the promise of docs/reference/compatibility.md.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use crate::common::Sandbox;
use std::fs;
use std::path::{Path, PathBuf};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.1.0")
}

#[test]
fn a_study_file_of_the_first_release_is_valid() {
    let text = fs::read_to_string(kept().join("study.toml")).unwrap();
    let features = bakeoff_cli::features();
    let study = bakeoff_model::study_file::parse_with(&text, &features.sections, features.recipe_reader());
    if let Err(problems) = study {
        panic!("{}", bakeoff_model::problem::Problems::new("study.toml", &text, problems).render(false));
    }
}

#[test]
fn a_journal_of_the_first_release_is_judged_as_then() {
    let sandbox = Sandbox::new("");
    let journal = kept().join("journal.jsonl");
    let judged = sandbox.execute(&["report", journal.to_str().unwrap(), "--json"]);
    judged.expect(0, &[]);
    let findings: serde_json::Value = serde_json::from_str(&judged.out).unwrap();
    let table = &findings["tables"][0];
    assert_eq!(table["rows"].as_array().unwrap().len(), 3, "{table}");
    let explained = sandbox.execute(&["explain", journal.to_str().unwrap()]);
    explained.expect(0, &["work at start"]);
}
