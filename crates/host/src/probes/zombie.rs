//! What the kernel still tells of a process that has ended and has not been waited for: what it and those children
//! that it waited for read and wrote, and how long its main thread waited for a processor.

use super::by_reason;
use crate::files::Files;
use crate::launcher::Job;
use crate::probe::{Confinement, Probe, Seen};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;

/// Lines of /proc/PID/io; metrics have the same names.
const IO: &[&str] = &["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"];
const RUN_DELAY: &str = "run_delay";

/// Whether this kernel tells them at all.
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
        Self { io: files.read("proc/self/io").is_some(), schedstat: files.read("proc/self/schedstat").is_some_and(ran) }
    }
}

impl Probe for Zombies {
    fn before(&mut self, _: &Job, _: &mut Confinement) -> io::Result<()> {
        Ok(())
    }

    /// Sums over the main processes; a metric that one of them does not tell is left out.
    fn after(&mut self, seen: &Seen<'_>, into: &mut Measurements) -> io::Result<()> {
        if seen.zombies.is_empty() {
            return Ok(());
        }
        let mut sum = |metric: &str, value: &dyn Fn(&crate::probe::Zombie) -> Option<f64>| {
            if let Some(sum) = seen.zombies.iter().map(value).sum::<Option<f64>>() {
                into.insert(metric.to_owned(), sum);
            }
        };
        for metric in IO {
            sum(metric, &|zombie| line(&zombie.io, metric));
        }
        if self.schedstat {
            sum(RUN_DELAY, &|zombie| waited_s(&zombie.schedstat));
        }
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let io = IO.iter().filter(|_| !self.io).map(|name| (*name, "this kernel has no /proc/PID/io".to_owned()));
        let delay = (!self.schedstat).then(|| (RUN_DELAY, "this kernel has no scheduler statistics".to_owned()));
        by_reason(io.chain(delay))
    }
}

fn line(text: &str, key: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.trim().parse().ok())
}

/// The second field, in ns (Documentation/scheduler/sched-stats.rst).
fn waited_s(schedstat: &str) -> Option<f64> {
    Some(schedstat.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1e9)
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::probe::Zombie;

    #[test]
    fn what_zombies_tell() {
        let check = |zombies: &[(&str, &str)], expect: &[(&str, f64)]| {
            let zombies: Vec<Zombie> = zombies
                .iter()
                .map(|&(io, schedstat)| Zombie { io: io.to_owned(), schedstat: schedstat.to_owned() })
                .collect();
            let mut told = Measurements::new();
            let seen = Seen { wall_s: 1.0, cpu_s: 1.0, zombies: &zombies };
            Zombies { io: true, schedstat: true }.after(&seen, &mut told).unwrap();
            let expect: Measurements = expect.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(told, expect, "{zombies:?}");
        };
        let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let one =
            [("rchar", 1.0), ("wchar", 2.0), ("syscr", 3.0), ("syscw", 4.0), ("read_bytes", 5.0), ("write_bytes", 6.0)];
        let delayed = [&one[..], &[("run_delay", 0.25)]].concat();
        check(&[(io, "1500000000 250000000 12\n")], &delayed);
        check(&[(io, "")], &one);
        check(&[("", "7 500000000 1\n"), ("", "7 1000000000 1\n")], &[("run_delay", 1.5)]);
        check(&[(io, "7 7 7\n"), ("", "")], &[]);
        check(&[], &[]);
    }

    #[test]
    fn kernels_without_it() {
        let root = tempfile::tempdir().unwrap();
        let none = Zombies::of(&Files::made_of(root.path(), &[("proc/self/schedstat", "0 0 0\n")])).unavailable();
        assert_eq!(none.iter().map(|reason| reason.metrics.len()).collect::<Vec<_>>(), [6, 1], "{none:?}");
        assert!(Zombies::new().unavailable().is_empty());
    }
}
