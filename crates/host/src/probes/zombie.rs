//! What the kernel still tells of an ended process when it is reaped: what it and the children that it waited for read and
//! wrote (by what the account of its reaper grows), and how long its main thread waited for a processor.

use super::reasons::by_reason;
use crate::files::Files;
use crate::job::Job;
use crate::probe::{Confinement, JobObserved, Probe, Zombie};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;

/// Lines of /proc/PID/io; metrics have the same names.
const IO: &[&str] = &["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"];
/// The time for which it waited.
pub(crate) const WAIT: &str = "run_delay";

/// Whether the kernel says so here.
#[derive(Debug)]
pub(super) struct Zombies {
    io: bool,
    schedstat: bool,
}

impl Zombies {
    pub(super) fn new() -> Self {
        Self::of(&Files::here())
    }

    fn of(files: &Files) -> Self {
        // A kernel without the statistics of its scheduler writes zeros, also for a process that is running.
        let ran = |text: String| text.split(' ').next().is_some_and(|ns| ns != "0");
        let schedstat = files.read("proc/self/schedstat").is_some_and(ran);
        Self { io: files.read("proc/self/io").is_some(), schedstat }
    }
}

impl Probe for Zombies {
    fn before(&mut self, _: &Job, _: &mut Confinement) -> io::Result<()> {
        Ok(())
    }

    /// Sums over the main processes; a metric that one of them does not tell is left out.
    fn after(&mut self, seen: &JobObserved<'_>, into: &mut Measurements) -> io::Result<()> {
        if seen.zombies.is_empty() {
            return Ok(());
        }
        if self.io {
            let each: Vec<_> = seen.zombies.iter().map(io).collect();
            for (place, metric) in IO.iter().enumerate() {
                let sum = each.iter().map(|values| values[place]).sum::<Option<f64>>();
                into.extend(sum.map(|sum| (*metric, sum)));
            }
        }
        if self.schedstat {
            let sum = seen.zombies.iter().map(|zombie| waited_s(&zombie.schedstat)).sum::<Option<f64>>();
            into.extend(sum.map(|sum| (WAIT, sum)));
        }
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let io = IO.iter().filter(|_| !self.io).map(|name| (*name, "this kernel has no /proc/PID/io".to_owned()));
        let delay = (!self.schedstat).then(|| (WAIT, "this kernel has no scheduler statistics".to_owned()));
        by_reason(io.chain(delay))
    }
}

/// What a process did, by [`IO`], in its order.
fn io(zombie: &Zombie) -> [Option<f64>; IO.len()] {
    let (before, after) = (account(&zombie.io_before), account(&zombie.io));
    std::array::from_fn(|place| {
        // To read the account is on the account, too.
        let by_reading = match IO[place] {
            "rchar" => zombie.io_before.len() as f64,
            "syscr" => 1.0,
            _ => 0.0,
        };
        Some(after[place]? - before[place]? - by_reading)
    })
}

fn account(text: &str) -> [Option<f64>; IO.len()] {
    let mut values = [None; IO.len()];
    for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
        if let Some(place) = IO.iter().position(|name| *name == key) {
            values[place] = value.trim().parse().ok();
        }
    }
    values
}

/// The second field, in ns (Documentation/scheduler/sched-stats.rst).
fn waited_s(schedstat: &str) -> Option<f64> {
    Some(schedstat.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1e9)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_zombies_tell() {
        let check = |zombies: &[(&str, &str)], expect: &[(&'static str, f64)]| {
            let before = "rchar: 10\nwchar: 20\nsyscr: 30\nsyscw: 40\nread_bytes: 50\nwrite_bytes: 60\n".to_owned();
            let zombie = |&(io, schedstat): &(&str, &str)| Zombie {
                io_before: before.clone(),
                io: io.to_owned(),
                schedstat: schedstat.to_owned(),
            };
            let zombies: Vec<Zombie> = zombies.iter().map(zombie).collect();
            let mut measured = Measurements::new();
            let seen = JobObserved { wall_s: 1.0, zombies: &zombies };
            Zombies { io: true, schedstat: true }.after(&seen, &mut measured).unwrap();
            assert_eq!(measured, expect.iter().copied().collect(), "{zombies:?}");
        };
        // 71 bytes were read when the account was looked at before.
        let io =
            "rchar: 82\nwchar: 22\nsyscr: 34\nsyscw: 44\nread_bytes: 55\nwrite_bytes: 66\ncancelled_write_bytes: 7\n";
        let alone =
            [("rchar", 1.0), ("wchar", 2.0), ("syscr", 3.0), ("syscw", 4.0), ("read_bytes", 5.0), ("write_bytes", 6.0)];
        let delayed = [&alone[..], &[("run_delay", 0.25)]].concat();
        check(&[(io, "1500000000 250000000 12\n")], &delayed);
        check(&[(io, "")], &alone);
        check(&[(io, ""), (io, "")], &alone.map(|(name, value)| (name, 2.0 * value)));
        check(&[("", "7 500000000 1\n"), ("", "7 1000000000 1\n")], &[("run_delay", 1.5)]);
        check(&[(io, "7 7 7\n"), ("", "")], &[]);
        check(&[], &[]);
    }

    #[test]
    fn kernels_without_it() {
        let check = |files: &[(&str, &str)], expect: &[(usize, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let none = Zombies::of(&Files::made_of(root.path(), files)).unavailable();
            assert_eq!(none.len(), expect.len(), "{none:?}");
            for (reason, (count, why)) in none.iter().zip(expect) {
                assert!(reason.metrics.len() == *count && reason.why.contains(why), "{none:?}");
            }
        };
        check(&[("proc/self/schedstat", "0 0 0\n")], &[(6, "kernel has no"), (1, "statistics")]);
        check(&[("proc/self/io", "rchar: 1\n"), ("proc/self/schedstat", "7 0 1\n")], &[]);
    }
}
