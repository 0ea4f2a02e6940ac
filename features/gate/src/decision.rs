//! What a gate says, as plain values: of each variant on each workload, and of all of them. `bakeoff gate --json` is these
//! types. Nothing here decides or draws.

use bakeoff_command::Code;
use bakeoff_model::metric::{Direction, Unit};
use serde::{Deserialize, Serialize};

/// The version of this format.
pub(crate) const FORMAT: u32 = 1;

/// A gate over some variants and workloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gate {
    pub(crate) format: u32,
    pub(crate) outcome: Outcome,
    pub(crate) study: String,
    pub(crate) plan: String,
    /// The variant that the others are compared with.
    pub(crate) baseline: String,
    pub(crate) metric: String,
    /// Its unit; none if nothing was measured.
    pub(crate) unit: Option<Unit>,
    /// Which way of it is better.
    pub(crate) better: Direction,
    /// The study's confidence, 1 − α: that of the intervals that let a case pass.
    pub(crate) confidence: f64,
    /// Confidence of the intervals that let a case fail: with those of a table holding together, all of them do at 1 − α.
    pub(crate) confidence_to_fail: f64,
    /// Where it is undecided: how many more blocks, of each workload and condition, would probably decide it. None if
    /// that is not known, or if no number in reach would.
    pub(crate) more_blocks: Option<u32>,
    /// Blocks that are run, of those that are planned, over all workloads and conditions.
    pub(crate) blocks: [u32; 2],
    /// Each variant on each workload under each condition.
    pub(crate) cases: Vec<Case>,
}

/// One variant on one workload under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) variant: String,
    /// The workload; none if no trial of the study was needed.
    pub(crate) workload: String,
    pub(crate) condition: String,
    /// The largest slowdown that is allowed, as a fraction.
    pub(crate) limit: f64,
    /// How much slower it is; none where it was not compared.
    pub(crate) seen: Option<JudgedSlowdown>,
    #[serde(flatten)]
    pub(crate) decision: Decision,
    /// It printed something other than the baseline, where the study says that this may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prints_otherwise: bool,
}

/// A slowdown: how much worse than the baseline, as a fraction of it; below 0 it is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedSlowdown {
    pub(crate) slowdown: f64,
    /// The interval that was held against the limit; none for an exact metric, and where blocks do not suffice for one.
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) confidence: f64,
    /// The blocks that it is from.
    pub(crate) blocks: u32,
}

/// What is decided of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "why", rename_all = "kebab-case")]
pub(crate) enum Decision {
    /// A larger slowdown is excluded.
    Passes(Passed),
    /// A larger slowdown is shown.
    Fails,
    /// Neither.
    Undecided(Open),
    /// There is nothing to decide on: the variant is not what was to be compared.
    Broken(Broken),
}

/// Why a case passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Passed {
    /// The interval excludes a larger slowdown.
    Interval,
    /// It is the same program as the baseline, file for file, which cannot be slower.
    SameProgram,
    /// It has the same code as the baseline at other addresses.
    SameCode,
}

/// Why a case is undecided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Open {
    /// The interval has the limit inside, or there are too few blocks for one.
    Interval {
        /// Blocks that would probably decide it; none if no number in reach would.
        more_blocks: Option<u32>,
    },
    Unfinished,
    /// The ticks of the clock are beyond the study's margin.
    ClockTooCoarse,
    MemoryFloor,
    /// A count can see too little of the time.
    UnseenTime,
    NotMeasured,
    /// The baseline's typical value is 0 or less, of which no percentage can be taken.
    NoPercentage,
}

/// Why there is nothing to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Broken {
    TrialsFailed {
        /// Of which variant: this one, or the baseline.
        variant: String,
        failed: u32,
        of: u32,
    },
    NotBuilt,
    /// It printed something other than the baseline, and the study does not say that this may be.
    OtherOutput,
    /// A flag that tells the two apart had no effect.
    FlagWithoutEffect {
        flag: String,
    },
}

/// What all cases come to: the worst of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Passes,
    /// Some are undecided, and none is worse.
    Undecided,
    /// Some fail, and none is broken.
    Fails,
    /// Some are broken.
    Broken,
}

impl Outcome {
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Passes => Code::Done,
            Self::Undecided => Code::Undecided,
            Self::Fails => Code::GateFailed,
            Self::Broken => Code::VariantFailed,
        }
    }
}

impl Decision {
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Passes(_) => Outcome::Passes,
            Self::Undecided(_) => Outcome::Undecided,
            Self::Fails => Outcome::Fails,
            Self::Broken(_) => Outcome::Broken,
        }
    }
}

impl Gate {
    /// The cases with that outcome.
    pub(crate) fn with(&self, outcome: Outcome) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| case.decision.outcome() == outcome)
    }
}
