//! Stopping rules: whether a study has enough blocks. The driver asks [`enough`] after each pass; the answer follows from
//! the record, so an interrupted study gets the same. How a rule changes p and intervals is in `mode.rs`.
//!
//! - *precision*: it stops when the interval of every comparison of the deciding metric reaches at most so far, from
//!   10 blocks on. A spread that happens to be small stops it too early; so interval and p are taken at 0.6 α (97 % where
//!   95 % are claimed), which keeps what is claimed.
//! - *decided*: it is looked at after 20, 30, 45, 67.5 and 100 % of its most blocks, and stops at the first look at which
//!   every comparison has a verdict. Each look has its level ([`bakeoff_stats::spending`]). Blocks after the last look
//!   that there was are not judged.
//! - *anytime*: it is looked at after every pass. p is 1/E and the interval a confidence sequence ([`bakeoff_stats::eprocess`]),
//!   which may be looked at, and stopped at, at any time.

pub use crate::interim_view::complete_passes as passes;
use crate::stopping_rule::{fulfilled, is_looked_at};
use crate::workloads::deciding_tables;
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;
use bakeoff_stats::spending;

/// Whether the study may end here: its rule is fulfilled, and no pass is half done. Never for a fixed number of blocks.
pub fn enough(record: &Record) -> bool {
    let until = record.study.until;
    if until == Until::Blocks {
        return false;
    }
    let record = record.without_building();
    let record = record.in_parts();
    is_looked_at(&record) && fulfilled(until, &deciding_tables(&record))
}

/// The number of passes that must be complete before a rule with at most `most` blocks is asked next, where `together` passes are
/// run at a time.
pub fn next_look(until: Until, most: u32, complete: u32, together: u32) -> u32 {
    match until {
        Until::Blocks => most,
        Until::Decided => spending::looks(most).into_iter().find(|look| *look > complete).unwrap_or(most),
        Until::Anytime | Until::Precision(_) => (complete + together.max(1)).max(until.fewest_blocks()).min(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_that_of_the_rule() {
        let check =
            |until, complete, expect| assert_eq!(next_look(until, 40, complete, 4), expect, "{until} {complete}");
        check(Until::Blocks, 0, 40);
        let looks = spending::looks(40);
        check(Until::Decided, 0, looks[0]);
        check(Until::Decided, looks[0], looks[1]);
        check(Until::Decided, 40, 40);
        check(Until::Anytime, 0, 8);
        check(Until::Anytime, 8, 12);
        check(Until::Precision(0.01), 38, 40);
    }
}
