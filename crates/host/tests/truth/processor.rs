//! Processors' time: what a program has used by its own clock is what it is said to have used.

use crate::support::{Place, within};
use bakeoff_host::{End, Job};
use bakeoff_model::metric::Measurements;

/// What it costs at most to begin and to end a small program, in seconds.
const BOUND_S: f64 = 0.005;

#[test]
fn a_spin_takes_what_its_own_clock_says() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("spin 0.5");
    let own_s = place.numbers("out")[0];
    let m = &ended.measurements;
    within("user + sys", m["user"] + m["sys"], [own_s, own_s * 1.01 + BOUND_S]);
    if let Some(cpu_s) = place.measured(&ended, "cgroup_cpu") {
        within("cgroup_cpu", cpu_s, [own_s * 0.99, own_s * 1.01 + BOUND_S]);
    }
    // It counts from the exec on, and has in it what a hypervisor took meanwhile.
    if let Some(cpu_s) = place.measured(&ended, "task_clock") {
        within("task_clock", cpu_s, [own_s * 0.99 - BOUND_S, own_s * 1.01 + BOUND_S + stolen_s(m)]);
    }
    assert!(m["wall"] >= own_s, "{ended:?}");
}

#[test]
fn a_sleep_takes_none() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("rest 0.2 1");
    assert!(ended.measurements["wall"] >= 0.2, "{ended:?}");
    for metric in ["user", "sys", "cgroup_cpu", "task_clock"] {
        let Some(cpu_s) = place.measured(&ended, metric) else { continue };
        within(metric, cpu_s, [0.0, BOUND_S]);
    }
}

/// Children that are waited for: each has a clock of its own.
#[test]
fn children_are_summed() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("forks 4 0.05");
    sums(&place, &ended, 4.0, 0.05);
}

/// 1 + 2 + 4 + 8 of them.
#[test]
fn trees_are_summed() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("tree 3 2 0.03");
    sums(&place, &ended, 15.0, 0.03);
}

#[test]
fn processes_at_once_are_summed() {
    let Some(mut place) = Place::new() else { return };
    let commands: Vec<_> = (0..3).map(|_| place.known("spin 0.1").into()).collect();
    let ended = place.execute(&Job { commands, ..Job::default() });
    assert!(ended.processes.iter().all(|process| process.end == End::Exited(0)), "{ended:?}");
    sums(&place, &ended, 3.0, 0.1);
}

fn sums(place: &Place, ended: &bakeoff_host::JobEnded, processes: f64, each_s: f64) {
    let m = &ended.measurements;
    let whole_s = processes * each_s;
    let bounds = [whole_s * 0.99, whole_s * 1.01 + processes * BOUND_S];
    within("user + sys", m["user"] + m["sys"], bounds);
    for metric in ["cgroup_cpu", "task_clock"] {
        let Some(cpu_s) = place.measured(ended, metric) else { continue };
        let stolen_s = if metric == "task_clock" { stolen_s(m) } else { 0.0 };
        within(metric, cpu_s, [bounds[0] - processes * BOUND_S, bounds[1] + stolen_s]);
    }
}

/// What a hypervisor took of all processors while a trial lasted: a task's clock goes on meanwhile.
fn stolen_s(measurements: &Measurements) -> f64 {
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    measurements.get("steal").map_or(0.0, |share| share * processors * measurements["wall"])
}

/// Nobody waits for what has left its parent and its session; only a cgroup has it in its sums. It is counted, and it is
/// gone afterwards.
#[test]
fn what_daemonises_shows_in_the_cgroup_only() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("daemonise 0.3");
    let m = &ended.measurements;
    within("user + sys", m["user"] + m["sys"], [0.0, 0.1]);
    assert!(m["wall"] >= 0.3, "{ended:?}");
    assert_eq!(ended.leftovers, 1, "{ended:?}");
    let daemon = place.read("out");
    assert!(!std::path::Path::new("/proc").join(daemon.trim()).exists(), "{daemon} is still there");
    if let Some(cpu_s) = place.measured(&ended, "cgroup_cpu") {
        within("cgroup_cpu", cpu_s, [0.3 * 0.99, 0.3 * 1.01 + 3.0 * BOUND_S]);
    }
}
