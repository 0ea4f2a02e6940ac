//! Somebody sets the system's clock while a study is run: of the program alone, by faketime, so that the machine's clock
//! stays as it is.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{each_trial_once, small};
use std::path::PathBuf;
use std::process::Stdio;

/// The library that changes what a program hears of the time.
fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let libraries = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let found = libraries.into_iter().find(|library| library.exists());
    if found.is_none() {
        println!("skipped: there is no libfaketime (package faketime)");
    }
    found
}

#[test]
fn a_clock_that_is_set_is_named_and_changes_no_duration() {
    let Some(library) = faketime() else { return };
    let sandbox = small();
    let clock = sandbox.path().join("clock");
    let set_clock = |by: &str| {
        let new = sandbox.path().join("clock.new");
        std::fs::write(&new, format!("{by}\n")).unwrap();
        std::fs::rename(&new, &clock).unwrap();
    };
    set_clock("+0");
    let words = ["run", "STUDY", "--blocks", "40", "--quiet"];
    let mut command = sandbox.command(&words);
    command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &clock).env("FAKETIME_NO_CACHE", "1");
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while sandbox.trials_so_far() < 3 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    set_clock("-86400");
    let report = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the system's clock was set while trials ran (86400 s back)"), "{report}");
    let record = sandbox.record();
    each_trial_once(&record, 40 * 3);
    for trial in &record.trials {
        assert!((0.0..60.0).contains(&trial.value("wall").unwrap()), "{trial:?}");
    }
}
