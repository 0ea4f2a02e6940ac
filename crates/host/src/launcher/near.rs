//! Puts the launcher, for the moment of a launch, on the processor on which its owner is. Where it wakes on another one,
//! an idle one has to be woken and the program begins with cold caches, which a loop that does nothing but launch never
//! sees. From the launch on both it and what it launched use all processors that it could use before.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processors that a launcher may use.
#[derive(Debug)]
pub(super) struct Near {
    launcher: Pid,
    all: Vec<u32>,
}

impl Near {
    /// None if it is unknown, or if there is only one.
    pub(super) fn of(launcher: u32) -> Option<Self> {
        let launcher = Pid::from_raw(i32::try_from(launcher).ok()?)?;
        let set = sched_getaffinity(Some(launcher)).ok()?;
        let all = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).filter_map(|cpu| u32::try_from(cpu).ok());
        let all: Vec<u32> = all.collect();
        (all.len() > 1).then_some(Self { launcher, all })
    }

    /// Puts it where we are; the processors that it is to use once it has launched.
    pub(super) fn come(&self) -> Option<&[u32]> {
        let mut here = CpuSet::new();
        let cpu = sched_getcpu();
        if !self.all.iter().any(|&known| known as usize == cpu) {
            return None;
        }
        here.set(cpu);
        sched_setaffinity(Some(self.launcher), &here).ok()?;
        Some(&self.all)
    }
}
