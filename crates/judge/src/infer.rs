//! What the contrasts of a family of comparisons say: estimates, intervals, p, on their own scale. It claims nothing, and
//! does not know what the contrasts are contrasts of: see [`super::contrasts`].
//!
//! A family is corrected in one way, and interval and p come from the same test: single-step max-T for the sign-flip test,
//! Bonferroni's share of alpha for Student's t or a bet. If both occur, each gets its comparisons' part of alpha. A
//! comparison that cannot be tested cannot be claimed to differ, and takes nothing from the others.

use super::contrasts::Contrasts;
use super::mode::InferenceMode;
use super::rule::DecisionRule;
use crate::findings::{Inferred, Scale, Test, Tested};
use bakeoff_stats::describe::{mean, median, sd};
use bakeoff_stats::eprocess::{self, EProcess};
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::maxt::MaxT;
use bakeoff_stats::signflip::{Counting, SignFlip};
use bakeoff_stats::student::{MeanT, t_quantile};
use rayon::prelude::*;

/// From this number of blocks on, the sign-flip test is used; below, Student's t.
pub const SIGN_FLIP_MIN: usize = 6;

/// Below this number of blocks nothing is inferred.
pub const INFER_MIN: usize = 3;

/// A neighbour of a hypothesis is this part of the interval away.
const NEIGHBOUR: f64 = 1e-4;

/// The inference from one comparison. All numbers are on the scale of the contrasts: 0 is no difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Inference {
    pub(super) blocks: u32,
    pub(super) scale: Scale,
    pub(super) zone: Option<Zone>,
    pub(super) estimate: f64,
    pub(super) inferred: Inferred,
    /// Standard deviation of the contrasts for planning: none for fewer than two blocks.
    pub(super) sd: Option<f64>,
    /// By how much the intervals were widened for the ticks of a clock, and the step of its grid in the metric's unit.
    pub(super) resolution: f64,
    pub(super) step: f64,
    /// Some value may be the launcher's own: nothing is shown to be equal.
    pub(super) at_floor: bool,
    /// Exact values differ from here on.
    pub(super) agree: f64,
}

/// Infers from all comparisons of a family, in their order; none where there is no contrast. `judged_elsewhere` others of the
/// family are judged by other means, each at its part of alpha.
pub(super) fn infer_family(all: &[Contrasts], judged_elsewhere: usize, rule: DecisionRule) -> Vec<Option<Inference>> {
    // Dozens of variants have hundreds of pairs, each with intervals of its own.
    let mut inferences: Vec<Option<Inference>> =
        all.par_iter().map(|contrasts| Inference::uncorrected(contrasts, rule, SignFlip::new)).collect();
    let places = |is_of: fn(Test) -> bool| -> Vec<usize> {
        let of = |(place, inference): (usize, &Option<Inference>)| {
            inference.as_ref().filter(|inference| inference.test().is_some_and(is_of)).map(|_| place)
        };
        inferences.iter().enumerate().filter_map(of).collect()
    };
    let (flipped, tested) = (places(is_flipped), places(is_tested));
    if tested.len() + judged_elsewhere > 1 {
        let count = (tested.len() + judged_elsewhere) as f64;
        for place in tested.iter().filter(|place| !flipped.contains(place)) {
            if let Some(inference) = &mut inferences[*place] {
                inference.apply_bonferroni(&all[*place].values, rule, count);
            }
        }
        flip_together(all, &mut inferences, &flipped, flipped.len() as f64 / count, rule);
    }
    for (inference, contrasts) in inferences.iter_mut().zip(all) {
        if let Some(inference) = inference {
            inference.widen(contrasts, rule.alpha);
        }
    }
    inferences
}

/// One of several comparisons that share no blocks, corrected by Bonferroni. None if there is no contrast.
pub(super) fn infer_independent(comparisons: u32, contrasts: &Contrasts, rule: DecisionRule) -> Option<Inference> {
    let mut inference = Inference::uncorrected(contrasts, rule, SignFlip::new)?;
    if comparisons > 1 && inference.test().is_some_and(is_tested) {
        inference.apply_bonferroni(&contrasts.values, rule, f64::from(comparisons));
    }
    inference.widen(contrasts, rule.alpha);
    Some(inference)
}

/// One of very many that are judged alone, uncorrected. None if there is no contrast.
pub(super) fn infer_one_of_many(contrasts: &Contrasts, rule: DecisionRule) -> Option<Inference> {
    let mut inference = Inference::uncorrected(contrasts, rule, |values, _| SignFlip::quick(values))?;
    inference.widen(contrasts, rule.alpha);
    Some(inference)
}

/// Makes the sign-flip test of some contrasts, with the seed of its flips.
type Flipper = fn(&[f64], u64) -> Option<SignFlip>;

pub(super) fn is_flipped(test: Test) -> bool {
    matches!(test, Test::SignFlip | Test::SignFlipMonteCarlo { .. } | Test::SignFlipEdgeworth)
}

fn is_tested(test: Test) -> bool {
    is_flipped(test) || matches!(test, Test::PairedLogT | Test::SignFlipEvidence)
}

/// Corrects the comparisons at these places by max-T, at this part of alpha.
fn flip_together(
    all: &[Contrasts],
    inferences: &mut [Option<Inference>],
    places: &[usize],
    part: f64,
    rule: DecisionRule,
) {
    let mut blocks: Vec<u32> = places.iter().flat_map(|place| &all[*place].blocks).copied().collect();
    blocks.sort_unstable();
    blocks.dedup();
    let column = |place: &usize| {
        let contrasts = &all[*place];
        let mut column = vec![None; blocks.len()];
        for (block, value) in contrasts.blocks.iter().zip(&contrasts.values) {
            if let Ok(at) = blocks.binary_search(block) {
                column[at] = Some(*value);
            }
        }
        column
    };
    let columns: Vec<Vec<Option<f64>>> = places.iter().map(column).collect();
    let level = rule.mode.level(part * rule.alpha);
    let Some(test) = MaxT::new(&columns, level, rule.seed) else { return };
    let how = if test.is_exact() { Test::SignFlip } else { Test::SignFlipMonteCarlo { seed: rule.seed } };
    // Where a clock ticks, the hypothesis that is easiest to keep is the one of interest.
    let theta = |place: &usize| Some(nearest_null(inferences[*place].as_ref()?.estimate, all[*place].resolution));
    let thetas: Vec<f64> = places.iter().map(|place| theta(place).unwrap_or(0.0)).collect();
    let judged: Vec<(Option<[f64; 2]>, f64)> = thetas
        .par_iter()
        .enumerate()
        .map_init(
            || test.clone(),
            |test, (column, theta)| {
                let interval = test.interval(column, level);
                (interval, p_as_interval(|theta| test.p(column, theta), *theta, interval, level))
            },
        )
        .collect();
    for (place, (interval, p)) in places.iter().zip(judged) {
        let Some(Inference { inferred: Inferred::Tested(tested), .. }) = &mut inferences[*place] else { continue };
        tested.interval = interval;
        tested.p_corrected = Some((rule.mode.overall(p) / part).min(1.0));
        tested.test = how;
    }
}

/// Of all true values that ticks could have made look like no difference, the one that the estimate speaks least against.
pub(super) fn nearest_null(estimate: f64, resolution: f64) -> f64 {
    estimate.clamp(-resolution, resolution)
}

/// The p of a hypothesis that agrees with the interval. Where contrasts equal the hypothesis, the step function p has a
/// value of its own: an interval that has the hypothesis has its neighbours too, so the largest of their p is used.
fn p_as_interval(mut p: impl FnMut(f64) -> f64, theta: f64, interval: Option<[f64; 2]>, level: f64) -> f64 {
    let at = p(theta);
    let Some([low, high]) = interval.filter(|[low, high]| at <= level && (*low..=*high).contains(&theta)) else {
        return at;
    };
    let step = NEIGHBOUR * (high - low);
    at.max(p(theta - step)).max(p(theta + step))
}

impl Inference {
    /// The test that was used, if one was.
    pub(super) fn test(&self) -> Option<Test> {
        self.inferred.tested().map(|tested| tested.test)
    }

    /// The interval, corrected for the family; none where no test gives one.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        self.inferred.tested()?.interval
    }

    /// As if it were the only comparison. None if there is no contrast.
    fn uncorrected(contrasts: &Contrasts, rule: DecisionRule, flipper: Flipper) -> Option<Self> {
        let values = &contrasts.values;
        let nothing = Self {
            blocks: values.len() as u32,
            scale: contrasts.scale,
            zone: contrasts.zone,
            estimate: median(values)?,
            inferred: Inferred::TooFew,
            sd: sd(values),
            resolution: contrasts.resolution,
            step: contrasts.step,
            at_floor: contrasts.at_floor,
            agree: contrasts.agree,
        };
        if values.len() < INFER_MIN || matches!(rule.mode, InferenceMode::Early { .. }) {
            Some(nothing)
        } else if contrasts.exact {
            Some(Self { inferred: Inferred::Exact, ..nothing })
        } else if contrasts.is_too_coarse() {
            Some(Self { inferred: Inferred::TooCoarse, ..nothing })
        } else if rule.mode == InferenceMode::Anytime {
            nothing.test_e_process(contrasts, rule)
        } else if values.len() < SIGN_FLIP_MIN {
            Some(nothing.test_t(contrasts, rule))
        } else {
            nothing.test_sign_flip(contrasts, rule, flipper)
        }
    }

    /// Student's t; too few for it where no contrast varies, as where a clock ticks: that is no normal distribution.
    fn test_t(self, contrasts: &Contrasts, rule: DecisionRule) -> Self {
        let values = &contrasts.values;
        let varies = values.windows(2).any(|pair| pair[0] != pair[1]);
        let Some(t) = MeanT::new(values).filter(|_| varies) else { return self };
        let null = nearest_null(mean(values), contrasts.resolution);
        let moved: Vec<f64> = values.iter().map(|x| x - null).collect();
        let p = MeanT::new(&moved).and_then(|t| t.p()).map(|p| rule.mode.overall(p));
        let tested = Tested {
            test: Test::PairedLogT,
            p,
            p_corrected: p,
            interval: t.interval(rule.mode.level(rule.alpha)),
            equivalence_interval: t.interval(rule.mode.level(2.0 * rule.alpha)),
        };
        Self { estimate: mean(values), inferred: Inferred::Tested(tested), ..self }
    }

    fn test_sign_flip(self, contrasts: &Contrasts, rule: DecisionRule, flipper: Flipper) -> Option<Self> {
        let mut test = flipper(&contrasts.values, rule.seed)?;
        let level = rule.mode.level(2.0 * rule.alpha);
        let (estimate, equivalence_interval) = (test.estimate(), test.interval(level));
        let interval = test.interval(rule.mode.level(rule.alpha));
        let null = nearest_null(estimate, contrasts.resolution);
        let p = p_as_interval(|theta| test.p(theta), null, interval, rule.mode.level(rule.alpha));
        let p = Some(rule.mode.overall(p));
        let how = match test.counting() {
            Counting::Exact => Test::SignFlip,
            Counting::MonteCarlo => Test::SignFlipMonteCarlo { seed: rule.seed },
            Counting::Edgeworth => Test::SignFlipEdgeworth,
        };
        Some(Self {
            estimate,
            inferred: Inferred::Tested(Tested { test: how, p, p_corrected: p, interval, equivalence_interval }),
            sd: equivalence_interval.and_then(|ends| robust_sd(ends, contrasts.values.len(), level)).or(self.sd),
            ..self
        })
    }

    /// What may be said at any time: all but the centre comes of the bet against the coins.
    fn test_e_process(self, contrasts: &Contrasts, rule: DecisionRule) -> Option<Self> {
        let values = &contrasts.values;
        let mut test = SignFlip::new(values, rule.seed)?;
        let usual = test.interval(rule.alpha);
        let estimate = test.estimate();
        let null = nearest_null(estimate, contrasts.resolution);
        let moved: Vec<f64> = values.iter().map(|x| x - null).collect();
        let p = Some(EProcess::of(&moved)?.p());
        let tested = Tested {
            test: Test::SignFlipEvidence,
            p,
            p_corrected: p,
            interval: eprocess::interval(values, rule.alpha),
            equivalence_interval: eprocess::interval(values, 2.0 * rule.alpha),
        };
        Some(Self {
            estimate,
            inferred: Inferred::Tested(tested),
            sd: usual.and_then(|interval| robust_sd(interval, values.len(), rule.alpha)).or(self.sd),
            ..self
        })
    }

    /// Bonferroni's correction over this number of comparisons.
    fn apply_bonferroni(&mut self, values: &[f64], rule: DecisionRule, comparisons: f64) {
        let level = rule.mode.level(rule.alpha / comparisons);
        let Inferred::Tested(tested) = &mut self.inferred else { return };
        tested.interval = match tested.test {
            Test::PairedLogT => MeanT::new(values).and_then(|t| t.interval(level)),
            Test::SignFlipEvidence => eprocess::interval(values, rule.alpha / comparisons),
            _ => SignFlip::new(values, rule.seed).and_then(|mut test| test.interval(level)),
        };
        tested.p_corrected = tested.p.map(|p| (p * comparisons).min(1.0));
    }

    /// Widens the intervals by what the ticks of a clock may have done to any contrast. And p may rise again after it has fallen
    /// to alpha: where no difference is not refuted, it is in the interval.
    fn widen(&mut self, contrasts: &Contrasts, alpha: f64) {
        let Inferred::Tested(tested) = &mut self.inferred else { return };
        if tested.p_corrected.is_some_and(|p| p > alpha) {
            tested.interval = tested.interval.map(|[low, high]| [low.min(0.0), high.max(0.0)]);
        }
        for interval in [&mut tested.interval, &mut tested.equivalence_interval] {
            *interval = interval.map(|[low, high]| [low - contrasts.resolution, high + contrasts.resolution]);
        }
    }
}

/// The standard deviation whose interval by Student's t would be as wide as this one: so a few outliers, which the
/// sign-flip test clips, do not inflate the number of blocks that seem to be needed.
fn robust_sd([low, high]: [f64; 2], n: usize, alpha: f64) -> Option<f64> {
    let t = t_quantile(1.0 - alpha / 2.0, n as f64 - 1.0)?;
    Some((high - low) / 2.0 * (n as f64).sqrt() / t)
}
