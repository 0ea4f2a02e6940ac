//! Sampling in the place of a workload's command: it becomes an order to launch the command while the kernel samples it, and what was seen is read when the trial is over. Services are left as they are.

use crate::trace::places;
use bakeoff_host::sampler::Samples;
use bakeoff_host::tracer::{Order, TraceReport};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::fs;
use std::path::{Path, PathBuf};

/// Samples cost a hundredth; adding them up is no part of the run.
const SLOWER: f64 = 2.0;

/// What the order and the answer are called in the scratch folder.
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

fn folder_error(path: &Path, source: std::io::Error) -> Error {
    Error::Folder { path: path.to_owned(), source }
}

impl IntrusiveProbe for Sampler<'_> {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = std::path::absolute(scratch).map_err(|source| folder_error(scratch, source))?;
        self.seen = Samples::default();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if service.is_some() {
            return Ok(());
        }
        self.folders = places(&command.env);
        let (argv, env) = (std::mem::take(&mut command.argv), std::mem::take(&mut command.env));
        let (output, samples_ns) = (self.scratch.join(SEEN), Some(self.period_ns));
        let order = Order { argv, env, output, samples_ns, ..Order::default() };
        let file = self.scratch.join(ORDER);
        let written = serde_json::to_vec(&order).map_err(std::io::Error::from).and_then(|text| fs::write(&file, text));
        written.map_err(|source| folder_error(&file, source))?;
        command.argv = self.tracer.to_vec();
        command.argv.push(file.to_string_lossy().into_owned());
        Ok(())
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        let text = fs::read(self.scratch.join(SEEN)).ok();
        match text.and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(TraceReport::Sampled(samples)) => {
                self.seen = samples;
                Ok(())
            }
            Some(TraceReport::NotStarted { what, why }) => Err(Unseen::NotStarted { what, why }),
            Some(TraceReport::Refused { why }) => Err(Unseen::Refused(why)),
            _ => Err(Unseen::Silent),
        }
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, scratch: &Path) {
        for name in [ORDER, SEEN] {
            let _ = fs::remove_file(scratch.join(name));
        }
    }
}
