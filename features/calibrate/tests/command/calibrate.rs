//! `bakeoff calibrate` as its user sees it: the short form, a few real studies, and what is left of the load when it is
//! interrupted or killed.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::Shown;
use bakeoff_calibrate::calibration::Calibration;
use bakeoff_calibrate::calibration::real::Real;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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
fn the_short_form_prints_every_promise_and_what_others_make_of_the_data() {
    let shown = execute(&["--quick", "--studies", "50", "--quiet"]);
    let parts = [
        "promises hold: 50 simulated studies in each world, seed 178.",
        "false difference at 5 % 4 to 5.5 %",
        "95 % interval has the truth 94 to 97 %",
        "false equivalence at 5 % ≤ 5.5 %",
        "false difference at any time ≤ 5 %",
        "The short form: there are too few studies",
        "Mann-Whitney (benchstat)",
        "BCa bootstrap, paired",
        "[3] drift sequential",
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
        .expect(1, &["NO", "A promise holds if the measured number is within its goal"]);
}

#[test]
fn real_studies_are_executed_and_judged() {
    let words = ["--real", "--studies", "20", "--blocks", "6", "--command", "true", "--load", "1", "--quiet"];
    let shown = execute(&[&words[..], &["--json"]].concat());
    let real: Real = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((real.blocks, real.load, real.incomplete), (6, 1, 0));
    for design in [&real.randomised, &real.sequential, &real.randomised_pooled_t] {
        assert_eq!(design.studies, 20);
        assert!(design.interval.is_some_and(|[low, high]| low <= design.rate && design.rate <= high));
    }
    assert!(real.typical_s > 0.0);
    assert_eq!(shown.code, i32::from(real.randomised.is_refuted()));
}

#[test]
fn what_is_not_possible_is_refused() {
    let failing = ["--real", "--command", "exit 3", "--load", "0"];
    execute(&failing).expect(4, &["error: the command fails: exited with code 3"]);
    execute(&["--command", "true"]).expect(2, &["--real"]);
    execute(&["--real", "--quick"]).expect(2, &["cannot be used with"]);
    execute(&["--studies", "5"]).expect(2, &["5 is not in 20.."]);
}

/// Processes with the folder's name in their command line, other than the one that was started here.
fn of_folder(folder: &Path, child: &Child) -> usize {
    let name = folder.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let line = fs::read(path.join("cmdline")).ok()?;
        (path.file_name()?.to_str()? != child.id().to_string()).then_some(line)
    });
    processes.filter(|line| String::from_utf8_lossy(line).contains(&name)).count()
}

fn begin_and_wait_for_load(folder: &Path) -> Child {
    let words = ["--real", "--studies", "1000000", "--command", "true", "--load", "2"];
    let child = command(folder, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while of_folder(folder, &child) < 3 {
        std::thread::yield_now();
    }
    child
}

#[test]
fn an_interrupt_ends_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin_and_wait_for_load(folder.path());
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(of_folder(folder.path(), &child), 0);
}

#[test]
fn a_kill_ends_the_load_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin_and_wait_for_load(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    // The launcher sees that we are gone; if it did not, this would never end.
    while of_folder(folder.path(), &child) > 0 {
        std::thread::yield_now();
    }
}
