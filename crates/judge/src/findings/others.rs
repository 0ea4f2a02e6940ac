//! Findings besides the comparisons: how long single ops took, what the surroundings were, what could not be measured,
//! and which trials do not count. Plain serialisable values, like the rest; nothing here is compared.

use super::Summary;
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::record::{Failure, Held};
use serde::{Deserialize, Serialize};

/// The latencies of one kind of op in one place: each figure is the median, over trials that count, of the trial's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyTable {
    pub workload: String,
    pub condition: String,
    /// The phase in which they ended; none before the first one, or without phases.
    pub phase: Option<String>,
    /// Their name; none if they have none.
    pub op: Option<String>,
    /// The variants that marked any, the baseline first.
    pub rows: Vec<LatencyRow>,
    /// The baseline's twin: so far the same thing differs from itself.
    pub twin: Option<LatencyRow>,
}

/// One variant's latencies, in seconds, and how many ops there were in a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// The variant's display name.
    pub variant: String,
    /// Trials that count and marked such ops.
    pub trials: u32,
    pub ops: Typical,
    /// Ops in a second, as the metric `op.rate` has them; none if no trial tells how long its phase took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<Typical>,
    /// The arithmetic mean of a trial's ops.
    pub mean_s: Typical,
    pub min_s: Typical,
    /// Half of them are at most so long.
    pub p50_s: Typical,
    /// Nine in ten.
    pub p90_s: Typical,
    pub p99_s: Typical,
    pub p999_s: Typical,
    pub max_s: Typical,
    /// All ops of all trials together, as people print them. There is no interval: ops of a trial are not independent.
    pub pooled: Pooled,
}

/// What is typical of some trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Typical {
    pub median: f64,
    /// Its interval by order statistics, at the study's confidence; none if there are too few trials.
    pub interval: Option<[f64; 2]>,
}

/// All ops of a variant in one heap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    pub ops: u64,
    pub mean_s: f64,
    pub min_s: f64,
    pub max_s: f64,
}

/// One condition: what was asked for, whether it was so, and what was measured of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionParts {
    pub condition: String,
    /// Its parts, in the order in which they were asked for; one on which sessions disagree is there once for each state.
    pub parts: Vec<Part>,
    /// What was measured of load and throughput, for each workload.
    pub watched: Vec<Watched>,
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub what: String,
    pub state: Held,
    /// The sessions that say so, of those that say anything of it.
    pub sessions: u32,
    /// Sessions that say anything of it.
    pub of: u32,
    /// If it is observed: the metric over all trials under this condition that count, in base units.
    pub observed: Option<Summary>,
}

/// A metric of the surroundings under one workload and condition, over all trials that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    pub workload: String,
    pub metric: String,
    pub what: String,
    pub unit: Unit,
    pub better: Direction,
    /// Over all variants and the twin.
    pub all: Summary,
    /// Variant by variant, if their medians differ by more than 5 %; else empty.
    pub variants: Vec<WatchedVariant>,
}

/// The same of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchedVariant {
    pub variant: String,
    pub summary: Summary,
}

/// Trials of one cell that do not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FailedTrials {
    /// The variant's display name, or the twin's.
    pub variant: String,
    pub workload: String,
    pub condition: String,
    pub failed: u32,
    pub void: u32,
    /// Number of void trials that were repeated: another trial took their place in the block.
    #[serde(default)]
    pub repeated: u32,
    /// By which rules they are void; each trial counts for one.
    #[serde(default)]
    pub void_by: Vec<VoidBy>,
    /// Number of trials of this cell in all, repeated ones included.
    pub of: u32,
    pub example: Option<Failure>,
}

/// Void trials by the rule that made them so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoidBy {
    /// The rule's metric; none if the record does not tell which rule it was.
    pub metric: Option<String>,
    pub trials: u32,
    /// The first one's numbers against the rule's, in words.
    pub example: String,
}

/// How far layouts were varied. Only if every pass was relinked, claims hold for builds in general.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Layouts {
    /// Passes for which everything was relinked.
    pub passes: u32,
    /// Passes with trials.
    pub of: u32,
    /// Whether what the variants share was at the same place in all of them, so that layouts add little to a difference.
    #[serde(default)]
    pub matched: bool,
    /// By how much the baseline differs between layouts, as the standard deviation of its relative values in the deciding
    /// metric, without the noise that its twin shows; of all workloads and conditions, the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// The interval of that spread, of the study's confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_interval: Option<[f64; 2]>,
    /// How many layouts there are, where each is one of several passes, and counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub few: Option<u32>,
    /// The conditions in which files were measured as built, beside others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub as_built: Vec<String>,
}
