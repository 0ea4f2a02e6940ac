//! Probes that change what they watch: they get trials of their own, after the measured ones. The lab runs such a trial
//! as any other, with the probe in the place of the commands; what it saw is known to the probe alone.

use crate::error::Error;
use bakeoff_host::{Command, End};
use bakeoff_model::record::Failure;
use std::path::Path;

/// What one diagnostic trial is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The variant's display name.
    pub variant: &'a str,
    /// The workload.
    pub workload: &'a str,
}

/// What watches a diagnostic trial.
pub trait IntrusiveProbe {
    /// Every time limit is multiplied by this.
    fn times_slower(&self) -> f64;

    /// The trial is ended after this many seconds, if it is to be.
    fn most_s(&self) -> Option<f64> {
        None
    }

    /// A trial is prepared whose files lie in this folder.
    fn begin(&mut self, scratch: &Path) -> Result<(), Error>;

    /// Puts the probe into the place of a command: the workload's own, or a service's.
    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error>;

    /// The command is about to be launched; services are there.
    fn trial_begins(&mut self) -> Result<(), Error>;

    /// The command has ended.
    fn trial_ended(&mut self) -> Result<(), Error>;

    /// Takes what was seen of the command, which ended so.
    fn see(&mut self, end: &End) -> Result<(), Unseen>;

    /// Takes what was seen of the services, which have ended.
    fn see_services(&mut self);

    /// Nothing of the trial goes on: its files can go.
    fn forget(&mut self, scratch: &Path);
}

/// Why nothing was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// Nothing may be watched so here.
    Refused(String),
    /// What was to be watched could not be started.
    NotStarted {
        /// What is at fault.
        what: String,
        /// The system's word for it.
        why: String,
    },
    /// The probe was killed, or failed, before it could tell anything.
    Silent,
}

/// What came of a diagnostic trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Diagnosed {
    /// It was run, and the probe has seen it.
    Executed {
        /// Ops that it marked; 0 if it marks none.
        ops: u64,
        /// Why it failed, if it did.
        failure: Option<Failure>,
    },
    /// It failed before anything was seen.
    Failed(Failure),
    /// It could not be had.
    Missing {
        /// Why not, in one line.
        why: String,
    },
}

impl Diagnosed {
    /// It could not be had.
    pub fn missing(why: impl Into<String>) -> Self {
        Self::Missing { why: why.into() }
    }
}
