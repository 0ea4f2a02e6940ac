//! What CPU time our processes have used, and how many of them want a processor now, so that the rest is that of others.
//! Ours are this process, its launchers, and all that these started: trials, loads and services.

use crate::cgroup::Home;
use crate::files::Files;
use crate::launchers::our_processes;
use rustix::time::{ClockId, clock_gettime};

/// CPU time that we have used so far, in seconds. Where there is a group for all jobs, it knows; else times are added
/// up over the tree of processes, in clock ticks, and what fled from its parents before it was reaped is missed.
pub(super) fn cpu_s(files: &Files, home: Option<&Home>, ticks_per_s: f64) -> f64 {
    let own = clock_gettime(ClockId::ProcessCPUTime);
    let own_s = own.tv_sec as f64 + own.tv_nsec as f64 / 1e9;
    let launchers = our_processes().into_iter().skip(1);
    if let Some((home, jobs_s)) = home.and_then(|home| Some((home, home.cpu_s()?))) {
        if home.contains_self() {
            return jobs_s;
        }
        let ran_ns = |pid| files.read_at_once(&format!("proc/{pid}/schedstat"))?.split(' ').next()?.parse::<f64>().ok();
        return own_s + jobs_s + launchers.filter_map(ran_ns).sum::<f64>() / 1e9;
    }
    let ticks: u64 = launchers
        .flat_map(|pid| [vec![pid], descendants(files, pid)].concat())
        .filter_map(|pid| stat(files, pid))
        .map(|s| s.ticks)
        .sum();
    own_s + ticks as f64 / ticks_per_s
}

/// How many of the processes that our launchers started are running or would like to.
pub(super) fn runnable(files: &Files) -> usize {
    let started = our_processes().into_iter().skip(1).flat_map(|pid| descendants(files, pid));
    started.filter_map(|pid| stat(files, pid)).filter(|stat| stat.is_runnable).count()
}

/// What came of a launcher. Processes that begin or end meanwhile may be missed.
fn descendants(files: &Files, launcher: u32) -> Vec<u32> {
    let children = |pid: u32, thread: &str| {
        let text = files.read_at_once(&format!("proc/{pid}/task/{thread}/children")).unwrap_or_default();
        text.split_whitespace().filter_map(|child| child.parse::<u32>().ok()).collect::<Vec<_>>()
    };
    // A launcher has one thread; and mostly nothing runs yet when it is asked.
    let mut all = children(launcher, &launcher.to_string());
    let mut nth = 0;
    while let Some(pid) = all.get(nth).copied() {
        let threads = files.names(&format!("proc/{pid}/task"));
        all.extend(threads.iter().flat_map(|thread| children(pid, thread)));
        nth += 1;
    }
    all
}

/// What /proc/PID/stat tells.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    is_runnable: bool,
    /// CPU time of the process and of those children of its that were waited for, in clock ticks.
    ticks: u64,
}

fn stat(files: &Files, pid: u32) -> Option<Stat> {
    parse(&files.read_at_once(&format!("proc/{pid}/stat"))?)
}

/// Field 3 is the state; 14 to 17 are utime, stime, cutime and cstime. The name, field 2, may hold anything.
fn parse(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok());
    Some(Stat { is_runnable: *fields.first()? == "R", ticks: times.sum::<Option<u64>>()? })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn stat_lines() {
        let check = |text: &str, expect| assert_eq!(parse(text), expect, "{text}");
        let line = "7 (a ) b) S 1 7 7 0 -1 4194304 90 0 0 0 1 2 30 400 20 0 1 0 5 100 2 18446744073709551615";
        check(line, Some(Stat { is_runnable: false, ticks: 433 }));
        check(&line.replace(") S", ") R"), Some(Stat { is_runnable: true, ticks: 433 }));
        check("7 (x) S 1 7", None);
        check("", None);
    }
}
