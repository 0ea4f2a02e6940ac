//! Probes: what watches a job from outside while the launcher runs it. A probe prepares before the first launch,
//! and says what it saw when everything of the job is gone. What it cannot see here it says once, with the reason.

use crate::job::{Job, Limits};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::os::fd::OwnedFd;

pub(crate) trait Probe: std::fmt::Debug + Send {
    /// Prepares for a job, and may add to what its processes are confined to.
    fn before(&mut self, job: &Job, confinement: &mut Confinement) -> std::io::Result<()>;
    /// What it saw. Everything of the job has ended by now.
    fn after(&mut self, seen: &JobObserved<'_>, into: &mut Measurements) -> std::io::Result<()>;
    /// Metrics that it should give and cannot, here.
    fn unavailable(&self) -> Vec<Unavailable>;
    /// Parts of limits that it is there to see to and cannot, here: what, by its name in [`Limits`], and why.
    fn refused(&self, _limits: &Limits) -> Vec<(String, String)> {
        vec![]
    }
    /// Whether the kernel killed something of the last job for its memory limit; known after [`Self::after`].
    fn out_of_memory(&self) -> bool {
        false
    }
}

/// Where the launcher puts the processes of a job, and how it ends them.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    /// A folder of cgroup v2 into which they are cloned (CLONE_INTO_CGROUP).
    pub(crate) into: Option<OwnedFd>,
    /// `cgroup.procs` files of other hierarchies, to which each process writes `0` before it runs its program.
    pub(crate) join: Vec<OwnedFd>,
    /// What to write to which file so that all of them are thawed and killed, in this order.
    pub(crate) kill: Vec<(OwnedFd, &'static [u8])>,
}

/// What the launcher saw of a job.
#[derive(Debug)]
pub(crate) struct JobObserved<'a> {
    /// From the first launch to the last end, in seconds.
    pub(crate) wall_s: f64,
    /// What was read when each main process was reaped; empty where unreadable.
    pub(crate) zombies: &'a [Zombie],
}

/// What could be read of a process that has ended and has not been waited for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Zombie {
    /// The launcher's `/proc/self/io` before it was reaped.
    pub(crate) io_before: String,
    /// The same afterwards.
    pub(crate) io: String,
    /// `/proc/PID/schedstat`, where it is wanted.
    pub(crate) schedstat: String,
}
