//! Elapsed time, held against the clocks that the programs read themselves.

use crate::support::{LONG_S, NOT_LONG_S, Place, within};
use bakeoff_host::{End, Job, Limits, now_unix_s};

/// The clocks of the same kernel, read by two processes, do not differ; the time of day may be set in between.
const SAME_S: f64 = 0.001;

/// Under load a process may be left standing before its clock is read and after it. The best of several is not.
const TRIES: usize = 10;
const LITTLE_S: f64 = 0.01;

#[test]
fn a_sleep_lasts_as_long_as_its_own_clock_says() {
    let Some(mut place) = Place::new() else { return };
    let mut least_s = f64::INFINITY;
    for _ in 0..TRIES {
        let before = now_unix_s();
        let ended = place.ended("interval 0.05");
        let after = now_unix_s();
        let [began, done, unix_began, unix_done] = place.numbers("out")[..] else { panic!("{}", place.read("out")) };
        let (started, wall_s) = (ended.started_unix_s, ended.measurements["wall"]);
        assert!(wall_s >= done - began, "{wall_s} is less than {}", done - began);
        // In the order in which it happened.
        let order = [before, started, unix_began, unix_done, started + wall_s, after];
        assert!(order.windows(2).all(|pair| pair[0] <= pair[1] + SAME_S), "{order:?}");
        least_s = least_s.min(wall_s - (done - began));
    }
    within("launch and exit", least_s, [0.0, LITTLE_S]);
}

#[test]
fn processes_at_once_overlap_and_add_up() {
    let Some(mut place) = Place::new() else { return };
    let commands: Vec<_> = (0..4)
        .map(|n| bakeoff_host::Command { stdout: place.path(&format!("out{n}")), ..place.known("interval 0.3") }.into())
        .collect();
    let ended = place.execute(&Job { commands, ..Job::default() });
    assert_eq!(ended.processes.len(), 4, "{ended:?}");
    let own: Vec<Vec<f64>> = (0..4).map(|n| place.numbers(&format!("out{n}"))).collect();
    let last_begin = own.iter().map(|stamps| stamps[0]).fold(f64::MIN, f64::max);
    let first_end = own.iter().map(|stamps| stamps[1]).fold(f64::MAX, f64::min);
    assert!(last_begin < first_end, "they did not overlap: {own:?}");
    let whole = &ended.measurements;
    let mut summed_s = 0.0;
    let mut faults = 0.0;
    for (process, stamps) in ended.processes.iter().zip(&own) {
        assert_eq!(process.end, End::Exited(0), "{process:?}");
        let m = &process.measurements;
        assert!(m["wall"] >= stamps[1] - stamps[0], "{process:?}");
        assert!(process.started_unix_s <= stamps[2] + SAME_S, "{process:?}");
        assert!(m["wall"] <= whole["wall"], "{process:?}");
        summed_s += m["user"] + m["sys"];
        faults += m["minflt"];
    }
    // Times of microseconds as sums of floating-point numbers.
    within("user + sys", whole["user"] + whole["sys"], [summed_s - 1e-6, summed_s + 1e-6]);
    assert_eq!(whole["minflt"], faults);
    let (first, last) =
        (own.iter().map(|s| s[0]).fold(f64::MAX, f64::min), own.iter().map(|s| s[1]).fold(0.0, f64::max));
    assert!(whole["wall"] >= last - first, "{whole:?}");
    // They did overlap: together they took less than one after the other would have.
    assert!(whole["wall"] < 4.0 * 0.3 || whole["wall"] < last - first + NOT_LONG_S, "{whole:?}");
    let mean_s = ended.processes.iter().map(|process| process.measurements["wall"]).sum::<f64>() / 4.0;
    within("each_wall", whole["each_wall"], [mean_s - 1e-6, mean_s + 1e-6]);
}

#[test]
fn what_takes_too_long_is_killed_then_and_not_before() {
    let Some(mut place) = Place::new() else { return };
    let limits = Limits { timeout_s: Some(0.3), ..Limits::default() };
    if !place.can(&limits) {
        return;
    }
    let job = Job { commands: vec![place.known(&format!("rest {LONG_S} 1")).into()], limits, ..Job::default() };
    let ended = place.execute(&job);
    assert_eq!(ended.processes[0].end, End::TimedOut, "{ended:?}");
    within("wall of what timed out", ended.measurements["wall"], [0.3, NOT_LONG_S]);
    // What ends in time is none of its business.
    let job = Job { commands: vec![place.known("nothing").into()], ..job };
    let job = Job { limits: Limits { timeout_s: Some(NOT_LONG_S), ..Limits::default() }, ..job };
    assert_eq!(place.execute(&job).processes[0].end, End::Exited(0));
}
