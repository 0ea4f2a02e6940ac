//! Sampling in the place of a workload's command: it becomes an order to launch the command while the kernel samples it, and
//! what was seen is read when the trial is over. Services are left as they are.

use crate::probing;
use crate::sampler::Samples;
use crate::trace::places;
use crate::watcher::PERIOD;
use bakeoff_host::tracer::Order;
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
    /// The words that start what samples; the period and an order follow.
    watcher: &'t [String],
    /// The time between samples.
    pub(super) period_ns: u64,
    scratch: PathBuf,
    /// Folders that are other ones in each variant.
    pub(super) folders: Vec<(PathBuf, &'static str)>,
    /// What was sampled.
    pub(super) seen: Samples,
}

impl<'t> Sampler<'t> {
    pub(super) fn with(watcher: &'t [String]) -> Self {
        Self { watcher, period_ns: 0, scratch: PathBuf::new(), folders: vec![], seen: Samples::default() }
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
        let mut words = self.watcher.to_vec();
        words.extend([PERIOD.to_owned(), self.period_ns.to_string()]);
        let order = Order { output: self.scratch.join(SEEN), ..Order::default() };
        probing::order(command, &words, &self.scratch.join(ORDER), order)
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        self.seen = probing::seen(&self.scratch.join(SEEN))?;
        Ok(())
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, scratch: &Path) {
        probing::forget(scratch, FILES);
    }
}
