//! What 0.1.0 wrote is read: a parcel with a study file of format 1 and the journal of its run, of builds, layouts, a service,
//! marks and counts. It stays as it was; a version that cannot read it breaks the promise of
//! `docs/reference/compatibility.md`.

use crate::common::Sandbox;
use std::path::Path;

#[test]
fn a_study_and_a_journal_of_the_first_release_are_read() {
    let sandbox = Sandbox::new("");
    let parcel = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.1.0.tar.zst");
    let folder = sandbox.study().with_file_name("kept");
    let folder = folder.to_str().unwrap();
    sandbox.execute(&["import", parcel.to_str().unwrap(), folder]).expect(0, &["journals: 1"]);
    sandbox.execute(&["plan", folder]).expect(0, &["locale=utf8", "mark"]);

    let judged = sandbox.execute(&["report", folder, "--json"]);
    judged.expect(0, &[]);
    let findings: serde_json::Value = serde_json::from_str(&judged.out).unwrap();
    let tables = findings["tables"].as_array().unwrap();
    let rows: Vec<usize> = tables.iter().map(|table| table["rows"].as_array().unwrap().len()).collect();
    // Each has the baseline, two variants and the twin, if any.
    assert!(rows.len() > 8 && rows.iter().all(|number| *number == rows[0]), "{rows:?}");
    sandbox.execute(&["report", folder, "--all"]).expect(0, &["lost", "instructions, "]);
}
