//! What the kernel did for a workload: one execution of its command, watched from within the kernel at nearly its own speed,
//! after the variant was counted; where the kernel may not be watched, the tracer counts system calls. How it is watched is in
//! [`gather`] and [`probe`]; what two such executions explain is in `account/kernel.rs`.

pub(crate) mod gather;
mod probe;

pub use gather::execute;

use crate::census::{Report, Times};
use bakeoff_model::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of its lines in a journal.
pub(crate) const LINE: &str = "kernel";

/// What of the lifetime of all tasks must be accounted for, or times are not used.
const WHOLE: std::ops::RangeInclusive<f64> = 0.97..=1.03;

/// What was seen of one variant on one workload. A later line of the same variant and workload replaces it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KernelLine {
    /// The session that watched.
    pub session: u32,
    /// The variant's display name.
    pub variant: String,
    /// The workload.
    pub workload: String,
    /// The `$LENGTH` of the execution; none if it was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// What was seen; none if nothing could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// What was seen of services while the command ran.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Report>,
    /// Services of which nothing was seen, and why not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services_unseen: BTreeMap<String, String>,
    /// Why the tracer counted system calls, without times, page faults and waiting; none if the kernel was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<String>,
    /// Why nothing could be seen, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl KernelLine {
    /// The last word on each variant and workload, in the order of the first.
    pub fn of(record: &Record) -> Vec<Self> {
        let mut all: Vec<Self> = vec![];
        let lines = record.features.iter().filter(|line| line.kind() == LINE);
        // A line that cannot be read is as good as none: it is gathered again.
        for line in lines.filter_map(|line| line.fields::<Self>().ok()) {
            match all.iter_mut().find(|known| known.is_of(&line.variant, &line.workload)) {
                Some(known) => *known = line,
                None => all.push(line),
            }
        }
        all
    }

    /// What was seen of the command, or of a service.
    pub(crate) fn of_service(&self, service: Option<&str>) -> Option<&Report> {
        match service {
            Some(name) => self.services.get(name),
            None => self.report.as_ref(),
        }
    }

    /// Whether it is about this variant on this workload.
    pub(crate) fn is_of(&self, variant: &str, workload: &str) -> bool {
        self.variant == variant && self.workload == workload
    }
}

/// The times of a report; none unless they account for the lifetimes of all tasks.
pub(crate) fn times(report: &Report) -> Option<&Times> {
    Some(&report.times).filter(|times| times.accounted().is_some_and(|part| WHOLE.contains(&part)))
}
