//! Jobs that probes watch: what they tell of known doings, the limits that they see to, and that nothing of their
//! groups is left, whoever was killed.

use crate::owner::Owner;
use crate::support::{GROUP, LONG_S, Listener, Scratch, exists};
use bakeoff_host::{End, Job, JobEnded, Launcher, Limits, Options, Patience};
use std::path::PathBuf;

const MIB: f64 = 1_048_576.0;
const PERF: &[&str] = &["task_clock", "page_faults", "context_switches", "migrations", "cgroup_cpu"];

fn watched(wanted: &[&str]) -> Launcher {
    Launcher::start_with(&Options { watched: Some(wanted), ..Options::default() }).unwrap()
}

fn execute(launcher: &mut Launcher, scratch: &Scratch, scripts: &[&str], limits: Limits) -> JobEnded {
    let commands = scripts.iter().map(|script| scratch.sh(script).into()).collect();
    launcher.launch(&Job { commands, limits, ..Job::default() }).unwrap();
    launcher.wait(Patience::SecondInterrupt).unwrap()
}

/// The reason for which a launcher does not tell a metric.
fn unavailable(launcher: &Launcher, metric: &str) -> Option<String> {
    launcher.unavailable().into_iter().find(|reason| reason.metrics.iter().any(|name| name == metric)).map(|r| r.why)
}

/// Folders of Bakeoffs with this process id, in any hierarchy.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                let to = if name.starts_with(&format!("bakeoff-{pid}-")) { &mut found } else { &mut folders };
                to.push(entry.path());
            }
        }
    }
    found
}

/// A launcher shares its memory with each child until that runs its program; counters must bear that.
#[test]
fn every_job_of_many_is_counted() {
    let scratch = Scratch::new();
    let mut launcher = watched(PERF);
    if let Some(why) = unavailable(&launcher, "page_faults") {
        return println!("skipped: {why}");
    }
    let mut faults = || execute(&mut launcher, &scratch, &["exec true"], Limits::default()).measurements["page_faults"];
    let counts: Vec<f64> = (0..100).map(|_| faults()).collect();
    assert!(counts.iter().all(|faults| (20.0..2000.0).contains(faults)), "{counts:?}");
}

#[test]
fn processes_at_once_are_counted_together() {
    let scratch = Scratch::new();
    let mut launcher = watched(PERF);
    let touch = "exec dd if=/dev/zero of=/dev/null bs=16M count=1 2> /dev/null";
    let one = execute(&mut launcher, &scratch, &[touch], Limits::default()).measurements;
    let three = execute(&mut launcher, &scratch, &[touch; 3], Limits::default()).measurements;
    println!("{one:?}\n{three:?}");
    for metric in ["page_faults", "task_clock", "cgroup_cpu", "rchar", "minflt"] {
        if let Some(why) = unavailable(&launcher, metric) {
            println!("skipped: {metric}: {why}");
        } else if metric.contains('c') && metric != "rchar" {
            assert!(three[metric] > 1.3 * one[metric], "{metric}");
        } else {
            assert!((three[metric] / one[metric] - 3.0).abs() < 0.1, "{metric}");
        }
    }
    if unavailable(&launcher, "rchar").is_none() {
        assert!((16.0 * MIB..17.0 * MIB).contains(&one["rchar"]), "{one:?}");
    }
}

/// What each process read is known by what the launcher's own account grows by.
#[test]
fn what_a_process_read_is_its_own_and_its_wait_is_measured_only_where_it_is_wanted() {
    let scratch = Scratch::new();
    for wanted in [&[][..], &["run_delay"]] {
        let mut launcher = watched(wanted);
        if let Some(why) = unavailable(&launcher, "rchar").or_else(|| unavailable(&launcher, "run_delay")) {
            return println!("skipped: {why}");
        }
        let mut read = |script: &str| {
            let told = execute(&mut launcher, &scratch, &[script], Limits::default()).measurements;
            assert_eq!(told.contains_key("run_delay"), !wanted.is_empty(), "{told:?}");
            told["rchar"]
        };
        let nothing = read("exec true");
        let dd = "dd if=/dev/zero of=/dev/null bs=1M count=1 2> /dev/null";
        assert!(read(dd) >= MIB, "of a child that was waited for");
        let stray = format!("({dd}; exec sleep {LONG_S}) & exec true");
        assert!(read(&stray) < MIB, "of one that nobody waited for");
        assert_eq!(read("exec true").to_bits(), nothing.to_bits(), "whatever was executed before");
    }
}

#[test]
fn a_group_tells_of_a_job_as_wait4_does_and_of_more() {
    let scratch = Scratch::new();
    let mut launcher = watched(GROUP);
    if let Some(why) = unavailable(&launcher, "cgroup_cpu") {
        return println!("skipped: {why}");
    }
    let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let waited = execute(&mut launcher, &scratch, &[spin], Limits::default()).measurements;
    let cpu_s = waited["user"] + waited["sys"];
    assert!((waited["cgroup_cpu"] - cpu_s).abs() < 0.02 * cpu_s + 0.003, "{waited:?}");
    // A child that nobody waits for counts in the group only.
    scratch.fifo("done");
    let stray = format!("({spin}; echo > done; exec sleep {LONG_S}) & read x < done");
    let ended = execute(&mut launcher, &scratch, &[&stray], Limits::default());
    assert_eq!(ended.leftovers, 1, "{ended:?}");
    let told = ended.measurements;
    assert!(told["cgroup_cpu"] > 0.5 * cpu_s && told["user"] + told["sys"] < 0.5 * cpu_s, "{told:?}");
    match told.get("pids_peak") {
        Some(&most) => assert!((most - 2.0).abs() < 1e-9, "{told:?}"),
        None => println!("skipped: pids_peak"),
    }
}

#[test]
fn who_exceeds_the_memory_limit_is_killed_and_the_next_one_is_not() {
    let scratch = Scratch::new();
    let mut launcher = watched(GROUP);
    let touch = "exec dd if=/dev/zero of=/dev/null bs=64M count=1";
    let limits = |mib: u64| Limits { memory_bytes: Some(mib << 20), ..Limits::default() };
    if let Some((_, why)) = launcher.refused(&limits(32)).first() {
        return println!("skipped: {why}");
    }
    let mut end = |limits| execute(&mut launcher, &scratch, &[touch], limits).processes[0].end.clone();
    assert_eq!(end(limits(32)), End::OutOfMemory);
    assert_eq!(end(limits(128)), End::Exited(0));
    assert_eq!(end(Limits::default()), End::Exited(0));
}

#[test]
fn what_a_killed_bakeoff_left_is_removed_by_the_next() {
    let scratch = Scratch::new();
    if let Some(why) = unavailable(&watched(GROUP), "cgroup_cpu") {
        return println!("skipped: {why}");
    }
    scratch.fifo("ready");
    let mut owner = Owner::start_watched(&scratch, "second", &format!("echo $$ > ready; exec sleep {LONG_S}"));
    let mut ready = Listener::open(&scratch.path("ready"));
    let trial = ready.line();
    let dead = owner.process.id();
    assert!(!groups_of(dead).is_empty());
    owner.process.kill().unwrap();
    owner.process.wait().unwrap();
    // Another Bakeoff than this one, which may have looked already.
    let next = Owner::start_watched(&scratch, "second", "true");
    let pid = next.process.id();
    let _ = next.report();
    assert!(groups_of(dead).is_empty(), "{:?}", groups_of(dead));
    assert!(!exists(&trial), "process {trial} lives on");
    assert!(groups_of(pid).is_empty(), "{:?}", groups_of(pid));
}
