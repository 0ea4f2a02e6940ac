//! `bakeoff calibrate` as its user sees it: the short form, its JSON, and what is refused.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use bakeoff_calibrate::calibration::Calibration;
use bakeoff_calibrate::searches::Searches;
use std::fs;
use std::path::Path;
use std::process::Command;

/// `bakeoff calibrate` with these words, and a folder of its own for temporary files.
fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
    command.arg("calibrate").args(words).current_dir(folder).env("TMPDIR", folder).env_remove("COLUMNS");
    command
}

fn execute(words: &[&str]) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    let shown = Shown::of(&command(folder.path(), words).output().unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    shown
}

#[test]
fn the_short_form_prints_every_promise() {
    let shown = execute(&["--quick", "--studies", "50", "--quiet"]);
    let parts = [
        "promises held: up to 50 simulated studies in each world, seed 178.",
        "false difference at 5 % 4 to 5.5 %",
        "95 % interval contains the true ratio 94 to 97 %",
        "false equivalence at 5 % ≤ 5.5 %",
        "false difference at any time ≤ 5 %",
        "The short form simulates too few studies",
    ];
    shown.expect(0, &parts);
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    assert_eq!(shown.err, "");
}

#[test]
fn machines_read_the_same_and_threads_change_nothing() {
    let words = |threads| vec!["--quick", "--studies", "20", "--quiet", "--json", "-j", threads];
    let shown = execute(&words("1"));
    let calibration: Calibration = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((calibration.studies, calibration.seed, calibration.short), (20, 178, true));
    assert_eq!(shown.code, i32::from(!calibration.holds()));
    assert_eq!(shown.out, execute(&words("3")).out);
}

/// Held to the goals of 10,000 studies, 20 cannot but miss some of them.
#[test]
fn a_promise_that_does_not_hold_is_told_by_the_exit_code() {
    execute(&["--studies", "20", "--quiet"])
        .expect(1, &["NO", "A promise holds if the measured number meets its goal"]);
}

#[test]
fn searches_reach_their_goals() {
    let shown = execute(&["--searches", "--quick", "--quiet", "--seed", "55"]);
    let parts = [
        "promises held: up to 20 simulated searches in each world, seed 55.",
        "128 commits",
        "within log₂ n + 3",
        "trials ÷ full",
        "n is the number of searches in each.",
    ];
    shown.expect(0, &parts);
    assert!(shown.out.lines().all(|line| line.chars().count() <= 80), "{}", shown.out);
    let words =
        |threads| vec!["--searches", "spaces", "--studies", "20", "--quick", "--quiet", "--json", "-j", threads];
    let shown = execute(&words("1"));
    let searches: Searches = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((searches.searches, searches.seed, searches.short), (20, 178, true));
    assert_eq!(shown.code, i32::from(!searches.hold()));
    assert_eq!(shown.out, execute(&words("2")).out);
}

#[test]
fn what_is_not_possible_is_refused() {
    execute(&["--searches", "chess"]).expect(2, &["races, layouts, spaces, bisections"]);
    execute(&["--studies", "5"]).expect(2, &["5 is not in 20.."]);
}
