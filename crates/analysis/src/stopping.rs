//! Stopping rules: whether a study has blocks enough, and what its numbers mean when its length was not fixed. Whoever
//! executes asks [`enough`] after each pass; the answer follows from the record alone, so it is the same for a study that
//! was interrupted. It neither stops anything nor draws.
//!
//! - *precision*: it stops when the interval of every comparison of the deciding metric reaches at most so far, from
//!   10 blocks on. A spread that happens to be small stops it too early; so interval and p are taken at 0.6 α (97 % where
//!   95 % are claimed), which keeps what is claimed.
//! - *decided*: it is looked at after 20, 30, 45, 67.5 and 100 % of its most blocks, and stops at the first look at which
//!   every comparison has a verdict. Each look has its level ([`spending`]). Blocks after the last look that there was
//!   are not judged.
//! - *anytime*: it is looked at after every pass. p is 1/E and the interval a confidence sequence ([`crate::stats::eprocess`]),
//!   which may be looked at, and stopped at, at any time.

use crate::findings::{Comparison, Scale, Stopping, Table, Test, Verdict};
use crate::judge;
use crate::stats::blocks;
use crate::stats::eprocess;
use crate::stats::equivalence::Zone;
use crate::stats::spending;
use bakeoff_model::record::{Block, Record, StudyLine};
use bakeoff_model::until::Until;
use std::collections::{BTreeMap, BTreeSet};

/// Under *precision*, the part of alpha at which intervals and p are taken: simulated, it keeps their coverage.
const PRECISION_SHARE: f64 = 0.6;

/// How p and intervals are to be read, given when the study is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// The number of blocks was fixed: as they are.
    Fixed,
    /// Stopped by precision.
    Precision,
    /// At a look, counted from 0, of a study with looks up to `most` blocks.
    Look { most: u32, look: usize },
    /// Before the first look: not at all.
    Early { first: u32 },
    /// At any time: by the bet against the coins.
    Anytime,
}

impl Reading {
    /// The nominal level at which a test, or an interval, is to be taken for it to have this level in all.
    pub(crate) fn level(self, alpha: f64) -> f64 {
        match self {
            Self::Fixed | Self::Anytime | Self::Early { .. } => alpha,
            Self::Precision => PRECISION_SHARE * alpha,
            Self::Look { most, look } => {
                let levels = spending::levels(&spending::looks(most), alpha.min(1.0));
                // Zero refutes nothing; it cannot happen for looks that grow.
                levels.and_then(|levels| levels.get(look).copied()).unwrap_or(0.0)
            }
        }
    }

    /// The p of a test made now, comparable with alpha.
    pub(crate) fn overall(self, p: f64) -> f64 {
        match self {
            Self::Fixed | Self::Anytime => p,
            Self::Precision => (p / PRECISION_SHARE).min(1.0),
            Self::Look { most, look } => spending::adjusted_p(&spending::looks(most), look, p).unwrap_or(1.0),
            Self::Early { .. } => 1.0,
        }
    }

    /// Whether the p of an ordinary test can be made comparable with alpha; a bet's is of another kind.
    pub(crate) fn takes_p(self) -> bool {
        !matches!(self, Self::Anytime | Self::Early { .. })
    }

    /// The least number of blocks with which one of so many comparisons can be shown to differ, as of now.
    pub(crate) fn least_blocks(self, comparisons: u32, alpha: f64) -> u32 {
        match self {
            Self::Early { first } => first,
            Self::Anytime => {
                let per_comparison = alpha / f64::from(comparisons.max(1));
                (1..=u32::MAX).find(|n| eprocess::at_most(*n as usize) >= 1.0 / per_comparison).unwrap_or(0)
            }
            _ => blocks::least(self.level(alpha)),
        }
    }
}

/// What of a record is looked at, and how.
pub(crate) struct Sight {
    pub(crate) reading: Reading,
    /// Blocks of passes after this one are not judged.
    pub(crate) last_pass: u32,
    /// The rule, for the findings; none for a fixed number of blocks.
    pub(crate) stopping: Option<Stopping>,
}

impl Sight {
    /// What may be seen of a record under its own rule.
    pub(crate) fn of(record: &Record) -> Self {
        let until = record.study.until;
        if until == Until::Blocks {
            return Self { reading: Reading::Fixed, last_pass: u32::MAX, stopping: None };
        }
        let passes = complete_passes(record);
        let looks = looks(&record.study);
        let seen = looks.iter().rposition(|look| *look <= passes);
        let reading = match (until, seen) {
            (Until::Precision(_), _) => Reading::Precision,
            (Until::Anytime, _) => Reading::Anytime,
            (_, Some(look)) => Reading::Look { most: looks.last().copied().unwrap_or(0), look },
            (_, None) => Reading::Early { first: looks.first().copied().unwrap_or(0) },
        };
        let last_pass = match reading {
            Reading::Look { look, .. } => looks[look],
            _ => u32::MAX,
        };
        let judged_blocks = last_pass.min(passes);
        let most_blocks = record.sessions.last().map_or(0, |session| session.blocks);
        let stopping = Some(Stopping { until, looks, judged_blocks, most_blocks, enough: false });
        Self { reading, last_pass, stopping }
    }
}

/// Whether the study may end here: its rule is fulfilled, and no pass is begun but not finished. Never so for a fixed
/// number of blocks, of which there are enough when they are there.
pub fn enough(record: &Record) -> bool {
    let until = record.study.until;
    if until == Until::Blocks {
        return false;
    }
    let record = record.without_building();
    is_looked_at(&record) && fulfilled(until, &judge::deciding_tables(&record))
}

/// Whether a study under that rule is looked at now.
pub(crate) fn is_looked_at(record: &Record) -> bool {
    let passes = complete_passes(record);
    let begun = record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
    let until = record.study.until;
    let due = match until {
        Until::Blocks => false,
        Until::Precision(_) => passes >= until.fewest_blocks(),
        Until::Decided => looks(&record.study).contains(&passes),
        Until::Anytime => passes > 0,
    };
    due && begun == passes
}

/// Whether the tables of the deciding metric say that it is enough. A variant that has no value at all is not waited for.
pub(crate) fn fulfilled<'a>(until: Until, deciding: impl IntoIterator<Item = &'a Table>) -> bool {
    let reached = |table: &Table, comparison: &Comparison| match until {
        // More blocks would not change what it prints.
        _ if comparison.verdict == Verdict::Withheld || comparison.test == Test::TooCoarse => true,
        Until::Blocks => false,
        Until::Precision(half_width) => is_precise(half_width, table, comparison),
        Until::Decided | Until::Anytime => !matches!(comparison.verdict, Verdict::Undecided { .. }),
    };
    deciding.into_iter().all(|table| {
        let comparisons = table.rows.iter().filter_map(|row| row.comparison.as_ref());
        comparisons.into_iter().all(|comparison| reached(table, comparison))
    })
}

/// Whether the interval, without what ticks add to it, is no wider than twice the half-width: on the scale of logarithms for a ratio, and a part of the
/// baseline's median for a difference.
fn is_precise(half_width: f64, table: &Table, comparison: &Comparison) -> bool {
    if comparison.test == Test::Deterministic {
        return true;
    }
    let Some([low, high]) = comparison.interval else { return false };
    // More blocks would not make the part of the ticks smaller.
    let spread = |low: f64, high: f64| (high - low) / 2.0 - comparison.resolution;
    match comparison.scale {
        Scale::Ratio => spread(low.ln(), high.ln()) <= Zone::of_log_ratios(half_width).half_width,
        Scale::Difference => {
            let baseline = table.rows.first().and_then(|row| row.summary.as_ref());
            baseline.is_some_and(|summary| spread(low, high) <= half_width * summary.median.abs())
        }
    }
}

/// The looks of a study; none unless it is looked at a few times only.
fn looks(study: &StudyLine) -> Vec<u32> {
    let most = study.looks_until.unwrap_or_else(|| study.until.default_blocks());
    if study.until == Until::Decided { spending::looks(most) } else { vec![] }
}

/// The number of passes, from the first on, of which every block is finished.
fn complete_passes(record: &Record) -> u32 {
    let place = |block: &Block| (block.block, block.workload.clone(), block.condition.clone());
    let mut executed: BTreeMap<(u32, &str, &str), BTreeSet<&str>> = BTreeMap::new();
    for trial in record.trials.iter().filter(|trial| trial.is_final()) {
        let block = (trial.block, trial.workload.as_str(), trial.condition.as_str());
        executed.entry(block).or_default().insert(&trial.variant);
    }
    let is_finished = |block: &&Block| {
        let trials = executed.get(&(block.block, block.workload.as_str(), block.condition.as_str()));
        trials.is_some_and(|trials| block.order.iter().all(|variant| trials.contains(variant.as_str())))
    };
    let finished: BTreeSet<_> = record.blocks.iter().filter(is_finished).map(place).collect();
    let cells = record.study.workloads.len() * record.study.conditions.len();
    let mut of_pass: BTreeMap<u32, usize> = BTreeMap::new();
    finished.iter().for_each(|(pass, ..)| *of_pass.entry(*pass).or_default() += 1);
    (1..).take_while(|pass| cells > 0 && of_pass.get(pass) == Some(&cells)).last().unwrap_or(0)
}
