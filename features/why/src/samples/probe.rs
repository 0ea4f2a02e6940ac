//! Sampling in the place of a workload's command: it becomes an order to launch the command while the kernel samples it, and
//! what was seen is read when the trial is over. Services are left as they are.

use crate::probing;
use crate::trace::places;
use bakeoff_host::sampler::Samples;
use bakeoff_host::tracer::{Order, TraceReport};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::path::{Path, PathBuf};

/// Samples cost a hundredth; adding them up is no part of the run.
const SLOWER: f64 = 2.0;

/// What files are called in the scratch folder: the order and the answer.
const FILES: &str = "samples-";
const ORDER: &str = "samples-order";
const SEEN: &str = "samples-seen";

/// The probe.
#[derive(Debug)]
pub(super) struct Sampler<'t> {
    /// The words that start what samples; an order follows.
    tracer: &'t [String],
    /// The time between samples.
    pub(super) period_ns: u64,
    scratch: PathBuf,
    /// Folders that are other ones in each variant.
    pub(super) folders: Vec<(PathBuf, &'static str)>,
    /// What was sampled.
    pub(super) seen: Samples,
}

impl<'t> Sampler<'t> {
    pub(super) fn with(tracer: &'t [String]) -> Self {
        Self { tracer, period_ns: 0, scratch: PathBuf::new(), folders: vec![], seen: Samples::default() }
    }
}

impl IntrusiveProbe for Sampler<'_> {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = probing::absolute(scratch)?;
        self.seen = Samples::default();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if service.is_some() {
            return Ok(());
        }
        self.folders = places(&command.env);
        let order = Order { output: self.scratch.join(SEEN), samples_ns: Some(self.period_ns), ..Order::default() };
        probing::order(command, self.tracer, &self.scratch.join(ORDER), order)
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        match probing::answer(&self.scratch.join(SEEN))? {
            TraceReport::Sampled(samples) => self.seen = samples,
            _ => return Err(Unseen::Silent),
        }
        Ok(())
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, scratch: &Path) {
        probing::forget(scratch, FILES);
    }
}
