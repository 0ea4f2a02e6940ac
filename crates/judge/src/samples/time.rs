//! What time could have done to two unpaired samples, and what is left of a verdict then. If a sample drifts, or its values
//! resemble their predecessors, then what carried its values up and down may also lie between the two samples, and no
//! unpaired test knows that. It has a size, though: where nothing but time changes, inside a sample, one sees how far it
//! goes. A difference that is larger than that is not time's. Nothing is corrected here.
//!
//! The bound is twice the larger swing of the two samples. Of a steady drift through two equally long samples, one after
//! the other, the swing shows three quarters of what lies between their centres, so the bound is half as large again as what
//! it stands for. A pause between the two, of which nothing is known, is not bounded; the caveat on all unpaired samples
//! says so.
//!
//! Six tests look for time: drift and dependence, in each sample and in both together. For a difference, time is visible if
//! any of them in a sample says so at 1 %. Most samples that are alike are shown to be so, and there each false alarm would
//! cost a verdict, so equivalence gives way to 0.5 % over all six: four fifths of it go to the tests of both together, which
//! see a drift that goes on from one sample to the other. That counts for a difference as well.

use super::findings::Order;
use crate::findings::{Caveat, Comparison, Left, Scale, TimeSeen, Verdict};
use bakeoff_stats::describe::median;
use bakeoff_stats::equivalence::Zone;
use bakeoff_stats::trend::{Bartels, MannKendall, bartels, dependence_together, drift_together, mann_kendall, swing};

/// Below this p, time is visible.
const VISIBLE_P: f64 = 0.01;
/// Below these p, time is certain enough to cost an equivalence: of a test of both samples together, and of one of them.
const CERTAIN_TOGETHER_P: f64 = 0.002;
const CERTAIN_ALONE_P: f64 = 0.000_25;
/// The bound, in swings.
const SWINGS: f64 = 2.0;
/// Of a longer sample, drift is looked for in the means of chunks, and dependence also in its first values.
const LONG: usize = 10_000;
/// Number of chunks, roughly.
const CHUNKS: usize = 1000;

/// What the order of a sample's values shows, if it is that of time.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) order: Order,
    drift: Option<MannKendall>,
    dependence: Option<Bartels>,
    /// The values in the order of time; of many, the medians of chunks.
    points: Vec<f64>,
}

impl Course {
    /// Looks for time in a sample: in a long one, in means of chunks, and for dependence also in its beginning.
    pub(super) fn of(values: &[f64]) -> Self {
        let size = values.len().div_ceil(CHUNKS).max(1);
        let points = values.chunks_exact(size).filter_map(median).collect();
        let course = |values: &[f64], points| {
            let (drift, dependence) = (mann_kendall(values), bartels(values));
            let order = Order { drift_p: drift.map(|t| t.p), dependence_p: dependence.map(|t| t.p) };
            Self { order, drift, dependence, points }
        };
        if values.len() <= LONG {
            return course(values, points);
        }
        // Scaled first, so that a sum does not overflow.
        let means: Vec<f64> =
            values.chunks_exact(size).map(|chunk| chunk.iter().map(|x| x / size as f64).sum()).collect();
        let mut course = course(&means, points);
        let beginning = bartels(&values[..LONG]).map(|t| t.p);
        let smaller = course.order.dependence_p.into_iter().chain(beginning).reduce(f64::min);
        course.order.dependence_p = smaller.map(|p| (2.0 * p).min(1.0));
        course
    }

    /// How far time carries it, on the scale of the contrasts.
    fn swing(&self, scale: Scale) -> f64 {
        match scale {
            Scale::Ratio => swing(&self.points.iter().map(|x| x.ln()).collect::<Vec<_>>()),
            Scale::Difference => swing(&self.points),
        }
    }
}

/// Time, where it is visible in one of two samples.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Time {
    scale: Scale,
    /// The largest difference that it could explain, on the scale of the contrasts.
    bound: f64,
    /// Whether it is visible at 0.5 % over all tests.
    is_certain: bool,
    /// Where it is seen best.
    seen: TimeSeen,
}

impl Time {
    /// None where time is not visible.
    pub(super) fn between(samples: [(&str, &Course); 2], scale: Scale) -> Option<Self> {
        let alone: Vec<TimeSeen> = samples.iter().flat_map(|(name, course)| seen_in(name, &course.order)).collect();
        let together = seen_in_both(samples);
        let least = |seen: &[TimeSeen]| seen.iter().min_by(|a, b| a.p.total_cmp(&b.p)).cloned();
        let is_certain = alone.iter().any(|seen| seen.p < CERTAIN_ALONE_P)
            || together.iter().any(|seen| seen.p < CERTAIN_TOGETHER_P);
        let seen_alone = least(&alone).filter(|seen| seen.p < VISIBLE_P);
        let seen = seen_alone.or_else(|| least(&together).filter(|_| is_certain))?;
        let swing = samples.iter().map(|(_, course)| course.swing(scale)).fold(0.0, f64::max);
        Some(Self { scale, bound: SWINGS * swing, is_certain, seen })
    }

    /// The largest difference that it could explain, as the scale says: a ratio, or a difference in the values' unit.
    pub(super) fn could_explain(&self) -> f64 {
        match self.scale {
            Scale::Ratio => self.bound.exp().min(f64::MAX),
            Scale::Difference => self.bound.min(f64::MAX),
        }
    }

    /// Leaves of a verdict what time could not explain. Returns why nothing is left, if so.
    pub(super) fn bear_on(&self, comparison: &mut Comparison, zone: Option<Zone>) -> Option<Caveat> {
        let inward = |ends: [f64; 2]| match self.scale {
            Scale::Ratio => ends.map(f64::ln),
            Scale::Difference => ends,
        };
        let beyond =
            comparison.interval().map(inward).is_some_and(|[low, high]| low > self.bound || high < -self.bound);
        let within = zone.zip(comparison.equivalence_interval().map(inward)).is_some_and(|(zone, [low, high])| {
            !self.is_certain || zone.contains([low - self.bound, high + self.bound])
        });
        let left = match comparison.verdict {
            Verdict::Faster | Verdict::Slower => beyond.then_some(comparison.verdict),
            Verdict::Negligible if beyond && within => Some(Verdict::Negligible),
            Verdict::Negligible | Verdict::Equivalent => within.then_some(Verdict::Equivalent),
            Verdict::Undecided { .. } | Verdict::Withheld => Some(comparison.verdict),
        };
        let caveat = |left: Left| Caveat::TimeMattered {
            seen: self.seen.clone(),
            could_explain: self.could_explain(),
            scale: self.scale,
            is_less: comparison.estimate < 1.0,
            left,
        };
        match left {
            Some(verdict) => {
                let is_difference = matches!(verdict, Verdict::Faster | Verdict::Slower | Verdict::Negligible);
                let caveat = caveat(if is_difference { Left::Difference } else { Left::Verdict });
                comparison.caveats.push(caveat);
                comparison.verdict = verdict;
                None
            }
            None => {
                let caveat = caveat(Left::Nothing);
                comparison.verdict = Verdict::Undecided { more_blocks: None };
                Some(caveat)
            }
        }
    }
}

/// What each test says of one sample.
fn seen_in(name: &str, order: &Order) -> Vec<TimeSeen> {
    let seen = |p: Option<f64>, dependence| Some(TimeSeen { samples: vec![name.to_owned()], dependence, p: p? });
    [seen(order.drift_p, false), seen(order.dependence_p, true)].into_iter().flatten().collect()
}

/// What each test says of both.
fn seen_in_both(samples: [(&str, &Course); 2]) -> Vec<TimeSeen> {
    let courses = samples.map(|(_, course)| course);
    let drifts: Vec<MannKendall> = courses.iter().filter_map(|course| course.drift).collect();
    let dependences: Vec<Bartels> = courses.iter().filter_map(|course| course.dependence).collect();
    let names = || samples.iter().map(|(name, _)| (*name).to_owned()).collect();
    let seen = |p: Option<f64>, dependence| Some(TimeSeen { samples: names(), dependence, p: p? });
    [seen(drift_together(&drifts), false), seen(dependence_together(&dependences), true)]
        .into_iter()
        .flatten()
        .collect()
}
