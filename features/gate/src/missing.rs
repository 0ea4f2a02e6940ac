//! How many more blocks would probably decide a case that is undecided: a plan and no promise. It decides nothing.

use crate::slowdown::Slowdown;
use bakeoff_judge::findings::{Caveat, Comparison, Lack};
use bakeoff_stats::blocks::least;
use bakeoff_stats::power::Design;
use bakeoff_stats::student::t_quantile;

/// The power that is planned for.
const POWER: f64 = 0.8;

/// No study has more blocks.
const MOST_BLOCKS: u32 = 10_000;

/// What a case is decided at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    /// α.
    pub(crate) alpha: f64,
    /// The part of it that a failure is shown at.
    pub(crate) alpha_to_fail: f64,
    /// Comparisons of a table, over which its intervals are corrected.
    pub(crate) family: u32,
}

/// Blocks that are missing until the interval would lie on the estimate's side of the limit, with a power of 80 % if
/// estimate and spread stay as they are. None if that are more than a study may have.
///
/// With d the distance from the estimate to the limit on the scale of the contrasts, less what the ticks of a clock take,
/// and σ their standard deviation: the n at which a two-sided t test at α/family, as for every interval of the table, shows a
/// difference of d (Johnson & Welch 1940).
pub(crate) fn more_blocks(comparison: &Comparison, slowdown: &Slowdown, limit: f64, levels: Levels) -> Option<u32> {
    let blocks = comparison.blocks;
    if let Some(needed) = too_few(comparison) {
        return Some(needed.saturating_sub(blocks).max(1));
    }
    let estimate = slowdown.of(comparison.estimate);
    let alpha = if estimate <= limit { levels.alpha } else { levels.alpha_to_fail };
    let distance = (slowdown.contrast(limit) - slowdown.contrast(estimate)).abs() - comparison.resolution;
    let design = Design { sd: sd(comparison, slowdown, levels.alpha)?, alpha: alpha / f64::from(levels.family.max(1)) };
    let needed = design.blocks_for_difference(distance.max(0.0), POWER)?.max(least(alpha));
    (needed <= MOST_BLOCKS).then(|| needed.saturating_sub(blocks).max(1))
}

/// The least number of blocks for an interval, where there is none.
fn too_few(comparison: &Comparison) -> Option<u32> {
    comparison.caveats.iter().find_map(|caveat| match caveat {
        Caveat::TooFewBlocks { lack: Lack::FirstLook { needed } | Lack::Inference { needed }, .. } => Some(*needed),
        Caveat::TooFewBlocks { lack: Lack::Interval { needed, .. }, .. } => *needed,
        _ => None,
    })
}

/// The standard deviation of the contrasts, as it shows in the width of their interval at 1 − 2α: so single contrasts that
/// are far out, which the test clips, do not count for more than they do in the decision. Under a stopping rule intervals are
/// wider, and this is too large rather than too small.
fn sd(comparison: &Comparison, slowdown: &Slowdown, alpha: f64) -> Option<f64> {
    let ends = comparison.equivalence_interval()?.map(|end| slowdown.contrast(slowdown.of(end)));
    let half = (ends[1] - ends[0]).abs() / 2.0 - comparison.resolution;
    let n = f64::from(comparison.blocks);
    let t = t_quantile(1.0 - alpha, n - 1.0)?;
    Some((half * n.sqrt() / t).max(0.0))
}
