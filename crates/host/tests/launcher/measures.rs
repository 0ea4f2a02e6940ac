//! Physical truth: what is measured is what happened.

use crate::support::{Scratch, execute};
use bakeoff_host::{Command, End, Launcher, Patience, now_unix_s};
use bakeoff_model::metric::{METRICS, Metric};
use std::collections::BTreeSet;
use std::hint::black_box;

const MIB: f64 = 1_048_576.0;
const SPIN: &str = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

#[test]
fn every_metric_has_a_value() {
    let ended = execute(&Scratch::new().command(&["true"]));
    let told: BTreeSet<&str> = ended.measurements.keys().collect();
    let own = |metric: &&Metric| metric.name == "wall" || metric.source.starts_with("wait4: ");
    let known: BTreeSet<&str> = METRICS.iter().filter(own).map(|metric| &*metric.name).collect();
    assert_eq!(told, known);
    assert!(ended.measurements["minflt"] > 0.0);
}

#[test]
fn sleeping_takes_time_but_no_processor() {
    let before = now_unix_s();
    let ended = execute(&Scratch::new().command(&["sleep", "0.2"]));
    let (wall_s, after) = (ended.measurements["wall"], now_unix_s());
    assert!(wall_s >= 0.2, "{ended:?}");
    assert!(ended.measurements["user"] + ended.measurements["sys"] < 0.2, "{ended:?}");
    assert!(ended.measurements["nvcsw"] >= 1.0, "{ended:?}");
    assert!(before <= ended.started_unix_s && ended.started_unix_s + wall_s <= after + 0.001, "{ended:?}");
}

#[test]
fn spinning_takes_user_time() {
    let ended = execute(&Scratch::new().sh(SPIN));
    let (user_s, wall_s) = (ended.measurements["user"], ended.measurements["wall"]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    assert!(user_s > 0.0 && user_s + ended.measurements["sys"] <= wall_s * processors + 0.02, "{ended:?}");
}

#[test]
fn descendants_that_were_waited_for_count() {
    let ended = execute(&Scratch::new().sh(&format!("sh -c '{SPIN}' & wait")));
    let idle = execute(&Scratch::new().sh("sh -c : & wait"));
    assert!(ended.measurements["user"] > idle.measurements["user"], "{ended:?} {idle:?}");
}

#[test]
fn touched_memory_shows() {
    let scratch = Scratch::new();
    if !scratch.has_perl() {
        return;
    }
    let command = scratch.command(&["perl", "-e", "$x = 'x' x (64 << 20)"]);
    let ended = execute(&command);
    assert!(ended.measurements["maxrss"] >= 64.0 * MIB, "{ended:?}");
    // The peak of the trial before is not that of the next one.
    let mut launcher = Launcher::start(None).unwrap();
    let mut peak =
        |command: &Command| launcher.execute(command, Patience::SecondInterrupt).unwrap().measurements["maxrss"];
    assert!(peak(&command) >= 64.0 * MIB);
    assert!(peak(&scratch.command(&["true"])) < 8.0 * MIB);
}

#[test]
fn our_own_memory_does_not_show() {
    let fat = black_box(vec![1_u8; 300 << 20]);
    let mut launcher = Launcher::start(None).unwrap();
    let ended = launcher.execute(&Scratch::new().command(&["true"]), Patience::SecondInterrupt).unwrap();
    let (peak, floor) = (ended.measurements["maxrss"], launcher.memory_floor_bytes().unwrap());
    drop(black_box(fat));
    println!("/bin/true: {peak} B; the launcher itself: {floor} B");
    assert!(peak > 0.0 && peak <= 1.4 * MIB, "{peak}");
    assert!(floor <= 300 << 10, "{floor}");
}

/// Arguments and environment pass through the launcher's memory, but only the command that has them shows them.
#[test]
fn a_large_environment_does_not_show_in_the_next_peak() {
    let scratch = Scratch::new();
    let mut launcher = Launcher::start(None).unwrap();
    let mut large = scratch.command(&["true"]);
    large.env.extend((0..10).map(|n| (format!("X{n}"), "x".repeat(100_000))));
    let mut peak = |command: &Command| {
        let ended = launcher.execute(command, Patience::SecondInterrupt).unwrap();
        assert_eq!(ended.end, End::Exited(0));
        ended.measurements["maxrss"]
    };
    let (with, after) = (peak(&large), peak(&scratch.command(&["true"])));
    assert!(with > 1.4 * MIB, "{with}");
    assert!(after <= 1.4 * MIB, "{after}");
}
