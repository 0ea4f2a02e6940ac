//! Gives a job a control group, with its limits, and reads its counts: each job, or only those that are to be limited.

use super::reasons::by_reason;
use crate::cgroup::{Group, Home, NAMES, Needs};
use crate::job::{Job, Limits};
use crate::probe::{Confinement, JobObserved, Probe};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use std::io;
use std::sync::Arc;

/// The groups of a launcher's jobs; or why there are none.
#[derive(Debug)]
pub(super) struct Cgroup {
    home: Result<Arc<Home>, String>,
    /// The metrics of groups that are asked for.
    wanted: Vec<&'static str>,
    group: Option<Group>,
    /// Whether the job has a memory limit.
    is_limited: bool,
    killed_for_memory: bool,
    /// Those that could not be removed at once.
    left: Vec<Group>,
}

impl Cgroup {
    pub(super) fn new(wanted: &[&str]) -> Self {
        Self::with(Home::of_this_process(), wanted)
    }

    pub(super) fn with(home: Result<Arc<Home>, String>, wanted: &[&str]) -> Self {
        let is_wanted = |name: &str| wanted.contains(&name) || name == "cgroup_peak" && wanted.contains(&"peak");
        let wanted = NAMES.iter().map(|(name, _)| *name).filter(|name| is_wanted(name)).collect();
        Self { home, wanted, group: None, is_limited: false, killed_for_memory: false, left: vec![] }
    }

    /// The groups' place, if every job gets one.
    pub(super) fn of_every_job(&self) -> Option<Arc<Home>> {
        self.home.as_ref().ok().filter(|_| !self.wanted.is_empty()).cloned()
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
        if self.wanted.is_empty() && job.limits.memory_bytes.is_none() && job.limits.cpu_limit.is_none() {
            return Ok(());
        }
        let limits_cpu = job.limits.cpu_limit.is_some() && home.limits_cpu();
        let needs =
            Needs { metrics: &self.wanted, memory_limit: self.is_limited, cpu_limit: limits_cpu, ..Needs::default() };
        let group = self.group.insert(home.group(&needs)?);
        group.limit(home, &job.limits)?;
        group.confine(home, confinement)
    }

    fn after(&mut self, _: &JobObserved<'_>, into: &mut Measurements) -> io::Result<()> {
        if let (Ok(home), Some(group)) = (&self.home, &self.group) {
            group.measure(home, into);
            self.killed_for_memory = self.is_limited && group.killed_for_memory() > 0;
        }
        self.remove();
        Ok(())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        match &self.home {
            Ok(home) => by_reason(home.unavailable.iter().cloned()),
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
            cpu = Some("cgroup CPU limits do not apply to real-time processes".to_owned());
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
