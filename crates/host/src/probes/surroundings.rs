//! What else went on at the machine while a job run: how many others wanted a processor when it was launched, and
//! the shares of all processors' time that went to a hypervisor's other guests and to processes that are not ours.
//!
//! /proc/stat counts in clock ticks, mostly of 10 ms, and guesses what a processor did from what it does at a tick. So
//! an interval of few ticks tells no share, and that of others, which is a difference, is never below 0. What the
//! kernel does for a job behind its back, such as writing to disks, counts as done by others.
#![allow(unsafe_code, reason = "sysconf in rustix needs a feature that nothing else here needs")]

use super::ours;
use super::reasons::by_reason;
use crate::cgroup::Home;
use crate::files::{Files, Open};
use crate::job::Job;
use crate::launchers::Ours;
use crate::probe::{Confinement, JobObserved, Probe};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;
use std::sync::Arc;

/// The shortest interval that gets shares, in clock ticks.
const LEAST_TICKS: f64 = 5.0;

/// After this many jobs of less than half of it the next one is not looked at, until one was longer.
const SHORT_ENOUGH: u32 = 3;

#[derive(Debug)]
pub(super) struct Surroundings {
    /// Held so that the launcher counts as ours.
    _ours: Ours,
    files: Files,
    loadavg: Option<Open>,
    home: Option<Arc<Home>>,
    ticks_per_s: f64,
    before: Option<Moment>,
    load: Option<f64>,
    /// How many jobs in a row were far too short to get shares.
    short: u32,
}

/// A reading of both clocks.
#[derive(Debug, Clone, Copy)]
struct Moment {
    ticks: Ticks,
    ours_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Running something, in user mode or in the kernel.
    pub(crate) busy: u64,
    /// Taken by a hypervisor.
    pub(crate) stolen: u64,
    /// All, idle ones among them.
    pub(crate) all: u64,
}

impl Ticks {
    /// The first line of /proc/stat: user nice system idle iowait irq softirq steal; guest time is part of user.
    pub(crate) fn now(files: &Files) -> Option<Self> {
        let text = files.read_at_once("proc/stat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
        let &[user, nice, system, idle, iowait, irq, softirq, stolen] = ticks.as_slice() else { return None };
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, stolen, all: busy + idle + iowait + stolen })
    }

    /// What passed since; counters that go backwards, as they do when processors come and go, stand still.
    fn since(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            stolen: self.stolen.saturating_sub(before.stolen),
            all: self.all.saturating_sub(before.all),
        }
    }
}

impl Surroundings {
    /// `home` is where every job has its group, if each has one.
    pub(super) fn new(ours: Ours, home: Option<Arc<Home>>) -> Self {
        // SAFETY: it takes and gives a number.
        let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        Self {
            _ours: ours,
            loadavg: Open::of(&Files::here(), "proc/loadavg"),
            files: Files::here(),
            home,
            ticks_per_s: if ticks_per_s > 0 { ticks_per_s as f64 } else { 100.0 },
            before: None,
            load: None,
            short: 0,
        }
    }

    fn moment(&self) -> Option<Moment> {
        let ours_s = ours::cpu_s(&self.files, self.home.as_deref(), self.ticks_per_s);
        Some(Moment { ticks: Ticks::now(&self.files)?, ours_s })
    }
}

impl Probe for Surroundings {
    fn before(&mut self, _: &Job, _: &mut Confinement) -> io::Result<()> {
        let runnable = self.loadavg.as_ref().and_then(Open::text).and_then(|text| runnable(&text));
        // The one that reads is runnable too, and it is us.
        let others = runnable.map(|all| (all - 1.0).max(0.0));
        self.load = others.map(|others| match others {
            0.0 => 0.0,
            others => (others - ours::runnable(&self.files) as f64).max(0.0),
        });
        // Reading /proc/stat takes longer than the shortest programs; where nothing would come of it, it is left.
        self.before = if self.short < SHORT_ENOUGH { self.moment() } else { None };
        Ok(())
    }

    fn after(&mut self, seen: &JobObserved<'_>, into: &mut Measurements) -> io::Result<()> {
        into.extend(self.load.take().map(|load| ("load", load)));
        let is_short = seen.wall_s * self.ticks_per_s < LEAST_TICKS / 2.0;
        self.short = if is_short { self.short.saturating_add(1) } else { 0 };
        let long_enough = seen.wall_s * self.ticks_per_s >= LEAST_TICKS;
        let (Some(before), true) = (self.before.take(), long_enough) else { return Ok(()) };
        if let Some(shares) = self.moment().and_then(|after| shares(before, after, self.ticks_per_s)) {
            into.insert("steal", shares.steal);
            into.insert("foreign_cpu", shares.foreign);
        }
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let load = self.files.read("proc/loadavg").is_none().then(|| ("load", "no /proc/loadavg here".to_owned()));
        let shares = ["steal", "foreign_cpu"].map(|name| (name, "no /proc/stat here".to_owned()));
        let shares = shares.into_iter().filter(|_| Ticks::now(&self.files).is_none());
        by_reason(load.into_iter().chain(shares))
    }
}

#[derive(Debug, PartialEq)]
struct Shares {
    steal: f64,
    foreign: f64,
}

/// None if the clock of /proc/stat did not move.
fn shares(before: Moment, after: Moment, ticks_per_s: f64) -> Option<Shares> {
    let passed = after.ticks.since(before.ticks);
    if passed.all == 0 {
        return None;
    }
    let all_s = passed.all as f64 / ticks_per_s;
    let foreign_s = passed.busy as f64 / ticks_per_s - (after.ours_s - before.ours_s);
    Some(Shares { steal: passed.stolen as f64 / passed.all as f64, foreign: (foreign_s / all_s).clamp(0.0, 1.0) })
}

/// The fourth field: runnable and all tasks, with a slash between.
fn runnable(loadavg: &str) -> Option<f64> {
    loadavg.split(' ').nth(3)?.split('/').next()?.parse().ok()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn shares_of_all_processors() {
        let at = |busy, stolen, all, ours_s| Moment { ticks: Ticks { busy, stolen, all }, ours_s };
        let check = |before, after, expect: Option<(f64, f64)>| {
            let expect = expect.map(|(steal, foreign)| Shares { steal, foreign });
            assert_eq!(shares(before, after, 100.0), expect);
        };
        // One second of two processors: 1.5 s busy, 0.5 s of which are ours.
        check(at(1000, 10, 5000, 3.0), at(1150, 20, 5200, 3.5), Some((0.05, 0.5)));
        // Ticks that saw less than was used.
        check(at(1000, 10, 5000, 3.0), at(1010, 10, 5200, 3.5), Some((0.0, 0.0)));
        check(at(1000, 10, 5000, 3.0), at(1000, 10, 5000, 3.0), None);
        check(at(1000, 10, 5000, 3.0), at(900, 5, 4000, 3.0), None);
    }

    #[test]
    fn what_the_kernel_writes() {
        assert_eq!(runnable("0.20 0.18 0.12 3/80 11206"), Some(3.0));
        assert_eq!(runnable("0.20 0.18"), None);
        let check = |stat: &str, expect| {
            let root = tempfile::tempdir().unwrap();
            assert_eq!(Ticks::now(&Files::made_of(root.path(), &[("proc/stat", stat)])), expect);
        };
        check("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 0 0 0\n", Some(Ticks { busy: 19, stolen: 8, all: 36 }));
        check("cpu  1 2 3 4\n", None);
        check("", None);
    }
}
