//! The part of a plan that one machine of several runs: some passes, without the blocks that others have run already. It
//! changes no order: a block is the same one on each machine.

use crate::record::{AwayKey, Block};
use std::collections::BTreeSet;

/// What one machine runs of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The passes that are its.
    pub passes: BTreeSet<u32>,
    /// The blocks of these that need not be run any more.
    pub done: BTreeSet<AwayKey>,
}

impl Part {
    pub(super) fn has(&self, block: &Block) -> bool {
        let Block { block, workload, condition, .. } = block;
        self.passes.contains(block) && !self.done.contains(&(*block, workload.clone(), condition.clone()))
    }
}
