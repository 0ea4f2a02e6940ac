//! The types of the goals: what one search gives, how many become a number, and what the number must be. Nothing is simulated
//! here.

use bakeoff_model::shuffle::Stream;
use bakeoff_searching::worlds::World;
use bakeoff_stats::describe::{mean, median};
use serde::{Deserialize, Serialize};

/// Seconds of a build and of a trial where costs are compared in seconds: a build takes 60 to 120 s of processor time here.
const BUILD_S: f64 = 90.0;
const TRIAL_S: f64 = 1.0;

/// What one search gives; what is not a number was not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub(super) trials: f64,
    pub(super) builds: f64,
    /// Of the plan that it is compared with.
    pub(super) full_trials: f64,
    pub(super) full_builds: f64,
    /// 1 if the answer is wrong, 0 if not.
    pub(super) wrong: f64,
    /// 1 if there is an answer.
    pub(super) named: f64,
    /// 1 if it names what changed the speed by something outside the printed interval.
    pub(super) missed: f64,
    /// 1 if there were at most log₂ n + 3 builds.
    pub(super) within: f64,
}

impl Sample {
    pub(super) const NONE: Self = Self {
        trials: f64::NAN,
        builds: f64::NAN,
        full_trials: f64::NAN,
        full_builds: f64::NAN,
        wrong: f64::NAN,
        named: f64::NAN,
        missed: f64::NAN,
        within: f64::NAN,
    };

    pub(super) fn seconds(&self) -> f64 {
        BUILD_S * self.builds + TRIAL_S * self.trials
    }

    pub(super) fn full_seconds(&self) -> f64 {
        BUILD_S * self.full_builds + TRIAL_S * self.full_trials
    }
}

pub(super) fn flag(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// How samples become a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The part with a wrong answer, with an answer, with an interval that misses the change, and with few builds.
    Wrong,
    Named,
    Missed,
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
    pub(super) fn is_rate(self) -> bool {
        matches!(self, Self::Wrong | Self::Named | Self::Missed | Self::Within)
    }

    pub(super) fn of(self, samples: &[Sample]) -> f64 {
        let all = |one: fn(&Sample) -> f64| {
            let numbers = samples.iter().map(one).filter(|x| !x.is_nan());
            numbers.collect::<Vec<f64>>()
        };
        let middle = |one| median(&all(one)).unwrap_or(f64::NAN);
        match self {
            Self::Wrong => mean(&all(|sample| sample.wrong)),
            Self::Named => mean(&all(|sample| sample.named)),
            Self::Missed => mean(&all(|sample| sample.missed)),
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
pub(super) struct Promise {
    pub(super) measure: Measure,
    /// None: it is only shown.
    pub(super) most: Option<f64>,
}

pub(super) const fn at_most(measure: Measure, most: f64) -> Promise {
    Promise { measure, most: Some(most) }
}

pub(super) const fn shown(measure: Measure) -> Promise {
    Promise { measure, most: None }
}

/// Searches of one kind.
pub(super) struct Task {
    pub(super) part: Part,
    pub(super) design: String,
    /// Of the runs asked for, one in this many is made: each takes long.
    pub(super) one_in: u32,
    pub(super) search: Box<dyn Fn(World, Stream) -> Sample + Sync>,
    pub(super) promises: Vec<Promise>,
}

/// Parts of the table, each of which takes at most an hour in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Races,
    Layouts,
    Spaces,
    Bisections,
}

/// All of them.
pub(crate) const PARTS: [Part; 4] = [Part::Races, Part::Layouts, Part::Spaces, Part::Bisections];

impl Part {
    /// Its name on a command line.
    pub(crate) fn name(self) -> &'static str {
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
pub(crate) struct Options {
    /// Searches in each world.
    pub(crate) runs: u32,
    pub(crate) seed: u64,
    /// See [`Searches::short`](super::Searches::short).
    pub(crate) short: bool,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The name of the worst world, and what was measured there.
    pub worst: String,
    pub worst_measured: f64,
    pub holds: bool,
}
