//! The stopping rule of a study, asked of the tables of its deciding metric: whether it is asked now, and whether it is
//! fulfilled. It judges nothing and makes no table. The rules in words are in [`crate::stopping`].

use super::interim_view::{complete_passes, looks};
use crate::findings::{Comparison, Inferred, Scale, Table, Verdict};
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;
use bakeoff_stats::equivalence::Zone;

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
        _ if comparison.verdict == Verdict::Withheld || comparison.inferred == Inferred::TooCoarse => true,
        Until::Blocks => false,
        Until::Precision(half_width) => is_precise(half_width, table, comparison),
        Until::Decided | Until::Anytime => !matches!(comparison.verdict, Verdict::Undecided { .. }),
    };
    deciding.into_iter().all(|table| {
        let comparisons = table.rows.iter().filter_map(|row| row.comparison.as_ref());
        comparisons.into_iter().all(|comparison| reached(table, comparison))
    })
}

/// Whether the interval, without ticks, is within the half-width: of logarithms, or a part of the baseline's median.
fn is_precise(half_width: f64, table: &Table, comparison: &Comparison) -> bool {
    if comparison.inferred == Inferred::Exact {
        return true;
    }
    let Some([low, high]) = comparison.interval() else { return false };
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
