//! The numbers and names that doubts carry, where these are more than a field or two. Plain data.

use super::super::Table;
use super::super::verdict::{Scale, Verdict};
use bakeoff_model::metric::Unit;
use serde::{Deserialize, Serialize};

/// What blocks are too few for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// The stopping rule's first look.
    FirstLook { needed: u32 },
    /// Any inference.
    Inference { needed: u32 },
    /// An interval at this confidence.
    Interval {
        confidence: f64,
        /// The least; none if it has only a part of alpha, because others of its family are judged in another way.
        needed: Option<u32>,
    },
}

/// What interval and p are a model's of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Student's t on pairs.
    PairedT,
    /// The linear model.
    Linear {
        /// Degrees of freedom.
        df: u32,
    },
}

/// What the ticks of a clock do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ticks {
    /// The step of its grid, in the metric's unit.
    pub step: f64,
    /// By how much it may be wrong, as the scale says: of logarithms, or of values.
    pub by: f64,
    pub scale: Scale,
}

/// The share of a variant's time that a count can see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenTime {
    pub variant: String,
    pub share: f64,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    pub factor: String,
    pub level: String,
}

/// `threads=on`, as levels are written.
impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.factor, self.level)
    }
}

/// A term of the linear model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// What all trials of a block share.
    Blocks,
    /// A factor.
    Main(String),
    /// An interaction.
    TwoWay(String, String),
}

/// A load that is not the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSeen {
    /// During this variant's trials.
    pub variant: String,
    pub workload: String,
    pub condition: String,
    /// Whether it ended more often, or less.
    pub verdict: Verdict,
    /// How often, relative to the baseline's trials; none where that is no ratio.
    pub ratio: Option<f64>,
}

/// Trials that other programs disturbed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusySeen {
    /// The variant; none if all together.
    pub variant: Option<String>,
    pub condition: String,
    pub disturbed: usize,
    /// Of how many that count, and of which it was measured.
    pub of: usize,
    /// How many count in all; more where trials are too short.
    #[serde(default)]
    pub all: usize,
}

/// Tables in which the order of time is visible, by metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverTime {
    pub metrics: Vec<(String, usize)>,
    /// Tables that each metric has.
    pub of: usize,
}

/// Where something was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spots<T> {
    pub seen: Vec<Spot<T>>,
    /// Number of workloads × conditions in the study.
    pub cells: usize,
}

/// One of them, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spot<T> {
    pub variant: String,
    pub workload: String,
    pub condition: String,
    /// The metric; of rates, the table's first.
    pub metric: String,
    pub unit: Unit,
    pub what: T,
}

impl<T> Spot<T> {
    /// What was seen of a variant in a table.
    pub(crate) fn of(Table { workload, condition, metric, unit, .. }: &Table, variant: &str, what: T) -> Self {
        let [variant, workload, condition, metric] = [variant, workload, condition, metric].map(str::to_owned);
        Self { variant, workload, condition, metric, unit: *unit, what }
    }
}

/// A contrast that is another one when the variant runs after the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Mean contrast after the baseline − mean contrast before it: of logarithms, or of values, as the scale says.
    pub shift: f64,
    pub scale: Scale,
}

/// A contrast that is another one directly after a certain variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    pub predecessor: String,
}

/// Trials that failed or are void, of how many; and the same of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    pub own: [u32; 2],
    pub baseline: [u32; 2],
}

/// Several typical values: each with the share of values that belong to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Modes(pub Vec<(f64, f64)>);

/// Blocks that stand out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    pub blocks: [usize; 2],
    pub scale: Scale,
    /// The estimate with all blocks, and without those.
    pub with_and_without: [f64; 2],
    /// Each block had a layout of its own: some may be bad ones.
    #[serde(default)]
    pub laid_out: bool,
}

/// Why there are too few values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TooFewValues {
    /// For any inference.
    Inference {
        /// Those of the smaller sample.
        values: u32,
    },
    /// Their differences cannot be computed.
    FarApart,
    /// For a difference that survives the correction.
    Difference {
        /// Those of the smaller sample.
        values: u32,
        confidence: f64,
        family: u32,
        needed: u32,
    },
}

/// How time is visible in samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeSeen {
    /// In this sample, or in these two together.
    pub samples: Vec<String>,
    /// Values depend on those before them; else they drift.
    pub dependence: bool,
    pub p: f64,
}

/// What time leaves of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// A difference, which is larger than what time could explain.
    Difference,
    Verdict,
    Nothing,
}

/// How much a control differs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ControlSeen {
    pub ratio: f64,
    pub is_within: bool,
}
