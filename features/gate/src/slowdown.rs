//! Slowdowns: how much worse a variant is than the baseline, as a fraction of the baseline and in every metric with the
//! same sign. Arithmetic on numbers that are there; nothing is inferred.

use bakeoff_judge::findings::{Comparison, Scale};
use bakeoff_model::metric::Direction;

/// How slowdowns follow from the numbers of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slowdown {
    scale: Scale,
    better: Direction,
    /// What a difference is a fraction of: the baseline's median.
    of: f64,
}

impl Slowdown {
    /// None where the numbers are differences, and the baseline's median is not above 0.
    pub(crate) fn new(comparison: &Comparison, better: Direction, baseline: Option<f64>) -> Option<Self> {
        let of = match comparison.scale {
            Scale::Ratio => 1.0,
            Scale::Difference => baseline.filter(|median| *median > 0.0)?,
        };
        Some(Self { scale: comparison.scale, better, of })
    }

    /// The slowdown that a ratio, or a difference, amounts to: of a cost the part that it grows by, of a yield the part
    /// that it loses. So a report and the gate name the same percentages.
    pub(crate) fn of(&self, number: f64) -> f64 {
        let change = match self.scale {
            Scale::Ratio => number - 1.0,
            Scale::Difference => number / self.of,
        };
        match self.better {
            Direction::Less => change,
            Direction::More => -change,
        }
    }

    /// An interval of slowdowns, from the least to the largest.
    pub(crate) fn ends(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        match self.better {
            Direction::Less => [self.of(low), self.of(high)],
            Direction::More => [self.of(high), self.of(low)],
        }
    }

    /// A slowdown on the scale of the contrasts, which is that of logarithms for ratios.
    pub(crate) fn contrast(&self, slowdown: f64) -> f64 {
        let change = match self.better {
            Direction::Less => slowdown,
            // Nothing loses more than all of it.
            Direction::More => -slowdown.min(1.0),
        };
        match self.scale {
            Scale::Ratio => change.ln_1p(),
            Scale::Difference => change * self.of,
        }
    }
}
