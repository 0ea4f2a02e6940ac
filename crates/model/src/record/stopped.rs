//! A variant that failed in each of its first blocks stops: it takes part in no later block of that workload under that
//! condition, so none of them is incomplete without it. Where the baseline stops, or all others, nobody goes on.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use serde::{Deserialize, Serialize};

/// Blocks in which a variant must fail before it stops.
pub const BLOCKS_OF_FAILING: u32 = 3;

/// A variant stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    pub session: u32,
    /// The variant's display name, or the twin's.
    pub variant: String,
    pub workload: String,
    pub condition: String,
    /// The first block in which it takes no part; 0 if it takes part again in all.
    pub from: u32,
}

impl Stopped {
    /// Whether it is about the same variant, workload and condition.
    pub(super) fn is_of_cell_of(&self, other: &Self) -> bool {
        (&self.variant, &self.workload, &self.condition) == (&other.variant, &other.workload, &other.condition)
    }

    /// Whether it keeps a variant out of a block of a cell, which is a workload and a condition.
    pub fn keeps_out(&self, variant: &str, cell: (&str, &str), block: u32) -> bool {
        self.variant == variant && (self.workload.as_str(), self.condition.as_str()) == cell && self.from <= block
    }
}

/// Whether nobody takes part in a block any more: the baseline, which comes first, has stopped, or all others have.
pub fn is_left_out<'a>(
    stopped: &[Stopped],
    mut variants: impl Iterator<Item = &'a str>,
    cell: (&str, &str),
    block: u32,
) -> bool {
    let has_stopped = |variant: &str| stopped.iter().any(|one| one.keeps_out(variant, cell, block));
    let Some(baseline) = variants.next() else { return false };
    let mut others = variants.peekable();
    has_stopped(baseline) || (others.peek().is_some() && others.all(has_stopped))
}
