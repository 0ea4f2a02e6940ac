//! Gives each job a control group of its own, with its limits, and says what was counted in it.

use super::by_reason;
use crate::cgroup::{Group, Home, NAMES};
use crate::launcher::{Job, Limits};
use crate::probe::{Confinement, Probe, Seen};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;
use std::sync::Arc;

/// The groups of a launcher's jobs; or why there are none.
#[derive(Debug)]
pub(super) struct Cgroup {
    home: Result<Arc<Home>, String>,
    group: Option<Group>,
    /// Whether the job has a memory limit.
    is_limited: bool,
    killed_for_memory: bool,
    /// Those that could not be removed at once.
    left: Vec<Group>,
}

impl Cgroup {
    pub(super) fn new() -> Self {
        Self::with(Home::of_this_process())
    }

    pub(super) fn with(home: Result<Arc<Home>, String>) -> Self {
        Self { home, group: None, is_limited: false, killed_for_memory: false, left: vec![] }
    }

    /// What stays is tried again after each job, and at the end.
    fn remove(&mut self) {
        if let Ok(home) = &self.home {
            self.left.extend(self.group.take());
            self.left.retain(|group| group.remove(home).is_err());
        }
    }
}

impl Probe for Cgroup {
    fn before(&mut self, job: &Job, confinement: &mut Confinement) -> io::Result<()> {
        self.remove();
        self.killed_for_memory = false;
        self.is_limited = job.limits.memory_bytes.is_some();
        let Ok(home) = &self.home else { return Ok(()) };
        let limits_cpu = job.limits.cpu_limit.is_some() && home.limits_cpu();
        let group = self.group.insert(home.group(limits_cpu)?);
        group.limit(home, &job.limits)?;
        group.confine(home, confinement)
    }

    fn after(&mut self, _: &Seen<'_>, into: &mut Measurements) -> io::Result<()> {
        if let (Ok(home), Some(group)) = (&self.home, &self.group) {
            group.measure(home, into);
            self.killed_for_memory = self.is_limited && group.killed_for_memory() > 0;
        }
        self.remove();
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        match &self.home {
            Ok(home) => by_reason(home.untold.iter().cloned()),
            Err(why) => by_reason(NAMES.iter().map(|(name, _)| (*name, why.clone()))),
        }
    }

    fn refused(&self, limits: &Limits) -> Vec<(String, String)> {
        let why = |can: fn(&Home) -> bool, lacks: &str| match &self.home {
            Ok(home) => (!can(home)).then(|| lacks.to_owned()),
            Err(why) => Some(why.clone()),
        };
        let memory = limits.memory_bytes.and_then(|_| why(Home::limits_memory, "no cgroup memory controller here"));
        let mut cpu = limits.cpu_limit.and_then(|_| why(Home::limits_cpu, "no cgroup cpu controller here"));
        if limits.cpu_limit.is_some() && limits.realtime.is_some() {
            cpu = Some("the limit of a cgroup does not hold for real-time processes".to_owned());
        }
        let named = |name: &str, why: Option<String>| why.map(|why| (name.to_owned(), why));
        [named("memory_bytes", memory), named("cpu_limit", cpu)].into_iter().flatten().collect()
    }

    fn out_of_memory(&self) -> bool {
        self.killed_for_memory
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.remove();
    }
}
