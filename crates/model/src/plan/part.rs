//! The part of a plan that is run by itself: some passes, without the blocks that others have run already. A block is the same
//! one on each machine; only a search says itself what its blocks hold, and in which order.

use crate::record::{AwayKey, Block};
use std::collections::BTreeSet;

/// What is run of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The passes that are its.
    pub passes: BTreeSet<u32>,
    /// The blocks of these that need not be run any more.
    pub done: BTreeSet<AwayKey>,
    /// What each block holds, in its order; empty: what the plan says.
    pub order: Vec<String>,
}

impl Part {
    /// Leaves of the blocks of a pass what is run.
    pub(super) fn apply(&self, blocks: &mut Vec<Block>) {
        blocks.retain(|Block { block, workload, condition, .. }| {
            self.passes.contains(block) && !self.done.contains(&(*block, workload.clone(), condition.clone()))
        });
        if !self.order.is_empty() {
            blocks.iter_mut().for_each(|block| block.order.clone_from(&self.order));
        }
    }
}
