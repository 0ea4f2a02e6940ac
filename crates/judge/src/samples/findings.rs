//! Findings about samples that somebody else measured: what `bakeoff stat` says of them, as plain serialisable values.
//! They are made by [`crate::judge_samples`]; a report prints them and computes nothing.

use crate::findings::{Caveat, Comparison, Summary};
use bakeoff_model::metric::Direction as Better;

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
    /// Comparisons over which the correction was made (Bonferroni): all of this unit.
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
    /// Where time is visible here or in the baseline: the largest difference that it could explain, on the scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_could_explain: Option<f64>,
    /// Why there is no verdict, if one was refused; the comparison then says `undecided`.
    pub refused: Option<Caveat>,
    /// Doubts about this sample on its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// Whether time can be seen in a sample, if its values stand in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// p of Mann and Kendall's test for drift; none for too few values, and for those that are all equal.
    pub drift_p: Option<f64>,
    /// p of Bartels' test for values that resemble their predecessors; none likewise.
    pub dependence_p: Option<f64>,
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
