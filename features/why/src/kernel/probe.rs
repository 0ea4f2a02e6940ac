//! Watching in the place of a workload's command: it becomes an order to launch the command while the kernel watches it, and
//! what was seen is read when the trial is over. Services are left as they are.

use bakeoff_host::census::Report;
use bakeoff_host::tracer::{Order, TraceReport};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::fs;
use std::path::{Path, PathBuf};

/// A program that does nothing but call the kernel takes up to eight times as long.
const SLOWER: f64 = 10.0;

/// What the order and the answer are called in the scratch folder.
const ORDER: &str = "kernel-order";
const SEEN: &str = "kernel-seen";

/// The probe.
#[derive(Debug)]
pub(super) struct Watching<'t> {
    /// The words that start what watches; an order follows.
    tracer: &'t [String],
    scratch: PathBuf,
    /// What was seen.
    pub(super) seen: Report,
}

impl<'t> Watching<'t> {
    pub(super) fn with(tracer: &'t [String]) -> Self {
        Self { tracer, scratch: PathBuf::new(), seen: Report::default() }
    }
}

fn folder_error(path: &Path, source: std::io::Error) -> Error {
    Error::Folder { path: path.to_owned(), source }
}

impl IntrusiveProbe for Watching<'_> {
    fn times_slower(&self) -> f64 {
        SLOWER
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = std::path::absolute(scratch).map_err(|source| folder_error(scratch, source))?;
        self.seen = Report::default();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        if service.is_some() {
            return Ok(());
        }
        let (argv, env) = (std::mem::take(&mut command.argv), std::mem::take(&mut command.env));
        let order = Order { argv, env, output: self.scratch.join(SEEN), during: None, files: false, kernel: true };
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
            Some(TraceReport::Watched(report)) if report.lost_tasks > 0 => {
                Err(Unseen::Refused(format!("{} processes and threads were too many to watch", report.lost_tasks)))
            }
            Some(TraceReport::Watched(report)) => {
                self.seen = report;
                Ok(())
            }
            Some(TraceReport::NotStarted { what, why }) => Err(Unseen::NotStarted { what, why }),
            Some(TraceReport::Refused { why }) => Err(Unseen::Refused(why)),
            Some(TraceReport::Seen(_) | TraceReport::Used(_)) | None => Err(Unseen::Silent),
        }
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, scratch: &Path) {
        for name in [ORDER, SEEN] {
            let _ = fs::remove_file(scratch.join(name));
        }
    }
}
