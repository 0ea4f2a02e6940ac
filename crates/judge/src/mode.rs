//! What a stopping rule makes of the level of an interval and of a p; a record's mode is in [`super::interim_view`].

use bakeoff_stats::{blocks, eprocess, spending};

/// Under *precision*, the part of alpha at which intervals and p are taken: simulated, it keeps their coverage.
const PRECISION_SHARE: f64 = 0.6;

/// How p and intervals are inferred, given when the study is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InferenceMode {
    /// The number of blocks was fixed: p and intervals are taken as they are.
    Fixed,
    /// The study stops by precision: at a part of the level.
    Precision,
    /// The study is at a look, counted from 0, of looks up to `most` blocks: at the level of that look.
    Look {
        /// The most blocks.
        most: u32,
        /// Which look.
        look: usize,
    },
    /// The study is before its first look: nothing is inferred.
    Early {
        /// The blocks at the first look.
        first: u32,
    },
    /// The study may be looked at at any time: the bet against the coins gives p and intervals.
    Anytime,
}

impl InferenceMode {
    /// The nominal level at which a test, or an interval, is to be taken for it to have this level in all.
    pub fn level(self, alpha: f64) -> f64 {
        match self {
            Self::Fixed | Self::Anytime | Self::Early { .. } => alpha,
            Self::Precision => PRECISION_SHARE * alpha,
            Self::Look { most, look } => {
                let levels = spending::levels(&spending::looks(most), alpha.min(1.0));
                // Zero refutes nothing; it cannot happen for looks that grow.
                levels.and_then(|levels| levels.get(look).copied()).unwrap_or(0.0)
            }
        }
    }

    /// The p of a test made now, comparable with alpha.
    pub(super) fn overall(self, p: f64) -> f64 {
        match self {
            Self::Fixed | Self::Anytime => p,
            Self::Precision => (p / PRECISION_SHARE).min(1.0),
            Self::Look { most, look } => spending::adjusted_p(&spending::looks(most), look, p).unwrap_or(1.0),
            Self::Early { .. } => 1.0,
        }
    }

    /// Whether the p of an ordinary test can be made comparable with alpha; a bet's is of another kind.
    pub(super) fn takes_p(self) -> bool {
        !matches!(self, Self::Anytime | Self::Early { .. })
    }

    /// The least number of blocks that can show a difference in one of this many comparisons, as of now.
    pub(super) fn least_blocks(self, comparisons: u32, alpha: f64) -> u32 {
        match self {
            Self::Early { first } => first,
            Self::Anytime => {
                let per_comparison = alpha / f64::from(comparisons.max(1));
                (1..=u32::MAX).find(|n| eprocess::at_most(*n as usize) >= 1.0 / per_comparison).unwrap_or(0)
            }
            _ => blocks::least(self.level(alpha)),
        }
    }
}
