//! What the pairs of one comparison say, on the scale of their contrasts: estimate, intervals, p. It claims nothing.
//!
//! The contrast of a block is ln(variant ÷ baseline). If some value is not positive, as with counters, it is the raw
//! difference variant − baseline, and the margin is a part of the baseline's median; if that is not positive either,
//! there is no margin, and nothing can be shown to be equivalent.

use super::Rule;
use super::trials::Pairs;
use crate::findings::{Scale, Test};
use crate::stats::describe::{mean, median, sd};
use crate::stats::equivalence::Zone;
use crate::stats::signflip::{Counting, SignFlip};
use crate::stats::student::{MeanT, t_quantile};

/// From this number of blocks on, the sign-flip test is used; below, Student's t.
const SIGN_FLIP_MIN: usize = 6;

/// Below this number of blocks nothing is inferred.
const INFER_MIN: usize = 3;

/// The inference from one comparison. All numbers are on the scale of the contrasts: 0 is no difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inference {
    pub(super) blocks: u32,
    pub(super) scale: Scale,
    pub(super) zone: Option<Zone>,
    pub(super) estimate: f64,
    pub(super) interval: Option<[f64; 2]>,
    pub(super) equivalence_interval: Option<[f64; 2]>,
    pub(super) p: Option<f64>,
    pub(super) test: Test,
    /// Standard deviation of the contrasts for planning: none for fewer than two blocks.
    pub(super) sd: Option<f64>,
}

impl Inference {
    /// None if there is no pair.
    pub(super) fn new(pairs: &Pairs, rule: Rule) -> Option<Self> {
        let positive = pairs.baseline.iter().chain(&pairs.variant).all(|value| *value > 0.0);
        let (scale, zone) = if positive {
            (Scale::Ratio, Some(Zone::of_log_ratios(rule.margin)))
        } else {
            let half_width = rule.margin * median(&pairs.baseline)?.abs();
            (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
        };
        let contrast = |(base, variant): (&f64, &f64)| match scale {
            Scale::Ratio => (variant / base).ln(),
            Scale::Difference => variant - base,
        };
        let contrasts: Vec<f64> = pairs.baseline.iter().zip(&pairs.variant).map(contrast).collect();
        let nothing = Self {
            blocks: contrasts.len() as u32,
            scale,
            zone,
            estimate: median(&contrasts)?,
            interval: None,
            equivalence_interval: None,
            p: None,
            test: Test::TooFew,
            sd: sd(&contrasts),
        };
        if contrasts.len() < INFER_MIN {
            return Some(nothing);
        }
        if is_constant(&pairs.baseline) && is_constant(&pairs.variant) {
            return Some(Self { test: Test::Deterministic, ..nothing });
        }
        if contrasts.len() < SIGN_FLIP_MIN {
            nothing.by_t(&contrasts, rule)
        } else {
            nothing.by_flips(&contrasts, rule)
        }
    }

    fn by_t(self, contrasts: &[f64], rule: Rule) -> Option<Self> {
        let t = MeanT::new(contrasts)?;
        Some(Self {
            estimate: mean(contrasts),
            interval: t.interval(rule.alpha),
            equivalence_interval: t.interval(2.0 * rule.alpha),
            p: t.p(),
            test: Test::PairedLogT,
            ..self
        })
    }

    fn by_flips(self, contrasts: &[f64], rule: Rule) -> Option<Self> {
        let mut test = SignFlip::new(contrasts, rule.seed)?;
        let interval = test.interval(rule.alpha);
        Some(Self {
            estimate: test.estimate(),
            interval,
            equivalence_interval: test.interval(2.0 * rule.alpha),
            p: Some(test.p(0.0)),
            test: match test.counting() {
                Counting::Exact => Test::SignFlip,
                Counting::MonteCarlo => Test::SignFlipMonteCarlo { seed: rule.seed },
                Counting::Edgeworth => Test::SignFlipEdgeworth,
            },
            sd: interval.and_then(|interval| robust_sd(interval, contrasts.len(), rule.alpha)).or(self.sd),
            ..self
        })
    }
}

/// The standard deviation whose interval by Student's t would be as wide as this one: so a few outliers, which the
/// sign-flip test clips, do not inflate the number of blocks that seem to be needed.
fn robust_sd([low, high]: [f64; 2], n: usize, alpha: f64) -> Option<f64> {
    let t = t_quantile(1.0 - alpha / 2.0, n as f64 - 1.0)?;
    Some((high - low) / 2.0 * (n as f64).sqrt() / t)
}

fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}
