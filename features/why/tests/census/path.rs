//! The path that ends last, of programs of which it is known who waits for whom. Only a sleep's least time is asserted.

use super::support::Place;
use super::times::accounted;
use bakeoff_why::census::{Blocked, Detail, Path, Report};

pub(crate) const CASES: &[(&str, fn())] = &[
    ("who_waits_for_a_child_waits_for_what_it_sleeps", waits_for_a_child),
    ("who_reads_from_a_peer_waits_for_what_it_sleeps", waits_for_a_peer),
    ("a_convoy_waits_for_sleeps_and_for_no_lock", a_convoy),
    ("nobody_has_a_path_who_did_not_request_it", no_path),
];

/// A subcommand of the program, with its path.
fn walked(what: &str) -> Option<(Report, Path)> {
    let place = Place::new();
    let program = place.program()?;
    let watched = || place.watched(&[&program, what], Detail::Path).map(|(report, _)| report);
    let report = accounted(what, watched)?;
    let path = report.path.clone().unwrap_or_else(|| panic!("{report:?}"));
    let blocked_s: f64 = path.blocked.values().map(|blocked| blocked.time_s).sum();
    assert!(blocked_s <= path.total_s + 1e-6, "the path is a line: {path:?}");
    Some((report, path))
}

/// That a path has sleeps of at least this time, and no waiting for who sleeps.
fn sleeps(path: &Path, each_s: f64, but_not: &[&str]) {
    let Blocked { time_s, times } = path.blocked["clock_nanosleep"];
    // No timer is early.
    assert!(times > 0 && time_s >= 0.995 * each_s * times as f64, "{path:?}");
    assert!(but_not.iter().all(|&call| !path.blocked.contains_key(call)), "{path:?}");
}

fn waits_for_a_child() {
    let Some((report, path)) = walked("waits") else { return };
    sleeps(&path, 0.02, &["wait4"]);
    assert_eq!(path.blocked["clock_nanosleep"].times, 1);
    assert!(report.syscalls["wait4"].spent.blocked_s > 0.0, "{report:?}");
}

fn waits_for_a_peer() {
    let Some((_, path)) = walked("peer") else { return };
    sleeps(&path, 0.02, &["wait4", "read"]);
}

fn a_convoy() {
    let Some((report, path)) = walked("convoy") else { return };
    // All 40, unless a thread that was woken had to wait for a processor.
    sleeps(&path, 0.001, &["futex"]);
    assert!(report.syscalls["futex"].spent.times_blocked > 0, "{report:?}");
}

fn no_path() {
    let place = Place::new();
    let Some(program) = place.program() else { return };
    let Some((report, _)) = place.watched(&[&program, "sleeps"], Detail::Times) else { return };
    assert_eq!((report.path, report.no_path), (None, None));
}
