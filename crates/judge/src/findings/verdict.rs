//! What may be claimed of a comparison, and what kind of number its estimate is. Plain data.

use serde::{Deserialize, Serialize};

/// What kind of number `estimate`, `low` and `high` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// variant ÷ baseline; 1 is no difference.
    Ratio,
    /// variant − baseline, in the metric's unit; 0 is no difference. Used where some value is not positive.
    Difference,
}

/// The verdicts. They say which is better: of a cost less, of a yield more. Reports choose the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Shown to be better in the metric than the baseline, and not shown to be within the margin.
    Faster,
    /// Shown to be worse in the metric than the baseline, and not shown to be within the margin.
    Slower,
    /// Not shown to differ, and shown to lie within the margin.
    Equivalent,
    /// Shown to differ, and shown to lie within the margin.
    Negligible,
    /// Neither.
    Undecided {
        /// Blocks still needed for a decision, at 80 % power if estimate and spread stay as they are; none if unknown.
        more_blocks: Option<u32>,
    },
    /// None is given: it printed something other than the baseline, so it may be another program.
    Withheld,
}
