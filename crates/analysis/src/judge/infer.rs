//! What the contrasts of one comparison say: estimate, intervals, p, on their own scale. It claims nothing, and does not
//! know what the contrasts are contrasts of: see [`super::contrasts`].

use super::Rule;
use super::contrasts::Contrasts;
use crate::findings::{Scale, Test};
use crate::stats::describe::{mean, median, sd};
use crate::stats::eprocess::{self, EProcess};
use crate::stats::equivalence::Zone;
use crate::stats::signflip::{Counting, SignFlip};
use crate::stats::student::{MeanT, t_quantile};
use crate::stopping::Reading;

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
    pub(super) simultaneous_interval: Option<[f64; 2]>,
    pub(super) p: Option<f64>,
    pub(super) test: Test,
    /// Standard deviation of the contrasts for planning: none for fewer than two blocks.
    pub(super) sd: Option<f64>,
}

impl Inference {
    /// None if there is no contrast.
    pub(super) fn new(contrasts: &Contrasts, rule: Rule) -> Option<Self> {
        let values = &contrasts.values;
        let nothing = Self {
            blocks: values.len() as u32,
            scale: contrasts.scale,
            zone: contrasts.zone,
            estimate: median(values)?,
            interval: None,
            equivalence_interval: None,
            simultaneous_interval: None,
            p: None,
            test: Test::TooFew,
            sd: sd(values),
        };
        if values.len() < INFER_MIN || matches!(rule.reading, Reading::Early { .. }) {
            Some(nothing)
        } else if contrasts.constant {
            Some(Self { test: Test::Deterministic, ..nothing })
        } else if rule.reading == Reading::Anytime {
            nothing.by_evidence(values, rule)
        } else if values.len() < SIGN_FLIP_MIN {
            nothing.by_t(values, rule)
        } else {
            nothing.by_flips(values, rule)
        }
    }

    fn by_t(self, contrasts: &[f64], rule: Rule) -> Option<Self> {
        let t = MeanT::new(contrasts)?;
        Some(Self {
            estimate: mean(contrasts),
            interval: t.interval(rule.level(rule.alpha)),
            equivalence_interval: t.interval(rule.level(2.0 * rule.alpha)),
            simultaneous_interval: rule.simultaneous_alpha().and_then(|alpha| t.interval(rule.level(alpha))),
            p: t.p().map(|p| rule.reading.overall(p)),
            test: Test::PairedLogT,
            ..self
        })
    }

    fn by_flips(self, contrasts: &[f64], rule: Rule) -> Option<Self> {
        let mut test = SignFlip::new(contrasts, rule.seed)?;
        let level = rule.level(rule.alpha);
        let interval = test.interval(level);
        Some(Self {
            estimate: test.estimate(),
            interval,
            equivalence_interval: test.interval(rule.level(2.0 * rule.alpha)),
            simultaneous_interval: rule.simultaneous_alpha().and_then(|alpha| test.interval(rule.level(alpha))),
            p: Some(rule.reading.overall(test.p(0.0))),
            test: match test.counting() {
                Counting::Exact => Test::SignFlip,
                Counting::MonteCarlo => Test::SignFlipMonteCarlo { seed: rule.seed },
                Counting::Edgeworth => Test::SignFlipEdgeworth,
            },
            sd: interval.and_then(|interval| robust_sd(interval, contrasts.len(), level)).or(self.sd),
            ..self
        })
    }

    /// What may be said at any time: all but the centre comes of the bet against the coins.
    fn by_evidence(self, contrasts: &[f64], rule: Rule) -> Option<Self> {
        let mut test = SignFlip::new(contrasts, rule.seed)?;
        let usual = test.interval(rule.alpha);
        Some(Self {
            estimate: test.estimate(),
            interval: eprocess::interval(contrasts, rule.alpha),
            equivalence_interval: eprocess::interval(contrasts, 2.0 * rule.alpha),
            simultaneous_interval: rule.simultaneous_alpha().and_then(|alpha| eprocess::interval(contrasts, alpha)),
            p: Some(EProcess::of(contrasts)?.p()),
            test: Test::SignFlipEvidence,
            sd: usual.and_then(|interval| robust_sd(interval, contrasts.len(), rule.alpha)).or(self.sd),
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
