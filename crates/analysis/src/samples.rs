//! Findings about samples that somebody else measured: what `bakeoff stat` says of them, as plain serialisable values.
//! They are made by [`crate::judge_samples`]; a report prints them and computes nothing.

pub use crate::findings::{Caveat, Comparison, Summary};
pub use bakeoff_model::samples::Better;

use crate::stats::trend;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// How samples are to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Confidence of intervals and verdicts, between 0 and 1.
    pub confidence: f64,
    /// Half-width of the zone of equivalence, as a fraction.
    pub margin: f64,
    /// The values of one line belong together in all samples of a table: each line is a block.
    pub paired: bool,
    /// The sample that others are compared with; the first one of those with the same settings and unit if none is named.
    pub baseline: Option<String>,
}

/// All that is said of some samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleFindings {
    /// [`FORMAT`].
    pub format: u32,
    /// Confidence of intervals and verdicts, between 0 and 1.
    pub confidence: f64,
    /// Half-width of the zone of equivalence, as a fraction.
    pub margin: f64,
    /// Whether lines were taken for blocks.
    pub paired: bool,
    /// Samples that are compared with each other, in the order in which they were read.
    pub tables: Vec<SampleTable>,
    /// Doubts about all comparisons.
    pub caveats: Vec<Caveat>,
}

/// Samples of the same thing in the same unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleTable {
    /// Settings that tell it apart from others of the same thing, such as `pkg`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// What was measured; empty if that is not known.
    pub row: String,
    /// Base unit; empty if it is not known.
    pub unit: String,
    /// Which direction is better: `faster` is the better one.
    pub better: Better,
    /// The unit was declared to be one whose values cannot vary by chance.
    #[serde(default)]
    pub exact: bool,
    /// Comparisons over which Holm's correction was made: all of this unit.
    pub family: u32,
    /// The baseline first.
    pub samples: Vec<SampleRow>,
}

/// One sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleRow {
    /// Its label.
    pub sample: String,
    /// Its own values; a standard deviation that is too large to be written is none.
    pub summary: Summary,
    /// What the order of its values says.
    pub order: Order,
    /// Against the baseline; none for the baseline itself, and where the baseline is missing.
    pub comparison: Option<Comparison>,
    /// Why there is no verdict, if one was refused; the comparison then says `undecided`.
    pub refused: Option<Caveat>,
    /// Doubts about this sample on its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// Of a longer sample, drift is looked for in the means of chunks, and dependence also in its first values.
const LONG: usize = 10_000;
/// About so many chunks.
const CHUNKS: usize = 1000;

/// Whether time can be seen in a sample, if its values stand in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// p of Mann and Kendall's test for drift; none for too few values, and for those that are all equal.
    pub drift_p: Option<f64>,
    /// p of Bartels' test for values that resemble their predecessors; none likewise.
    pub dependence_p: Option<f64>,
}

impl Order {
    /// Below this p, time is visible.
    pub const VISIBLE_P: f64 = 0.01;

    /// Looks for time in a sample. Of a long one, in the means of successive chunks, and for dependence also in its
    /// beginning; the smaller of those two p counts twice.
    pub(crate) fn of(values: &[f64]) -> Self {
        let tests = |values: &[f64]| (trend::mann_kendall(values).map(|t| t.p), trend::bartels(values).map(|t| t.p));
        if values.len() <= LONG {
            let (drift_p, dependence_p) = tests(values);
            return Self { drift_p, dependence_p };
        }
        let size = values.len().div_ceil(CHUNKS);
        // Scaled first, so that a sum does not overflow.
        let chunks = values.chunks_exact(size);
        let means: Vec<f64> = chunks.map(|chunk| chunk.iter().map(|x| x / size as f64).sum()).collect();
        let (drift_p, dependence_p) = tests(&means);
        let beginning = trend::bartels(&values[..LONG]).map(|t| t.p);
        let smaller = dependence_p.into_iter().chain(beginning).reduce(f64::min);
        Self { drift_p, dependence_p: smaller.map(|p| (2.0 * p).min(1.0)) }
    }

    /// Whether one of the two is visible.
    pub fn is_visible(&self) -> bool {
        [self.drift_p, self.dependence_p].into_iter().flatten().any(|p| p < Self::VISIBLE_P)
    }
}

/// What cannot be asked of these samples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unaskable {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}
