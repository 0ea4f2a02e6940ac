//! What is said of one summary of published figures, and the terms on which figures are judged. These are types; what
//! makes a finding is [`super::check_summary`].

use crate::figures::Range;
use crate::figures::compare::Sample;
use crate::published::Summary;
use serde::{Deserialize, Serialize};

/// How figures are to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Index of the summary whose name the baseline has; of a quantity without that name the first is the baseline.
    pub baseline: usize,
    /// Half-width of the zone of equivalence, as a fraction.
    pub margin: f64,
    /// Confidence of intervals, between 0 and 1.
    pub confidence: f64,
    /// Whether more of the values is better, as of messages per second.
    pub more_is_better: bool,
}

/// What is said of one summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryFinding {
    /// As it was published.
    pub published: Summary,
    /// Why no values can have these figures; none if some can, as far as is known.
    pub impossible: Option<String>,
    /// The values themselves, ascending, if the figures tell; each from its least to its greatest.
    pub values: Option<Vec<Range>>,
    /// What all figures together leave of the mean.
    pub mean: Option<Range>,
    /// What all figures together leave of the standard deviation.
    pub sd: Option<Range>,
    /// Where the standard deviation is from.
    pub sd_from: SdFrom,
}

/// Where a standard deviation is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SdFrom {
    /// It was published.
    Published,
    /// It follows from the values, which follow from the other figures.
    Values,
    /// The other figures leave a range.
    Bounds,
    /// Nothing is known of it.
    Nothing,
}

impl SummaryFinding {
    /// What a comparison needs of it; none if it is impossible, or if too little is known.
    pub(super) fn sample(&self) -> Option<Sample> {
        Some(Sample { n: self.published.n?, mean: self.mean?, sd: self.sd? })
    }
}
