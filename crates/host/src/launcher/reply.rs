//! What the launcher's last word on a job means: measurements by their names, and ends. It asks the launcher nothing.

use super::program::Program;
use super::wire::{self, JobOver, ProcessOver};
use crate::command::{End, Ended};
use crate::job::{Achieved, JobEnded};
use crate::now_unix_s;
use crate::probe::Zombie;
use bakeoff_model::metric::Measurements;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::sync::Arc;

/// As many metrics as a trial mostly has, with those that probes and others add.
const USUAL: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) ended: JobEnded,
    /// CLOCK_MONOTONIC of the launch.
    pub(super) launched_ns: u64,
    pub(super) zombies: Vec<Zombie>,
}

/// CLOCK_MONOTONIC, in nanoseconds.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Reads the body of the reply. `programs` are those of the processes; `interrupted` if we had it killed.
pub(super) fn read(body: &[u8], is_load: bool, programs: &[Arc<Program>], interrupted: bool) -> Option<Report> {
    let over: JobOver = wire::read(body, 0)?;
    let started_unix_s = |launched_ns: u64| now_unix_s() - seconds(now_ns().saturating_sub(launched_ns));
    let alone = programs.len() == 1;
    let mut report = Report { launched_ns: over.launched_ns, ..Report::default() };
    let ended = &mut report.ended;
    ended.started_unix_s = started_unix_s(over.launched_ns);
    ended.started_monotonic_s = seconds(over.launched_ns);
    ended.leftovers = u32::try_from(over.leftovers).unwrap_or(u32::MAX);
    ended.rounds = is_load.then(|| achieved(&over.achieved));
    for (nth, program) in programs.iter().enumerate() {
        let at = size_of::<JobOver>() + nth * size_of::<ProcessOver>();
        let over: ProcessOver = wire::read(body, at)?;
        ended.processes.push(Ended {
            end: end(&over, program, interrupted),
            started_unix_s: started_unix_s(over.launched_ns),
            measurements: measurements(&over),
            leftovers: if alone { ended.leftovers } else { 0 },
        });
        for (step, name) in [(wire::AFFINITY, "cpus"), (wire::REALTIME, "realtime"), (wire::PERSONALITY, "aslr")] {
            if over.without & (1 << step) != 0 && !ended.without.iter().any(|(known, _)| known == name) {
                ended.without.push((name.to_owned(), errno_in_words(over.without_errno)));
            }
        }
        report.zombies.push(Zombie {
            io_before: words(&over.io_before, over.io_before_length),
            io: words(&over.io, over.io_length),
            schedstat: words(&over.schedstat, over.schedstat_length),
        });
    }
    ended.measurements = together(&ended.processes, seconds(over.ended_ns.saturating_sub(over.launched_ns)));
    Some(report)
}

pub(super) fn achieved(achieved: &wire::Achieved) -> Achieved {
    Achieved {
        alive: u32::try_from(achieved.alive).unwrap_or(u32::MAX),
        ended: achieved.ended,
        failed: achieved.failed,
        first_failed: usize::try_from(achieved.first_failed).ok().and_then(|place| place.checked_sub(1)),
        cpu_s: achieved.cpu_us as f64 / 1e6,
        seconds: seconds(achieved.ns),
    }
}

pub(super) fn errno_in_words(errno: u32) -> String {
    io::Error::from_raw_os_error(errno.cast_signed()).to_string()
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn words(bytes: &[u8], length: u32) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(length as usize)]).into_owned()
}

fn end(over: &ProcessOver, program: &Program, interrupted: bool) -> End {
    if over.failed_step != 0 {
        let fault = program.explain(over.failed_step, over.failed_errno);
        return End::NotStarted { what: fault.what, why: fault.why };
    }
    // Of a status by wait4, the low seven bits are the signal, the next byte is the code (wait(2)).
    match (over.status & 0x7f, (over.status >> 8) & 0xff) {
        (libc::SIGKILL, _) if over.flags & wire::TIMED_OUT != 0 => End::TimedOut,
        (libc::SIGKILL, _) if over.flags & wire::KILLED != 0 && interrupted => End::Interrupted,
        (0, code) => End::Exited(code),
        (signal, _) => End::Signalled(signal),
    }
}

/// Elapsed time and the fields of a rusage that Linux maintains, in base units. It gives memory in KiB (getrusage(2)).
fn measurements(over: &ProcessOver) -> Measurements {
    if over.failed_step != 0 {
        return Measurements::new();
    }
    let [user_s, user_us, sys_s, sys_us, counts @ ..] = over.usage;
    let names = ["maxrss", "", "", "", "minflt", "majflt", "", "inblock", "oublock", "", "", "", "nvcsw", "nivcsw"];
    let unit = |name: &str| if name.ends_with("rss") { 1024.0 } else { 1.0 };
    let counted = names.into_iter().zip(counts).filter(|(name, _)| !name.is_empty());
    let counted = counted.map(|(name, count)| (name, count as f64 * unit(name)));
    let timed = [
        ("wall", seconds(over.ended_ns.saturating_sub(over.launched_ns))),
        ("user", user_s as f64 + user_us as f64 / 1e6),
        ("sys", sys_s as f64 + sys_us as f64 / 1e6),
    ];
    let mut measurements = Measurements::with_capacity(USUAL);
    measurements.extend(timed.into_iter().chain(counted));
    measurements
}

/// Those of several processes: time from the first launch to the last end, the largest peak, and sums of the rest.
fn together(processes: &[Ended], wall_s: f64) -> Measurements {
    let started: Vec<_> = processes.iter().map(|one| &one.measurements).filter(|one| !one.is_empty()).collect();
    let [first, others @ ..] = &started[..] else { return Measurements::new() };
    let mut all = (*first).clone();
    if processes.len() == 1 {
        return all;
    }
    for (name, value) in others.iter().flat_map(|one| one.iter()) {
        let sum = all.get_or_insert(name.to_owned(), 0.0);
        *sum = if name == "maxrss" { sum.max(value) } else { *sum + value };
    }
    let mean_wall_s = all["wall"] / started.len() as f64;
    all.insert("each_wall", mean_wall_s);
    all.insert("wall", wall_s);
    all
}
