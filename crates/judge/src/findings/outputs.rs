//! What the variants printed, compared with the baseline, as plain values.

use bakeoff_model::record::OutputDifference;
use bakeoff_model::study::OutputUse;
use serde::{Deserialize, Serialize};

/// What was printed in one workload under one condition, where not all of it is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outputs {
    pub workload: String,
    pub condition: String,
    /// What follows from a difference.
    pub output: OutputUse,
    /// Trials of the baseline and its twin that count and whose output was recorded.
    pub baseline_trials: u32,
    /// Whether their outputs differ among themselves: then nothing follows from those of others.
    pub varies: bool,
    /// Bytes that the baseline printed, the least and the most; over all processes of a trial.
    pub baseline_bytes: [u64; 2],
    /// Where outputs of the baseline first differ, if it varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<OutputDifference>,
    /// Variants that printed something else; none if the baseline varies.
    pub others: Vec<OtherOutput>,
}

/// A variant that printed something other than the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherOutput {
    /// Its display name.
    pub variant: String,
    pub trials: u32,
    /// Its trials that count and whose output was recorded.
    pub of: u32,
    /// Bytes that it printed, the least and the most.
    pub bytes: [u64; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<OutputDifference>,
}
