//! Studies that travel: packed in one folder, unpacked in another with an empty cache, reported on, repeated and set
//! side by side; and parcels that are not what they should be.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{SMALL, Sandbox, Shown, small};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// The small study, run: its first layer takes a source.
fn executed() -> Sandbox {
    let sandbox = small();
    sandbox.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &[]);
    sandbox
}

/// Another machine as far as folders go: no study, an empty cache.
fn elsewhere() -> Sandbox {
    let sandbox = Sandbox::new("");
    fs::remove_dir_all(sandbox.study()).unwrap();
    sandbox
}

fn packed(sandbox: &Sandbox, options: &[&str]) -> PathBuf {
    let out = sandbox.path().join("x.tar.zst");
    let words = [&["export", "STUDY", "-o", out.to_str().unwrap()], options].concat();
    sandbox.execute(&words).expect(0, &["packed small into"]);
    out
}

fn import(sandbox: &Sandbox, parcel: &std::path::Path) -> Shown {
    sandbox.execute(&["import", parcel.to_str().unwrap(), "STUDY"])
}

#[test]
fn the_report_of_an_imported_study_is_the_same_byte_for_byte() {
    let here = executed();
    let parcel = packed(&here, &[]);
    let there = elsewhere();
    import(&there, &parcel)
        .expect(0, &["imported small into", "files of the study: 2, journals: 1", "read them before"]);
    for options in [&["report", "STUDY"][..], &["report", "STUDY", "--json"], &["report", "STUDY", "--provenance"]] {
        let [ours, theirs] = [&here, &there].map(|sandbox| sandbox.execute(options));
        assert!(!ours.out.is_empty());
        assert_eq!(ours.out, theirs.out);
    }
    for file in ["study.toml", "hello.out"] {
        assert_eq!(fs::read(here.study().join(file)).unwrap(), fs::read(there.study().join(file)).unwrap());
    }
    // Records and logs of both builds came with it.
    let layers: Vec<_> = fs::read_dir(there.study().join(".bakeoff/imported/layers")).unwrap().collect();
    assert_eq!(layers.len(), 2);
    for layer in layers {
        let path = layer.unwrap().path();
        assert!(path.join("record.json").is_file() && path.join("build.log").is_file(), "{path:?}");
    }
    assert!(!there.path().join("cache").exists(), "nothing was written into the cache");

    // What nothing was done with is packed as it came.
    let again = packed(&there, &[]);
    assert!(fs::read(&again).unwrap() == fs::read(&parcel).unwrap(), "an export of an import is the same file");
}

#[test]
fn an_imported_study_is_repeated_in_a_journal_of_its_own_and_both_stand_side_by_side() {
    let here = executed();
    let there = elsewhere();
    import(&there, &packed(&here, &[])).expect(0, &[]);
    there.execute(&["report", "STUDY", "--against", "imported"]).expect(2, &["cannot be compared with itself"]);
    let imported = there.study().join(".bakeoff/imported");
    let theirs = fs::read_dir(&imported)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "jsonl"));
    let theirs = theirs.unwrap();
    let before = fs::read(&theirs).unwrap();
    there.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &["6 of 6 blocks"]);
    assert_eq!(fs::read(&theirs).unwrap(), before, "what came is never continued");
    assert_eq!(there.journals().len(), 1);
    assert_eq!(there.record().sessions.len(), 1);
    let shown = there.execute(&["report", "STUDY", "--against", "imported"]);
    shown.expect(0, &["4 comparisons in both", "hello (idle): wall", "echo=twice", "This is not a test"]);
    let json = there.execute(&["report", "STUDY", "--against", theirs.to_str().unwrap(), "--json"]);
    let pairs: bakeoff_judge::side_by_side::SideBySide = serde_json::from_str(&json.out).unwrap();
    assert_eq!((pairs.pairs.len(), pairs.only_here.len(), pairs.only_there.len()), (4, 0, 0));
    // What is exported now is what was run here.
    let shown = there.execute(&["export", "STUDY", "-o", "again.tar.zst"]);
    shown.expect(0, &["1 journal,", "not packed: imported journals"]);
}

#[test]
fn a_trial_can_be_traced_to_its_build_log_and_machine() {
    let sandbox = executed();
    let record = sandbox.record();
    let build = record.made.iter().find(|build| build.variants == ["echo=twice"]).unwrap();
    let shown = sandbox.execute(&["report", "STUDY", "--trial", "hello/idle/3/echo=twice"]);
    let place = &record.sessions[0].place;
    shown.expect(
        0,
        &[
            "trial hello/idle/3/echo=twice",
            "measured:",
            "wall",
            "order: ",
            "session 1, started",
            &place.kernel,
            &build.digest,
        ],
    );
    sandbox.execute(&["report", "STUDY", "--trial", "hello/idle/3/twin"]).expect(0, &["variant baseline"]);
    let shown = sandbox.execute(&["report", "STUDY", "--trial", "hello/idle/99/echo=twice"]);
    shown.expect(2, &["no trial `hello/idle/99/echo=twice`", "blocks: 1 to 6", "baseline, echo=twice, twin"]);
    let shown = sandbox.execute(&["report", "STUDY", "--provenance"]);
    for build in &record.made {
        shown.expect(0, &[&build.digest, "18 trials", &place.host]);
    }
}

#[test]
fn what_is_redacted_names_no_host_user_or_folder_and_says_the_same() {
    let here = executed();
    let (host, folder) = (here.record().sessions[0].place.host.clone(), here.path().display().to_string());
    let journal = fs::read_to_string(&here.journals()[0]).unwrap();
    assert!(journal.contains(&folder) && journal.contains(&format!("\"{host}\"")), "there is something to remove");
    let names_nothing =
        |text: &str| assert!(!text.contains(&folder) && !text.contains(&format!("\"{host}\"")), "{text}");

    let parcel = here.path().join("x.tar.zst");
    let shown = here.execute(&["export", "STUDY", "-o", parcel.to_str().unwrap(), "--redact"]);
    shown.expect(
        0,
        &["packed small into", "removed before sharing", "host names: ", "the folder ", "not packed: records and logs"],
    );
    let there = elsewhere();
    import(&there, &parcel).expect(0, &["files of the study: 2, journals: 1"]);
    let mut imported = fs::read_dir(there.study().join(".bakeoff/imported")).unwrap().map(|e| e.unwrap().path());
    let imported = imported.find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    names_nothing(&fs::read_to_string(imported).unwrap());
    let [ours, theirs] = [&here, &there].map(|sandbox| sandbox.execute(&["report", "STUDY"]).out);
    assert_eq!(ours.replace(&format!("machine: {host}:"), "machine: HOST:"), theirs);

    for format in ["--json", "--all", "--provenance"] {
        let shown = here.execute(&["report", "STUDY", "--redact", format]);
        shown.expect(0, &["removed before sharing"]);
        names_nothing(&shown.out);
    }
    here.execute(&["export", "STUDY", "--redact", "--prefixes", "--force"]).expect(2, &["--redact"]);
}

/// The small study with a source.
fn with_source() -> Sandbox {
    let sum = "4939f2f9ffe14e16351ba6817058ea8acf1cae19c22cd74b20ca35856b9d9b9c";
    let source = format!(
        "[sources.upstream]\nfetch = 'echo a source > \"$DOWNLOAD/source.txt\"'\nsha256 = \"{sum}\"\n[[build]]\nsource = \"upstream\""
    );
    let sandbox = Sandbox::new(&SMALL.replace("[[build]]", &source));
    sandbox.write("hello.out", "hello\n");
    sandbox
}

#[test]
fn sources_travel_on_request_and_prefixes_to_be_looked_at() {
    let here = with_source();
    here.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &[]);
    here.execute(&["report", "STUDY", "--provenance"]).expect(0, &["source upstream: SHA-256"]);
    let parcel = packed(&here, &["--sources", "--prefixes"]);
    let there = elsewhere();
    let shown = import(&there, &parcel);
    shown.expect(0, &["sources checked by hash and added to the cache: 1", "note: prefixes are in"]);
    let imported = there.study().join(".bakeoff/imported");
    assert_eq!(fs::read_dir(imported.join("prefixes")).unwrap().count(), 2);
    assert!(!imported.join("sources").exists());
    assert_eq!(fs::read_dir(there.path().join("cache/builds")).unwrap().count(), 0, "no prefix goes into the cache");
    // Nothing is fetched: the source is there.
    let text = fs::read_to_string(there.study().join("study.toml")).unwrap();
    there.write("study.toml", &text.replace("echo a source", "exit 1; echo"));
    let shown = there.execute(&["build", "STUDY"]);
    shown.expect(0, &["echo=twice: built"]);
    assert!(!shown.err.contains("fetching"), "{}", shown.err);
}

#[test]
fn a_study_without_a_journal_can_be_packed() {
    let sandbox = small();
    let parcel = packed(&sandbox, &[]);
    let there = elsewhere();
    import(&there, &parcel).expect(0, &["the parcel has no journal"]);
    there.execute(&["report", "STUDY"]).expect(2, &["has not run yet"]);
    there.execute(&["report", "STUDY", "--against", "imported"]).expect(2, &["has not run yet"]);
    there.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &[]);
    there.execute(&["report", "STUDY", "--against", "imported"]).expect(2, &["nothing was imported"]);
}

#[test]
fn a_file_that_the_studies_of_a_repository_share_travels_with_each() {
    let here = executed();
    let expect = here.study().join("hello.out");
    fs::rename(&expect, here.path().join("hello.out")).unwrap();
    symlink("../hello.out", &expect).unwrap();
    here.execute(&["export", "STUDY"]).expect(2, &["hello.out` is a link", "replace it with a copy"]);
    fs::create_dir(here.path().join(".git")).unwrap();
    let there = elsewhere();
    import(&there, &packed(&here, &[])).expect(0, &["files of the study: 2"]);
    let travelled = there.study().join("hello.out");
    assert!(!travelled.is_symlink());
    assert_eq!(fs::read(travelled).unwrap(), fs::read(expect).unwrap());
}

#[test]
fn only_whole_lines_are_packed_of_a_journal_and_only_the_latest_if_so_asked() {
    let here = executed();
    here.write("study.toml", &SMALL.replace("echo again", "echo another"));
    here.execute(&["run", "STUDY", "--quiet", "--blocks", "6"]).expect(0, &[]);
    assert_eq!(here.journals().len(), 2);
    let report = here.execute(&["report", "STUDY"]).out;
    for journal in here.journals() {
        let mut text = fs::read(&journal).unwrap();
        text.extend_from_slice(b"{\"line\":\"trial\",\"blo");
        fs::write(&journal, text).unwrap();
    }
    let there = elsewhere();
    import(&there, &packed(&here, &[])).expect(0, &["journals: 2"]);
    let shown = there.execute(&["report", "STUDY"]);
    assert_eq!(shown.out, report);
    assert!(!shown.err.contains("torn"), "{}", shown.err);
    let there = elsewhere();
    import(&there, &packed(&here, &["--latest-only", "--force"])).expect(0, &["journals: 1"]);
    assert_eq!(there.execute(&["report", "STUDY"]).out, report);
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_of_what_is_refused() {
    let here = executed();
    let parcel = packed(&here, &[]);
    let out = parcel.to_str().unwrap();
    let shown = here.execute(&["export", "STUDY", "-o", out]);
    shown.expect(2, &["already exists", "--force"]);
    import(&here, &parcel).expect(2, &["study` already exists"]);
    here.execute(&["import", out]).expect(0, &["imported small into ./small"]);
    here.execute(&["import", out]).expect(2, &["already exists"]);

    let there = elsewhere();
    let mut bytes = fs::read(&parcel).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&parcel, bytes).unwrap();
    import(&there, &parcel).expect(2, &["cannot import"]);
    there.execute(&["import", "STUDY"]).expect(2, &["cannot read"]);
    there
        .execute(&["import", out, "STUDY", "--most", "1K"])
        .expect(2, &["it unpacks to more than the allowed 1024 bytes"]);
    let left: Vec<_> = fs::read_dir(there.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_export_into_the_study_does_not_pack_itself() {
    let here = small();
    let out = here.study().join("small.tar.zst");
    let words = ["export", "STUDY", "--force", "-o", out.to_str().unwrap()];
    here.execute(&words).expect(0, &["2 files of the study"]);
    let first = fs::read(&out).unwrap();
    here.execute(&words).expect(0, &["2 files of the study"]);
    assert!(fs::read(&out).unwrap() == first);
}

#[test]
fn a_study_that_is_executed_meanwhile_can_be_packed() {
    let here = small();
    let words = ["run", "STUDY", "--quiet", "--simulate", "pause:0.01", "--blocks", "600"];
    let mut running = here.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap();
    while here.trials_so_far() < 12 {
        std::thread::yield_now();
    }
    let parcel = packed(&here, &[]);
    running.kill().unwrap();
    running.wait().unwrap();
    let there = elsewhere();
    import(&there, &parcel).expect(0, &["journals: 1"]);
    let shown = there.execute(&["report", "STUDY"]);
    shown.expect(0, &["SIMULATED"]);
    assert!(!shown.err.contains("torn"), "{}", shown.err);
}

#[test]
fn what_a_killed_export_left_goes_with_the_next_one() {
    let sandbox = small();
    let out = sandbox.path().join("small.tar.zst");
    let (left, other) = (sandbox.path().join(".bakeoff-export-x"), sandbox.path().join("small.tar.zst.aside"));
    fs::create_dir(&left).unwrap();
    // It was locked once, and nobody holds the lock.
    fs::write(left.join(".lock"), "").unwrap();
    fs::write(left.join("parcel"), "half").unwrap();
    fs::write(&other, "mine").unwrap();
    sandbox.execute(&["export", "STUDY", "--output", out.to_str().unwrap()]).expect(0, &[]);
    assert!(out.exists() && !left.exists() && other.exists());
}

#[test]
fn a_parcel_goes_to_standard_output_and_nothing_else_does() {
    let here = executed();
    let parcel = fs::read(packed(&here, &[])).unwrap();
    for name in ["-", "/dev/stdout"] {
        let output = here.command(&["export", "STUDY", "-o", name]).output().unwrap();
        assert!(output.status.success() && output.stdout == parcel, "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(!here.path().join("-").exists());
}
