//! Many studies at once: each gets a stream of chance of its own, named after what is measured, the world and its number,
//! so neither the number of threads nor the order in which they work changes anything. It does not know what a study is.

use super::promise::{Cell, Goal, Measure, Options};
use super::worlds::World;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::{mean, median, sd};
use bakeoff_stats::proportion::binomial_interval;
use bakeoff_stats::student::t_quantile;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Numbers that one study gives; what each of them is, is between who measures and who reduces.
pub(super) type Sample = [f64; 4];

/// An element of a [`Sample`] that says whether something is so: 1 or 0.
pub(super) fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// Confidence of the intervals that are shown, and of those that decide in the short form.
const SHOWN_ALPHA: f64 = 0.05;
const SHORT_ALPHA: f64 = 0.001;

/// Groups of studies whose ratios tell how well the ratio of all is known.
const BATCHES: usize = 20;

/// The caller wants to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// How the samples of many studies become the number of a row. The numbers are elements of [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduce {
    /// Mean of an element that is 0 or 1.
    Rate(usize),
    /// Mean of an element from 0 to 1.
    Mean(usize),
    /// The mean of one that is 0 or 1, over the studies in which it is a number: the others printed nothing.
    RatePrinted(usize),
    /// The part of the studies in which it is none.
    Refused(usize),
    /// Mean of one ÷ mean of another.
    MeanRatio(usize, usize),
    /// Median of one ÷ median of another.
    MedianRatio(usize, usize),
    /// Root mean square of one ÷ that of another.
    RmsRatio(usize, usize),
}

/// A simulation in progress.
pub(super) struct Simulation<'a> {
    pub(super) options: Options,
    /// Of everything, in units of work.
    cost: f64,
    /// So far, in thousandths of a unit.
    done: AtomicU64,
    stopped: AtomicBool,
    watch: &'a (dyn Fn(f64) -> bool + Sync),
}

impl<'a> Simulation<'a> {
    /// `cost` is that of all studies to come, in any unit.
    pub(super) fn new(options: Options, cost: f64, watch: &'a (dyn Fn(f64) -> bool + Sync)) -> Self {
        Self { options, cost, done: AtomicU64::new(0), stopped: AtomicBool::new(false), watch }
    }

    /// A number of studies of one kind, each of which costs `cost` units; their results, in their order.
    pub(super) fn each<T: Send>(
        &self,
        place: &[&str],
        studies: u32,
        cost: f64,
        study: impl Fn(&mut Stream) -> T + Sync,
    ) -> Result<Vec<T>, Stopped> {
        let one = |number: u32| {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Stopped);
            }
            let number = number.to_string();
            let words: Vec<&str> = ["calibrate"].iter().chain(place).copied().chain([number.as_str()]).collect();
            let sample = study(&mut Stream::of(self.options.seed, &words));
            let units = self.done.fetch_add((1000.0 * cost) as u64, Ordering::Relaxed);
            if !(self.watch)((units as f64 / 1000.0 / self.cost).min(1.0)) {
                self.stopped.store(true, Ordering::Relaxed);
            }
            Ok(sample)
        };
        (0..studies).into_par_iter().map(one).collect()
    }

    /// The number of a row in one world, and whether it reaches its goal.
    pub(super) fn cell(&self, world: World, samples: &[Sample], reduce: Reduce, goal: Goal) -> Cell {
        let printed: Vec<Sample>;
        let (samples, reduce) = match reduce {
            Reduce::RatePrinted(one) => {
                printed = samples.iter().filter(|sample| !sample[one].is_nan()).copied().collect();
                (printed.as_slice(), Reduce::Rate(one))
            }
            reduce => (samples, reduce),
        };
        if samples.is_empty() {
            // Nothing was printed, so nothing that was printed is wrong.
            return Cell { world, studies: 0, measured: 0.0, interval: None, holds: true };
        }
        let measured = reduce.of(samples);
        let interval = |alpha| reduce.interval(samples, alpha);
        let reaches = match interval(SHORT_ALPHA) {
            Some([low, high]) if self.options.short => goal.meets(low, high),
            _ => goal.meets(measured, measured),
        };
        let studies = samples.len() as u32;
        // No range has a value that is not a number.
        let holds = !measured.is_nan() && reaches;
        Cell { world, studies, measured, interval: interval(SHOWN_ALPHA), holds }
    }
}

impl Reduce {
    /// What kind of number comes out.
    pub(super) fn measure(self) -> Measure {
        match self {
            Self::Rate(_) | Self::Mean(_) | Self::RatePrinted(_) | Self::Refused(_) => Measure::Rate,
            Self::MeanRatio(..) | Self::MedianRatio(..) | Self::RmsRatio(..) => Measure::Ratio,
        }
    }

    /// The number; not a number where there is nothing to divide by.
    fn of(self, samples: &[Sample]) -> f64 {
        let of = |element: usize| samples.iter().map(|sample| sample[element]).collect::<Vec<f64>>();
        match self {
            Self::Rate(one) | Self::Mean(one) | Self::RatePrinted(one) => mean(&of(one)),
            Self::Refused(one) => mean(&of(one).iter().map(|x| flag(x.is_nan())).collect::<Vec<f64>>()),
            Self::MeanRatio(one, other) => mean(&of(one)) / mean(&of(other)),
            Self::MedianRatio(one, other) => typical(&of(one)) / typical(&of(other)),
            Self::RmsRatio(one, other) => rms(&of(one)) / rms(&of(other)),
        }
    }

    /// How well the number is known; none from too few studies.
    fn interval(self, samples: &[Sample], alpha: f64) -> Option<[f64; 2]> {
        match self {
            Self::Rate(_) | Self::RatePrinted(_) | Self::Refused(_) => {
                let is_hit = |sample: &&Sample| match self {
                    Self::Refused(one) => sample[one].is_nan(),
                    Self::Rate(one) | Self::RatePrinted(one) => sample[one] == 1.0,
                    _ => false,
                };
                let hits = samples.iter().filter(is_hit).count();
                binomial_interval(hits as u32, samples.len() as u32, alpha)
            }
            _ => {
                let batches: Vec<f64> =
                    samples.chunks_exact((samples.len() / BATCHES).max(1)).map(|batch| self.of(batch)).collect();
                let n = batches.len() as f64;
                let half = t_quantile(1.0 - alpha / 2.0, n - 1.0)? * sd(&batches)? / n.sqrt();
                Some([self.of(samples) - half, self.of(samples) + half]).filter(|_| half.is_finite())
            }
        }
    }
}

/// The median of those that are numbers.
fn typical(values: &[f64]) -> f64 {
    median(&values.iter().copied().filter(|x| !x.is_nan()).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
}

fn rms(values: &[f64]) -> f64 {
    mean(&values.iter().map(|x| x * x).collect::<Vec<f64>>()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_numbers() {
        let samples = [[1.0, 0.0, 3.0, 1.0], [0.0, 1.0, -4.0, 1.0], [1.0, 1.0, f64::NAN, 2.0]];
        let check = |reduce: Reduce, of: &[Sample], expect: f64| assert_eq!(reduce.of(of), expect, "{reduce:?}");
        check(Reduce::Rate(0), &samples, 2.0 / 3.0);
        check(Reduce::MeanRatio(0, 3), &samples, 0.5);
        check(Reduce::MedianRatio(2, 3), &samples, -0.5);
        check(Reduce::RmsRatio(2, 3), &samples[..2], (25.0f64 / 2.0).sqrt());
        assert!(Reduce::MeanRatio(0, 1).of(&samples[..1]).is_infinite());
        assert!(Reduce::Rate(0).of(&[]).is_nan());
    }

    /// What was not printed is not counted among what was, and alone it breaks no promise.
    #[test]
    fn refusals_are_counted_apart() {
        let simulation = Simulation::new(Options { studies: 4, seed: 1, short: false }, 1.0, &|_| true);
        let goal = Goal { least: None, most: Some(0.5) };
        let cell = |samples: &[Sample], reduce| simulation.cell(World::Normal, samples, reduce, goal);
        let samples = [[1.0; 4], [0.0; 4], [f64::NAN; 4], [f64::NAN; 4]];
        let printed = cell(&samples, Reduce::RatePrinted(0));
        assert_eq!((printed.studies, printed.measured, printed.holds), (2, 0.5, true));
        assert_eq!(cell(&samples, Reduce::Refused(0)).measured, 0.5);
        let nothing = cell(&samples[2..], Reduce::RatePrinted(0));
        assert_eq!((nothing.studies, nothing.interval, nothing.holds), (0, None, true));
        assert!(!cell(&samples[..1], Reduce::RatePrinted(0)).holds);
    }

    /// A promise holds within its goal; in the short form, unless the interval of what was measured excludes it.
    #[test]
    fn goals_are_widened_only_in_the_short_form() {
        let go_on = |_| true;
        let goal = Goal { least: Some(0.04), most: Some(0.055) };
        let check = |hits: usize, n: usize, short: bool, expect: bool| {
            let options = Options { studies: n as u32, seed: 1, short };
            let simulation = Simulation::new(options, 1.0, &go_on);
            let samples: Vec<Sample> = (0..n).map(|i| [f64::from(u8::from(i < hits)), 0.0, 0.0, 0.0]).collect();
            let cell = simulation.cell(World::Normal, &samples, Reduce::Rate(0), goal);
            assert_eq!(cell.holds, expect, "{cell:?}");
        };
        check(550, 10_000, false, true);
        check(551, 10_000, false, false);
        check(399, 10_000, false, false);
        check(551, 10_000, true, true);
        check(700, 10_000, true, false);
        check(40, 400, true, false);
        check(30, 400, true, true);
        check(0, 400, true, false);
    }
}
