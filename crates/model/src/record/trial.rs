//! One execution of one cell in one block, as a journal has it.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use super::outcome::Outcome;
use super::output::{Output, OutputDifference};
use crate::marks::Marks;
use crate::metric::{self, Measurements};
use crate::suite::Parts;
use serde::{Deserialize, Serialize};

/// How often a void trial is repeated at most.
pub const MOST_REPEATS: u32 = 5;

/// One execution of one cell in one block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trial {
    /// The block's number, from 1.
    pub block: u32,
    pub workload: String,
    pub condition: String,
    /// Place in the block's order, from 1.
    pub position: u32,
    /// The variant's display name, or [`TWIN`].
    pub variant: String,
    pub session: u32,
    /// When it was launched, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    pub outcome: Outcome,
    /// What was measured; kept for failed trials too.
    pub measurements: Measurements,
    /// Processes that outlived the main one, and were killed: what they did is not measured.
    #[serde(default)]
    pub leftovers: u32,
    /// 0 for the first attempt; counts up where void ones were repeated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// Phases and ops that it marked.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// Where it ran several benchmarks: what each of them measured.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    pub parts: Parts,
    /// Where several processes run at once: each one's own measurements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Measurements>,
    /// What each process printed on its standard output; empty if that was thrown away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Output>,
    /// Where it first differs from what the baseline had printed; only with the first trial in a session of which that
    /// could be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_difference: Option<OutputDifference>,
}

/// For fields that are left out where they are 0.
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Trial {
    /// The value of a metric, as measured or derived from what was measured and marked; none if it was not.
    pub fn value(&self, name: &str) -> Option<f64> {
        let wall_s = metric::value("wall", &self.measurements);
        let measured = metric::value(name, &self.measurements).or_else(|| self.marks.value(name, wall_s));
        if measured.is_none() && name == "throughput" { self.throughput(wall_s?) } else { measured }
    }

    /// Ops in a second; where none are marked, processes.
    fn throughput(&self, wall_s: f64) -> Option<f64> {
        let count = match self.marks.ops_count() {
            0 => self.processes.len().max(1) as f64,
            ops => ops as f64,
        };
        (wall_s > 0.0).then(|| count / wall_s)
    }

    /// When it ended, in seconds since 1970-01-01 UTC.
    pub fn ended_unix_s(&self) -> f64 {
        self.started_unix_s + self.value("wall").unwrap_or(0.0)
    }

    /// Whether no other attempt follows: it is not void, or it has been repeated often enough.
    pub fn is_final(&self) -> bool {
        !matches!(self.outcome, Outcome::Void(_)) || self.attempt >= MOST_REPEATS
    }
}
