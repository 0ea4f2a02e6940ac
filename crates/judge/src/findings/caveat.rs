//! A doubt about a comparison, a sample or a whole study: what kind, with its numbers and names. The sentences that people
//! read are made of it in `bakeoff_report::caveats`; JSON for others has [`Caveat::kind`] and that sentence.

mod parts;

use super::by_place::{Noisy, Unlike};
use super::remarks::Objection;
use super::verdict::Scale;
pub use parts::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A doubt. Its order in a list is that of its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caveat {
    /// There are too few blocks for any inference, or for an interval.
    TooFewBlocks { blocks: u32, lack: Lack },
    /// Interval and p rest on a model.
    ModelBased { model: Model, scale: Scale },
    /// It would differ if it were the only comparison.
    AmongOthers {
        /// p of it alone.
        p: f64,
        /// p corrected for the family.
        corrected: f64,
        family: u32,
    },
    /// The ticks of the clock are beyond the margin: nothing is inferred.
    ClockTooCoarse(Ticks),
    /// The ticks of the clock widen the interval by an amount that matters.
    ClockTicks(Ticks),
    /// The robust centre and the mean differ by more than the margin, or in sign.
    TypicalAndMeanDisagree {
        /// The ratios of typical values and of means, where they stand nowhere else.
        ratios: Option<[f64; 2]>,
    },
    /// Blocks that lack a value are left out.
    IncompleteBlocks {
        lost: u32,
        of: u32,
        /// Whether each block needs a pair only, or all cells of a contrast.
        pair: bool,
    },
    /// The baseline's median is 0, so there is no margin.
    ZeroMedian,
    /// Values that can vary by chance did not, on either side: so there is no interval.
    Unvaried {
        runs: u32,
        /// With this confidence at most this part of all runs has another value: 1 − (1 − confidence)^(1/runs).
        confidence: f64,
        most: f64,
    },
    /// Values down here are the launcher's.
    MemoryFloor { bytes: f64 },
    /// A count can see less than `least` of the time, so nothing is shown to be equal by it.
    UnseenTime { share: f64, least: f64 },
    /// Counts of one variant do not agree, so they are judged like what is measured.
    CountsDiffer {
        /// By this part of the least one.
        by: f64,
    },
    /// The test assumes symmetric errors, which the random order does not give.
    SymmetricErrors,
    /// A main effect is given as if there were no such interaction.
    Aliased {
        effect: Level,
        /// The terms that it cannot be distinguished from.
        with: Vec<Term>,
    },
    /// It is another one on one machine, so it holds on the whole and not of each.
    PlacesDiffer(Unlike),
    /// A feature's.
    Of(Objection),
    /// The trials were simulated.
    Simulated { truth: String },
    /// The twin was judged different from the baseline.
    TwinDiffers { differ: usize, of: usize },
    /// A negative control, in which nothing should differ, is shown to differ; the largest difference of each.
    ControlDiffers(Spots<ControlSeen>),
    /// Seconds are not time: the machine was emulated, and its clock counts instructions.
    Emulated,
    /// An instrument counts the deciding metric, and nothing else is measured.
    Counted {
        /// What it counts, and by what.
        what: String,
        /// The share of each variant's time that it can see; 0 if that is unknown.
        seen: Vec<SeenTime>,
    },
    /// Blocks are missing.
    Unfinished {
        finished: u32,
        total: u32,
        /// Whether a rule may end the study earlier.
        at_most: bool,
    },
    /// The blocks were run in several places.
    SeveralPlaces { places: usize },
    /// Machines on which the twin is farther from the baseline than elsewhere.
    NoisyPlaces { seen: Vec<Noisy> },
    /// Machines with too few blocks for a comparison with the others.
    FewOnPlaces {
        places: u32,
        /// All machines.
        of: u32,
        /// Blocks on each.
        needed: u32,
    },
    /// Blocks that a later session finished.
    InterruptedBlocks { blocks: usize },
    /// The number of blocks was raised after trials had been seen.
    Prolonged { times: usize },
    /// There are blocks that no look of the stopping rule has judged.
    AfterTheLook { judged_blocks: u32 },
    /// Processes outlived their trial's main process.
    Leftovers { trials: usize, variants: Vec<String> },
    /// The system's clock was set while trials were run.
    ClockSet {
        times: usize,
        /// The largest step, in seconds; below 0 if back.
        most_s: f64,
    },
    /// The load ended more or less often during some variants' trials than during the baseline's.
    UnequalLoad { seen: Vec<LoadSeen> },
    /// Other programs used much of the processors' time.
    BusyMachine {
        seen: Vec<BusySeen>,
        /// From this share of the time on a trial counts as disturbed.
        from: f64,
    },
    /// Trials were too short to tell what other programs used, and more were waiting for processors than ours.
    HighLoad {
        condition: String,
        /// The typical load average, less our own processes.
        load: f64,
        cpus: u32,
    },
    /// The trials of a workload take the same time whatever the variant: it is a run of fixed duration.
    FixedTime { workload: String, seconds: f64 },
    /// Peak memory has two sources.
    TwoKindsOfPeak {
        /// Trials with the cgroup's.
        cgroup: u32,
        /// Trials with the largest process's.
        maxrss: u32,
    },
    /// No trial could be void by these metrics.
    BlindRules { metrics: Vec<String> },
    /// Metrics that this version does not know.
    UnknownMetric { metrics: Vec<String> },
    /// Values drift while the study runs.
    Drift(OverTime),
    /// Successive blocks are not independent.
    Autocorrelation(OverTime),
    /// Contrasts depend on who runs first.
    Position(Spots<Shift>),
    /// Trials show what run directly before.
    CarryOver(Spots<After>),
    /// Some variants fail more often, or less, than the baseline.
    FailureRates(Spots<Rates>),
    /// Trials of some variants are void more often, or less, than the baseline's.
    VoidRates(Spots<Rates>),
    /// Values gather in several places.
    Modes(Spots<Modes>),
    /// A few blocks are far from the others.
    Outliers(Spots<Outliers>),
    /// Files differ as built, and the programs are not shown to differ in other layouts: by how much files do, as a ratio.
    OnlyFilesDiffer(Spots<f64>),
    /// Of samples: their order is unknown.
    OrderUnknown {
        /// Whether lines were taken for blocks, as asked.
        paired: bool,
    },
    /// Of a sample: values with different settings stand in it.
    ValuesVary { keys: Vec<String> },
    /// Of a sample: declared to be exact, and not.
    NotExact { min: f64, max: f64 },
    /// Of a sample: too few values for an interval of the median.
    NoMedianInterval { confidence: f64, needed: i32 },
    /// Of two samples: the values of neither vary.
    NeverVary,
    /// Of two samples: too few values.
    TooFewValues(TooFewValues),
    /// Of two samples: one is spread far wider than the other.
    SpreadsDiffer,
    /// Of two samples: a number was too large or too small to be written.
    OutOfRange,
    /// Of two samples: time is visible in them.
    TimeMattered {
        seen: TimeSeen,
        /// The largest difference that it could explain, as the scale says.
        could_explain: f64,
        scale: Scale,
        is_less: bool,
        left: Left,
    },
    /// Samples of the same thing are apart, because a setting differs.
    SettingsDiffer { samples: Vec<String>, keys: Vec<String> },
    /// Not all samples have all rows.
    SetsDiffer { rows: Vec<(String, Vec<String>)> },
}

impl Caveat {
    /// Whether it stands before those of features: the whole study may mean nothing.
    pub(super) fn is_about_everything(&self) -> bool {
        matches!(self, Self::Simulated { .. } | Self::TwinDiffers { .. } | Self::ControlDiffers(_) | Self::Emulated)
    }

    /// A stable name for machines, such as `too-few-blocks`: the one that it is written with, but for some.
    pub fn kind(&self) -> String {
        match (self, serde_json::to_value(self)) {
            (Self::Of(objection), _) => objection.kind.clone(),
            (Self::TimeMattered { .. }, _) => "drift".to_owned(),
            (_, Ok(Value::String(kind))) => kind,
            (_, Ok(Value::Object(fields))) => fields.into_iter().next().map_or_else(String::new, |(kind, _)| kind),
            _ => String::new(),
        }
    }
}
