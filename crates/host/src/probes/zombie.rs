//! What the kernel still tells of a process that has ended and has not been waited for: what it and those children
//! that it waited for read and wrote, and how long its main thread waited for a processor. To an ordinary user Linux
//! does not tell the former: what is left of a process belongs to root, and its `io` is for the owner alone.
#![allow(unsafe_code, reason = "rustix has no fork")]

use super::reasons::by_reason;
use crate::files::Files;
use crate::job::Job;
use crate::probe::{Confinement, Probe, Seen, Zombie};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io;

/// Lines of /proc/PID/io; metrics have the same names.
const IO: &[&str] = &["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes"];
const RUN_DELAY: &str = "run_delay";

/// Whether the kernel says so here.
#[derive(Debug)]
pub(super) struct Zombies {
    io: bool,
    schedstat: bool,
    /// Why `io` is not.
    why: &'static str,
}

impl Zombies {
    /// Looks at a zombie made for it.
    pub(super) fn new() -> Self {
        Self::of(&Files::here(), &a_zombie().unwrap_or_default())
    }

    fn of(files: &Files, zombie: &Zombie) -> Self {
        // A kernel without the statistics of its scheduler writes zeros, also for a process that is running.
        let ran = |text: String| text.split(' ').next().is_some_and(|ns| ns != "0");
        let why = match files.read("proc/self/io") {
            Some(_) => "what /proc/PID/io tells of a process that has ended is for root alone",
            None => "this kernel has no /proc/PID/io",
        };
        Self { io: !zombie.io.is_empty(), schedstat: files.read("proc/self/schedstat").is_some_and(ran), why }
    }
}

/// What can be read of a process that has ended before it is waited for, as the launcher reads it.
fn a_zombie() -> io::Result<Zombie> {
    // SAFETY: the child calls nothing but _exit, which is safe whatever other threads were doing.
    let pid = match unsafe { libc::fork() } {
        // SAFETY: as above.
        0 => unsafe { libc::_exit(0) },
        pid => Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)?,
    };
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let read = |name: &str| Files::here().read(&format!("proc/{pid}/{name}")).unwrap_or_default();
    let zombie = Zombie { io: read("io"), schedstat: read("schedstat") };
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED)?;
    Ok(zombie)
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
        let mut sum = |metric: &'static str, value: &dyn Fn(&Zombie) -> Option<f64>| {
            if let Some(sum) = seen.zombies.iter().map(value).sum::<Option<f64>>() {
                into.insert(metric, sum);
            }
        };
        for metric in IO.iter().filter(|_| self.io) {
            sum(metric, &|zombie| line(&zombie.io, metric));
        }
        if self.schedstat {
            sum(RUN_DELAY, &|zombie| waited_s(&zombie.schedstat));
        }
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        let io = IO.iter().filter(|_| !self.io).map(|name| (*name, self.why.to_owned()));
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

    #[test]
    fn what_zombies_tell() {
        let check = |zombies: &[(&str, &str)], expect: &[(&str, f64)]| {
            let zombies: Vec<Zombie> = zombies
                .iter()
                .map(|&(io, schedstat)| Zombie { io: io.to_owned(), schedstat: schedstat.to_owned() })
                .collect();
            let mut measured = Measurements::new();
            let seen = Seen { wall_s: 1.0, cpu_s: 1.0, zombies: &zombies };
            Zombies { io: true, schedstat: true, why: "" }.after(&seen, &mut measured).unwrap();
            let expect: Measurements = expect.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(measured, expect, "{zombies:?}");
        };
        let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let alone =
            [("rchar", 1.0), ("wchar", 2.0), ("syscr", 3.0), ("syscw", 4.0), ("read_bytes", 5.0), ("write_bytes", 6.0)];
        let delayed = [&alone[..], &[("run_delay", 0.25)]].concat();
        check(&[(io, "1500000000 250000000 12\n")], &delayed);
        check(&[(io, "")], &alone);
        check(&[("", "7 500000000 1\n"), ("", "7 1000000000 1\n")], &[("run_delay", 1.5)]);
        check(&[(io, "7 7 7\n"), ("", "")], &[]);
        check(&[], &[]);
    }

    #[test]
    fn kernels_and_users_without_it() {
        let check = |files: &[(&str, &str)], zombie: &str, expect: &[(usize, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let zombie = Zombie { io: zombie.to_owned(), schedstat: String::new() };
            let none = Zombies::of(&Files::made_of(root.path(), files), &zombie).unavailable();
            assert_eq!(none.len(), expect.len(), "{none:?}");
            for (reason, (count, why)) in none.iter().zip(expect) {
                assert!(reason.metrics.len() == *count && reason.why.contains(why), "{none:?}");
            }
        };
        let (io, ran) = (("proc/self/io", "rchar: 1\n"), ("proc/self/schedstat", "7 0 1\n"));
        check(&[("proc/self/schedstat", "0 0 0\n")], "", &[(6, "kernel has no"), (1, "statistics")]);
        check(&[io, ran], "", &[(6, "root alone")]);
        check(&[io, ran], "rchar: 1\n", &[]);
        // Here: an ordinary user lacks the first.
        assert!(Zombies::new().unavailable().len() <= 1);
    }
}
