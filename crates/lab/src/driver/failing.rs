//! Variants that failed in each of their first blocks stop: counts trials, and takes those variants out of blocks.

use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BLOCKS_OF_FAILING, Block, Outcome, Record, Stopped, Trial, is_left_out};
use std::collections::HashMap;

/// Workload, condition, variant.
type Cell = (String, String, String);

/// Who stopped, and who may stop.
pub(super) struct Failing<'a> {
    plan: &'a Plan,
    /// Of each cell, the trials that ended well and those that failed.
    ended: HashMap<Cell, [u32; 2]>,
    pub(super) stopped: Vec<Stopped>,
}

impl<'a> Failing<'a> {
    pub(super) fn of(plan: &'a Plan, record: &Record) -> Self {
        let stopped = if plan.keep_going { vec![] } else { record.stopped.clone() };
        let mut failing = Self { plan, ended: HashMap::new(), stopped };
        record.trials.iter().for_each(|trial| failing.take(trial));
        failing
    }

    /// Takes note of a trial.
    pub(super) fn take(&mut self, trial: &Trial) {
        let place = match trial.outcome {
            _ if !trial.is_final() => return,
            Outcome::Failed(_) => 1,
            _ => 0,
        };
        let cell = (trial.workload.clone(), trial.condition.clone(), trial.variant.clone());
        self.ended.entry(cell).or_default()[place] += 1;
    }

    /// Who stops after a block; they are kept out of those that follow.
    pub(super) fn after(&mut self, block: &Block, session: u32) -> Vec<Stopped> {
        if self.plan.keep_going {
            return vec![];
        }
        let stops = |variant: &&String| {
            let cell = (block.workload.clone(), block.condition.clone(), (*variant).clone());
            self.ended.get(&cell).is_some_and(|[well, failed]| *well == 0 && *failed >= BLOCKS_OF_FAILING)
        };
        let stop = |variant: &String| Stopped {
            session,
            variant: variant.clone(),
            workload: block.workload.clone(),
            condition: block.condition.clone(),
            from: block.block + 1,
        };
        let new: Vec<Stopped> = block.order.iter().filter(stops).map(stop).collect();
        self.stopped.extend(new.iter().cloned());
        new
    }

    /// Blocks without those that stopped, and without the blocks in which nobody is left.
    pub(super) fn without(&self, planned: Vec<Block>) -> Vec<Block> {
        let left = |mut block: Block| {
            let cell = (block.workload.as_str(), block.condition.as_str());
            let names = self.plan.variants.iter().map(|variant| variant.name.as_str());
            if is_left_out(&self.stopped, names, cell, block.block) {
                return None;
            }
            let mut order = std::mem::take(&mut block.order);
            let cell = (block.workload.as_str(), block.condition.as_str());
            order.retain(|variant| !self.stopped.iter().any(|one| one.keeps_out(variant, cell, block.block)));
            Some(Block { order, ..block })
        };
        planned.into_iter().filter_map(left).collect()
    }

    /// Who takes part again, because it was asked for.
    pub(super) fn resumed(plan: &Plan, record: &Record, session: u32) -> Vec<Stopped> {
        let stopped = record.stopped.iter().filter(|_| plan.keep_going);
        stopped.map(|one| Stopped { session, from: 0, ..one.clone() }).collect()
    }
}
