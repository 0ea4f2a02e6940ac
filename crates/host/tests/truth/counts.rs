//! Bytes, calls, faults, switches and processes: numbers that a program makes exactly, and that are told exactly, or as
//! nearly as is said here.

use crate::support::{Place, skipped, within};
use bakeoff_host::JobEnded;

/// How much more the one has than the other; none if it is not measured here.
fn more(place: &Place, ended: &JobEnded, than: &JobEnded, metric: &str) -> Option<f64> {
    Some(place.measured(ended, metric)? - place.measured(than, metric)?)
}

#[test]
fn bytes_and_calls_are_exact() {
    let Some(mut place) = Place::new() else { return };
    let (calls, bytes) = (1000.0, 4096.0);
    let nothing = place.ended("nothing");
    let ended = place.ended(&format!("io {calls} {bytes}"));
    for (metric, expect) in [("wchar", calls * bytes), ("rchar", calls * bytes), ("syscw", calls), ("syscr", calls)] {
        let Some(count) = more(&place, &ended, &nothing, metric) else { continue };
        assert_eq!(count, expect, "{metric}");
    }
}

/// Past the page cache, so that a disk is written and read.
#[test]
fn storage_is_told_apart_from_the_page_cache() {
    let Some(mut place) = Place::new() else { return };
    let (calls, bytes) = (64.0, 65536.0);
    let nothing = place.ended("nothing");
    let command = place.known(&format!("direct {calls} {bytes}"));
    let ended = place.execute(&bakeoff_host::Job { commands: vec![command.into()], ..Default::default() });
    if ended.processes[0].end == bakeoff_host::End::Exited(77) {
        return skipped("bytes of storage", "this file system has no O_DIRECT");
    }
    assert_eq!(ended.processes[0].end, bakeoff_host::End::Exited(0), "{}", place.read("err"));
    let whole = calls * bytes;
    if ended.measurements["oublock"] == 0.0 {
        return skipped("bytes of storage", "the file system of temporary files has no block device of its own");
    }
    // The file's own blocks and the file system's for them; what else the file system writes, it writes by itself.
    for (metric, unit) in [("write_bytes", 1.0), ("oublock", 512.0), ("read_bytes", 1.0), ("inblock", 512.0)] {
        let Some(count) = more(&place, &ended, &nothing, metric) else { continue };
        within(metric, count * unit, [whole, whole * 1.1]);
    }
    for metric in ["cgroup_write_bytes", "cgroup_read_bytes"] {
        let Some(count) = more(&place, &ended, &nothing, metric) else { continue };
        within(metric, count, [whole, whole * 1.1]);
    }
}

/// The stack of a program lies elsewhere each time, and needs a page more or less.
#[test]
fn pages_that_are_touched_are_faults() {
    let Some(mut place) = Place::new() else { return };
    let pages = 10_000.0;
    let nothing = place.ended("nothing");
    let ended = place.ended(&format!("touch {}", pages * 4096.0));
    for metric in ["minflt", "page_faults"] {
        let Some(count) = more(&place, &ended, &nothing, metric) else { continue };
        within(metric, count, [pages - 20.0, pages + 20.0]);
    }
}

/// Each rest leaves the processor once. Who is woken late has not been switched more often; who is pushed aside has, but
/// that counts as involuntary.
#[test]
fn rests_are_voluntary_switches() {
    let Some(mut place) = Place::new() else { return };
    let rests = 300.0;
    let nothing = place.ended("nothing");
    let ended = place.ended(&format!("rest 0.0005 {rests}"));
    if let Some(count) = more(&place, &ended, &nothing, "nvcsw") {
        within("nvcsw", count, [rests - 3.0, rests + 30.0]);
    }
    if let Some(count) = place.measured(&ended, "context_switches") {
        let involuntary = ended.measurements["nivcsw"];
        within("context_switches", count, [rests - 3.0, rests + 30.0 + involuntary]);
    }
}

#[test]
fn processes_at_once_are_counted() {
    let Some(mut place) = Place::new() else { return };
    let ended = place.ended("forks 7 0");
    if let Some(most) = place.measured(&ended, "pids_peak") {
        assert_eq!(most, 8.0, "7 children and their parent");
    }
    let ended = place.ended("nothing");
    if let Some(most) = place.measured(&ended, "pids_peak") {
        assert_eq!(most, 1.0, "a program without children");
    }
}

/// More that want a processor than there are: what one gets, the others wait for.
#[test]
fn who_waits_for_a_processor_is_seen_to_wait() {
    let Some(mut place) = Place::new() else { return };
    let limits = bakeoff_host::Limits { cpus: Some(vec![first_processor()]), ..Default::default() };
    if !place.can(&limits) {
        return;
    }
    let commands: Vec<_> = (0..2).map(|_| place.known("spin 0.3").into()).collect();
    let ended = place.execute(&bakeoff_host::Job { commands, limits, ..Default::default() });
    // As long as both are there, one of them waits. Whoever else wants that processor only adds to it.
    if let Some(delay_s) = place.measured(&ended, "run_delay") {
        assert!(delay_s >= 0.28, "{delay_s} s of waiting");
    }
    if let Some(pressure_s) = place.measured(&ended, "pressure_cpu") {
        assert!(pressure_s >= 0.28, "{pressure_s} s of pressure");
    }
    assert!(ended.measurements["wall"] >= 0.6, "{ended:?}");
    if let Some(switches) = place.measured(&ended, "nivcsw") {
        assert!(switches >= 1.0, "one of them was pushed aside");
    }
}

/// The first processor that we may use.
pub(crate) fn first_processor() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    list.split([',', '-']).next().unwrap().parse().unwrap()
}
