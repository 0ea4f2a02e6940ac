//! Confinement: what a program is told to live in is what it finds. It prints what it sees.

use crate::counts::first_processor;
use crate::support::{MIB, Place, skipped, within};
use bakeoff_host::{Command, End, Job, Limits};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn processors_are_those_that_were_asked_for() {
    let Some(mut place) = Place::new() else { return };
    let cpu = first_processor();
    let limits = Limits { cpus: Some(vec![cpu]), ..Limits::default() };
    if !place.can(&limits) {
        return;
    }
    place.within(limits, "affinity");
    assert_eq!(place.numbers("out"), [f64::from(cpu)]);
    // The one before confines nobody after it.
    place.ended("affinity");
    let ours = std::thread::available_parallelism().unwrap().get();
    assert_eq!(place.numbers("out").len(), ours);
}

#[test]
fn the_real_time_class_is_had_where_it_may_be() {
    let Some(mut place) = Place::new() else { return };
    place.ended("scheduler");
    assert_eq!(place.numbers("out"), [0.0, 0.0]);
    let limits = Limits { realtime: Some(7), ..Limits::default() };
    if !place.can(&limits) {
        return;
    }
    place.within(limits, "scheduler");
    assert_eq!(place.numbers("out"), [f64::from(libc::SCHED_FIFO), 7.0]);
}

/// Addresses of the stack and of the heap.
#[test]
fn addresses_are_random_unless_they_are_not_to_be() {
    let Some(mut place) = Place::new() else { return };
    let mut seen = |aslr: bool| -> Option<BTreeSet<String>> {
        let limits = Limits { aslr: Some(aslr), ..Limits::default() };
        if !place.can(&limits) {
            return None;
        }
        let addresses = (0..5).map(|_| {
            place.within(limits.clone(), "address");
            place.read("out")
        });
        Some(addresses.collect())
    };
    if let Some(addresses) = seen(false) {
        assert_eq!(addresses.len(), 1, "{addresses:?}");
    }
    let of_system = std::fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap_or_default();
    if of_system.trim() != "2" {
        return skipped("random addresses", "kernel.randomize_va_space is not 2 on this machine");
    }
    if let Some(addresses) = seen(true) {
        assert_eq!(addresses.len(), 5, "{addresses:?}");
    }
}

#[test]
fn the_environment_is_exactly_what_was_declared() {
    let Some(mut place) = Place::new() else { return };
    let declared = [("EMPTY", ""), ("LINES", "a\nb"), ("UMLAUT", "ä"), ("EQUALS", "a=b")];
    let env: BTreeMap<String, String> = declared.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let command = Command { env: env.clone(), ..place.known("environment") };
    let ended = place.execute(&Job { commands: vec![command.into()], ..Job::default() });
    assert_eq!(ended.processes[0].end, End::Exited(0), "{ended:?}");
    let out = place.read("out");
    let seen = out.split_terminator('\0').map(|variable| variable.split_once('=').unwrap());
    assert_eq!(seen.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<BTreeMap<_, _>>(), env);
}

#[test]
fn memory_is_no_more_than_allowed() {
    let Some(mut place) = Place::new() else { return };
    let limit = 64.0 * MIB;
    let limits = Limits { memory_bytes: Some(limit as u64), ..Limits::default() };
    if !place.can(&limits) {
        return;
    }
    let words = format!("touch {}", 2.0 * limit);
    let job = Job { commands: vec![place.known(&words).into()], limits: limits.clone(), ..Job::default() };
    let ended = place.execute(&job);
    assert_eq!(ended.processes[0].end, End::OutOfMemory, "{ended:?}");
    if let Some(peak) = place.measured(&ended, "cgroup_peak") {
        within("cgroup_peak at the limit", peak, [0.9 * limit, limit]);
    }
    // Half of it is allowed, and so is all of it when nothing is forbidden.
    place.within(limits, &format!("touch {}", 0.5 * limit));
    place.ended(&words);
}

#[test]
fn half_a_processor_takes_twice_as_long() {
    let Some(mut place) = Place::new() else { return };
    let limits = Limits { cpu_limit: Some(0.5), ..Limits::default() };
    if !place.can(&limits) {
        return;
    }
    // A machine that is busy gives less; none gives more.
    let mut others: Vec<f64> = vec![];
    for _ in 0..5 {
        let ended = place.within(limits.clone(), "spin 1");
        let m = &ended.measurements;
        let share = (m["user"] + m["sys"]) / m["wall"];
        assert!(share <= 0.575, "{share} of a processor");
        if share >= 0.425 {
            return;
        }
        others.extend(place.measured(&ended, "foreign_cpu"));
    }
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(others.len() == 5 && least > 0.25, "less than half a processor, though others took but {others:?}");
    skipped("no less than the limit", &format!("others take {:.0} % of this machine's processors", 100.0 * least));
}
