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

use super::caveat;
use super::findings::Order;
use crate::findings::{Caveat, Comparison, Scale, Verdict};
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
    /// Looks for time in a sample. Of a long one, in the means of successive chunks, and for dependence also in its
    /// beginning; the smaller of those two p counts twice.
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
    /// What is visible, as the end of a sentence about both samples.
    what: String,
}

impl Time {
    /// None where time is not visible.
    pub(super) fn between(samples: [(&str, &Course); 2], scale: Scale) -> Option<Self> {
        let alone: Vec<(f64, String)> =
            samples.iter().flat_map(|(name, course)| seen_in(name, &course.order)).collect();
        let together = seen_in_both(samples);
        let least = |seen: &[(f64, String)]| seen.iter().min_by(|a, b| a.0.total_cmp(&b.0)).cloned();
        let is_certain =
            alone.iter().any(|(p, _)| *p < CERTAIN_ALONE_P) || together.iter().any(|(p, _)| *p < CERTAIN_TOGETHER_P);
        let seen_alone = least(&alone).filter(|(p, _)| *p < VISIBLE_P);
        let (_, what) = seen_alone.or_else(|| least(&together).filter(|_| is_certain))?;
        let swing = samples.iter().map(|(_, course)| course.swing(scale)).fold(0.0, f64::max);
        Some(Self { scale, bound: SWINGS * swing, is_certain, what })
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
        let beyond = comparison.interval.map(inward).is_some_and(|[low, high]| low > self.bound || high < -self.bound);
        let within = zone.zip(comparison.equivalence_interval.map(inward)).is_some_and(|(zone, [low, high])| {
            !self.is_certain || zone.contains([low - self.bound, high + self.bound])
        });
        let left = match comparison.verdict {
            Verdict::Faster | Verdict::Slower => beyond.then_some(comparison.verdict),
            Verdict::Negligible if beyond && within => Some(Verdict::Negligible),
            Verdict::Negligible | Verdict::Equivalent => within.then_some(Verdict::Equivalent),
            Verdict::Undecided { .. } | Verdict::Withheld => Some(comparison.verdict),
        };
        let could = format!(
            "{}, so time mattered: it could explain a difference of up to {}",
            self.what,
            self.amount(comparison)
        );
        match left {
            Some(verdict) => {
                let is_difference = matches!(verdict, Verdict::Faster | Verdict::Slower | Verdict::Negligible);
                let and = if is_difference { ", and this one is larger" } else { "" };
                comparison.caveats.push(caveat("drift", format!("{could}{and}")));
                comparison.verdict = verdict;
                None
            }
            None => {
                comparison.verdict = Verdict::Undecided { more_blocks: None };
                let text = format!(
                    "no verdict: {could}; measure in randomised blocks (`bakeoff compare`), or say --paired if each line \
                     is a block"
                );
                Some(caveat("drift", text))
            }
        }
    }

    /// In words, where what it is a part of is not known.
    fn amount(&self, comparison: &Comparison) -> String {
        let could = self.could_explain();
        match self.scale {
            // A factor of 1.5 is half as much again, or a third less.
            Scale::Ratio if comparison.estimate < 1.0 => format!("{:.1} %", 100.0 * (1.0 - 1.0 / could)),
            Scale::Ratio if could < 11.0 => format!("{:.1} %", 100.0 * (could - 1.0)),
            Scale::Ratio if could < 1e6 => format!("a factor of {could:.0}"),
            Scale::Ratio => format!("a factor of {could:.0e}"),
            Scale::Difference if (1e-2..1e6).contains(&could) => format!("{could:.3}"),
            Scale::Difference => format!("{could:.2e}"),
        }
    }
}

/// What each test says of one sample.
fn seen_in(name: &str, order: &Order) -> Vec<(f64, String)> {
    let say = |p: f64, what: &str, test: &str| (p, format!("{name} {what} ({test}, {})", words(p)));
    [
        order.drift_p.map(|p| say(p, "drifts from its first value to its last", "Mann-Kendall")),
        order.dependence_p.map(|p| say(p, "has values that depend on those before them", "Bartels")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What each test says of both.
fn seen_in_both(samples: [(&str, &Course); 2]) -> Vec<(f64, String)> {
    let [(one, first), (other, second)] = samples;
    let both = [first, second];
    let drifts: Vec<MannKendall> = both.iter().filter_map(|course| course.drift).collect();
    let dependences: Vec<Bartels> = both.iter().filter_map(|course| course.dependence).collect();
    let say = |p: f64, what: &str, test: &str| (p, format!("{one} and {other} {what} ({test} of both, {})", words(p)));
    [
        drift_together(&drifts).map(|p| say(p, "drift the same way", "Mann-Kendall")),
        dependence_together(&dependences).map(|p| say(p, "have values that depend on those before them", "Bartels")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn words(p: f64) -> String {
    if p < 1e-4 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") }
}
