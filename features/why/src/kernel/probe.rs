//! Watching in the place of a workload's command and of its services: they become orders to launch them while the kernel watches,
//! and what was seen is read when the trial is over. Of a service only what it does while the command runs. Where the kernel may not
//! be watched, they are orders to the tracer, which counts system calls.

use crate::census::{Report, Spent, SyscallSums};
use crate::probing;
use bakeoff_host::tracer::{Calls, Census, Order};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Error, IntrusiveProbe, Unseen};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that does nothing but call the kernel takes up to eight times as long.
const SLOWER: f64 = 10.0;

/// With a stop at each call, a hundred times and more.
const SLOWER_TRACED: f64 = 100.0;

/// What files are called in the scratch folder: orders, answers, and the one that is there while the trial lasts.
const FILES: &str = "kernel-";
const ORDER: &str = "kernel-order";
const SEEN: &str = "kernel-seen";
const DURING: &str = "kernel-during";

const SILENT: &str = "it was killed before anything was recorded";

/// The probe.
#[derive(Debug)]
pub(super) struct Watching<'t> {
    /// The words that start what watches, or the tracer; an order follows.
    tracer: &'t [String],
    /// Whether it is the tracer that counts.
    is_traced: bool,
    scratch: PathBuf,
    services: Vec<String>,
    /// What was seen of the command.
    pub(super) seen: Report,
    /// What was seen of each service, or why nothing was.
    pub(super) seen_of_services: BTreeMap<String, Result<Report, String>>,
}

impl<'t> Watching<'t> {
    pub(super) fn with(tracer: &'t [String], is_traced: bool) -> Self {
        Self {
            tracer,
            is_traced,
            scratch: PathBuf::new(),
            services: vec![],
            seen: Report::default(),
            seen_of_services: BTreeMap::new(),
        }
    }

    /// A file of the command, or of a service.
    fn file(&self, what: &str, service: Option<&str>) -> PathBuf {
        self.scratch.join(service.map_or_else(|| what.to_owned(), |name| format!("{what}-of-{name}")))
    }

    fn report(&self, service: Option<&str>) -> Result<Report, Unseen> {
        let file = self.file(SEEN, service);
        if self.is_traced {
            return probing::seen(&file).map(counted);
        }
        let report: Report = probing::seen(&file)?;
        match report.lost_tasks {
            0 => Ok(report),
            lost => Err(Unseen::Refused(format!("too many processes and threads to watch: {lost}"))),
        }
    }
}

impl IntrusiveProbe for Watching<'_> {
    fn times_slower(&self) -> f64 {
        if self.is_traced { SLOWER_TRACED } else { SLOWER }
    }

    fn begin(&mut self, scratch: &Path) -> Result<(), Error> {
        self.forget(scratch);
        self.scratch = probing::absolute(scratch)?;
        self.seen = Report::default();
        self.services.clear();
        self.seen_of_services.clear();
        Ok(())
    }

    fn take_over(&mut self, command: &mut Command, service: Option<&str>) -> Result<(), Error> {
        let during = service.map(|_| self.scratch.join(DURING));
        let order = Order { output: self.file(SEEN, service), during, ..Order::default() };
        probing::order(command, self.tracer, &self.file(ORDER, service), order)?;
        self.services.extend(service.map(str::to_owned));
        Ok(())
    }

    /// From now on services are watched.
    fn trial_begins(&mut self) -> Result<(), Error> {
        probing::begin(&self.scratch.join(DURING))
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        probing::end(&self.scratch.join(DURING))
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        self.seen = self.report(None)?;
        Ok(())
    }

    fn see_services(&mut self) {
        for service in std::mem::take(&mut self.services) {
            let seen = self.report(Some(&service)).map_err(|unseen| probing::in_words(&unseen, SILENT));
            self.seen_of_services.insert(service, seen);
        }
    }

    fn forget(&mut self, scratch: &Path) {
        probing::forget(scratch, FILES);
    }
}

/// What the tracer counted, as a report without times and page faults.
fn counted(census: Census) -> Report {
    let sums = |calls: Calls| SyscallSums { count: calls.count, spent: Spent::default() };
    let syscalls = census.syscalls.into_iter().map(|(name, calls)| (name, sums(calls)));
    Report { tasks: census.tasks, syscalls: syscalls.collect(), ..Report::default() }
}
