//! The goals of searching, measured on simulated truths: how often the answer is wrong, and what it costs in trials, builds
//! and seconds. A goal is held to the median over the nine worlds; the worst world is always shown. It judges no real study.
//!
//! Run r of a world has the stream of chance of the seed, the world and r, whatever the method: all methods meet the same
//! truths. The same options give the same table, on however many threads.

mod bisections;
mod races;
mod spaces;
mod table;

pub use table::markdown;

use crate::worlds::{WORLDS, World};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::{mean, median, sd};
use bakeoff_stats::proportion::binomial_interval;
use bakeoff_stats::student::t_quantile;
use rayon::prelude::*;

/// Seconds of a build and of a trial where costs are compared in seconds: a build takes 60 to 120 s of processor time here.
pub const BUILD_S: f64 = 90.0;
pub const TRIAL_S: f64 = 1.0;

/// Confidence of the intervals that are shown, and of those that decide in the short form.
const SHOWN_ALPHA: f64 = 0.05;
const SHORT_ALPHA: f64 = 0.001;

/// Groups of runs that tell how well a median is known.
const BATCHES: usize = 10;

/// What one search gives; what is not a number was not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    trials: f64,
    builds: f64,
    /// Of the plan that it is compared with.
    full_trials: f64,
    full_builds: f64,
    /// 1 if the answer is wrong, 0 if not.
    wrong: f64,
    /// 1 if there is an answer.
    named: f64,
    /// 1 if there were at most log₂ n + 3 builds.
    within: f64,
}

impl Sample {
    const NONE: Self = Self {
        trials: f64::NAN,
        builds: f64::NAN,
        full_trials: f64::NAN,
        full_builds: f64::NAN,
        wrong: f64::NAN,
        named: f64::NAN,
        within: f64::NAN,
    };

    fn seconds(&self) -> f64 {
        BUILD_S * self.builds + TRIAL_S * self.trials
    }

    fn full_seconds(&self) -> f64 {
        BUILD_S * self.full_builds + TRIAL_S * self.full_trials
    }
}

fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// How samples become a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The part with a wrong answer, with an answer, and with few builds.
    Wrong,
    Named,
    Within,
    /// Medians.
    Trials,
    Builds,
    Seconds,
    /// Medians, as a part of the full plan's.
    TrialsPart,
    BuildsPart,
    SecondsPart,
}

impl Measure {
    /// Whether it is a part of all searches.
    fn is_rate(self) -> bool {
        matches!(self, Self::Wrong | Self::Named | Self::Within)
    }

    fn of(self, samples: &[Sample]) -> f64 {
        let all = |one: fn(&Sample) -> f64| {
            let numbers = samples.iter().map(one).filter(|x| !x.is_nan());
            numbers.collect::<Vec<f64>>()
        };
        let middle = |one| median(&all(one)).unwrap_or(f64::NAN);
        match self {
            Self::Wrong => mean(&all(|sample| sample.wrong)),
            Self::Named => mean(&all(|sample| sample.named)),
            Self::Within => mean(&all(|sample| sample.within)),
            Self::Trials => middle(|sample| sample.trials),
            Self::Builds => middle(|sample| sample.builds),
            Self::Seconds => middle(Sample::seconds),
            Self::TrialsPart => middle(|sample| sample.trials) / middle(|sample| sample.full_trials),
            Self::BuildsPart => middle(|sample| sample.builds) / middle(|sample| sample.full_builds),
            Self::SecondsPart => middle(Sample::seconds) / middle(Sample::full_seconds),
        }
    }
}

/// What is measured of a task, and what it must be.
struct Promise {
    measure: Measure,
    /// None: it is only shown.
    most: Option<f64>,
}

const fn at_most(measure: Measure, most: f64) -> Promise {
    Promise { measure, most: Some(most) }
}

const fn shown(measure: Measure) -> Promise {
    Promise { measure, most: None }
}

/// Searches of one kind.
struct Task {
    part: Part,
    design: String,
    /// Of the runs asked for, one in this many is made: each takes long.
    one_in: u32,
    search: Box<dyn Fn(World, Stream) -> Sample + Sync>,
    promises: Vec<Promise>,
}

/// Parts of the table, each of which takes at most an hour in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Races,
    Layouts,
    Spaces,
    Bisections,
}

/// All of them.
pub const PARTS: [Part; 4] = [Part::Races, Part::Layouts, Part::Spaces, Part::Bisections];

impl Part {
    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Races => "races",
            Self::Layouts => "layouts",
            Self::Spaces => "spaces",
            Self::Bisections => "bisections",
        }
    }
}

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Searches in each world.
    pub runs: u32,
    pub seed: u64,
    /// A goal counts as reached unless the interval of the measured number, at 99.9 % confidence, excludes it.
    pub short: bool,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub design: String,
    pub measure: Measure,
    pub most: Option<f64>,
    /// Searches in each world.
    pub runs: u32,
    /// A rate over all worlds; else the median over the worlds.
    pub measured: f64,
    /// At 95 %: Clopper and Pearson's for a rate, Student's t over batches of runs for a median.
    pub interval: Option<[f64; 2]>,
    pub worst: World,
    pub worst_measured: f64,
    pub holds: bool,
}

/// Simulates and measures one part.
pub fn measure(part: Part, options: Options) -> Vec<Row> {
    let tasks = [races::tasks(), spaces::tasks(), bisections::tasks()].into_iter().flatten();
    tasks.filter(|task| task.part == part).flat_map(|task| rows(&task, options)).collect()
}

fn rows(task: &Task, options: Options) -> Vec<Row> {
    let runs = (options.runs / task.one_in).max(1);
    let one = |number: usize| {
        let (world, run) = (WORLDS[number / runs as usize], number % runs as usize);
        (task.search)(world, Stream::of(options.seed, &["search", world.name(), &run.to_string()]))
    };
    let samples: Vec<Sample> = (0..WORLDS.len() * runs as usize).into_par_iter().map(one).collect();
    let worlds: Vec<&[Sample]> = samples.chunks(runs as usize).collect();
    let row = |promise: &Promise| {
        let Promise { measure, most } = *promise;
        let measured = overall(measure, &worlds);
        let decisive = if options.short { interval(measure, &worlds, SHORT_ALPHA) } else { None };
        let [low, _] = decisive.unwrap_or([measured; 2]);
        let each = worlds.iter().map(|samples| measure.of(samples));
        // Of parts that should be large, the smallest is the worst.
        let sign = if matches!(measure, Measure::Named | Measure::Within) { -1.0 } else { 1.0 };
        let worst = each.zip(WORLDS).max_by(|(one, _), (other, _)| (sign * one).total_cmp(&(sign * other)));
        let (worst_measured, worst) = worst.unwrap_or((f64::NAN, World::Normal));
        Row {
            design: task.design.clone(),
            measure,
            most,
            runs,
            measured,
            interval: interval(measure, &worlds, SHOWN_ALPHA),
            worst,
            worst_measured,
            holds: most.is_none_or(|most| low <= most),
        }
    };
    task.promises.iter().map(row).collect()
}

/// Over the worlds: of a rate the mean, else the median.
fn overall(measure: Measure, worlds: &[&[Sample]]) -> f64 {
    let each: Vec<f64> = worlds.iter().map(|samples| measure.of(samples)).collect();
    if measure.is_rate() { mean(&each) } else { median(&each).unwrap_or(f64::NAN) }
}

fn interval(measure: Measure, worlds: &[&[Sample]], alpha: f64) -> Option<[f64; 2]> {
    if measure.is_rate() {
        let n: usize = worlds.iter().map(|samples| samples.len()).sum();
        let hits = (overall(measure, worlds) * n as f64).round();
        return binomial_interval(hits as u32, n as u32, alpha);
    }
    let size = worlds.first()?.len() / BATCHES;
    if size == 0 {
        return None;
    }
    let batch = |number: usize| {
        let of_worlds: Vec<&[Sample]> =
            worlds.iter().map(|samples| &samples[number * size..(number + 1) * size]).collect();
        overall(measure, &of_worlds)
    };
    let batches: Vec<f64> = (0..BATCHES).map(batch).collect();
    let half = t_quantile(1.0 - alpha / 2.0, BATCHES as f64 - 1.0)? * sd(&batches)? / (BATCHES as f64).sqrt();
    let centre = overall(measure, worlds);
    Some([centre - half, centre + half])
}

#[cfg(test)]
mod tests;
