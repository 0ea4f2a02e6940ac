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

use crate::stopping_rule::{fulfilled, is_looked_at};
use crate::workloads::deciding_tables;
use bakeoff_model::record::Record;
use bakeoff_model::until::Until;

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
