//! The driver: every trial of a plan, block by block, exactly once, over any number of sessions. It knows order and
//! nothing else; how a trial is executed is the executor's business.

use crate::{Execution, Executor, Task};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Block, Record, Trial};
use std::collections::BTreeSet;

/// What happens, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A block begins, and its order is fixed; not repeated when an interrupted block is taken up again.
    BlockBegins(Block),
    /// A trial is about to be launched. Whoever listens must be done when this returns.
    TrialBegins {
        /// The variant's display name, or the twin's.
        variant: String,
    },
    /// A trial ended.
    TrialEnded(Trial),
    /// Every trial of a block has ended.
    BlockEnded,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan is in the record, or as many passes as are enough.
    Complete,
    /// It was asked to stop; what is missing can be executed later.
    Stopped,
}

/// Executes what the record does not hold yet.
///
/// `emit` hears every event and may fail, which ends the session at once; `stop` is asked before each trial. `enough` is
/// asked before each pass but the first, unless one of its blocks has begun: then it was asked already, and said no. What
/// it asks is its own affair; if it answers from what was emitted alone, a study that is interrupted ends where one
/// that is not would have.
pub fn drive<E: From<crate::Error>>(
    plan: &Plan,
    record: &Record,
    session: u32,
    executor: &mut dyn Executor,
    emit: &mut dyn FnMut(Event) -> Result<(), E>,
    stop: &dyn Fn() -> bool,
    enough: &dyn Fn() -> bool,
) -> Result<Ending, E> {
    for pass in 1..=plan.blocks {
        let is_begun = record.blocks.iter().any(|block| block.block == pass);
        if pass > 1 && !is_begun && enough() {
            return Ok(Ending::Complete);
        }
        if execute_pass(plan.pass(pass), record, session, executor, emit, stop)? == Ending::Stopped {
            return Ok(Ending::Stopped);
        }
    }
    Ok(Ending::Complete)
}

/// Executes of one pass what the record does not hold yet.
fn execute_pass<E: From<crate::Error>>(
    blocks: Vec<Block>,
    record: &Record,
    session: u32,
    executor: &mut dyn Executor,
    emit: &mut dyn FnMut(Event) -> Result<(), E>,
    stop: &dyn Fn() -> bool,
) -> Result<Ending, E> {
    for planned in blocks {
        let begun = record.blocks.iter().find(|b| same_block(b, &planned));
        let block = begun.unwrap_or(&planned);
        let done = executed(record, block);
        if block.order.iter().all(|variant| done.contains(variant.as_str())) {
            continue;
        }
        if stop() {
            return Ok(Ending::Stopped);
        }
        if begun.is_none() {
            emit(Event::BlockBegins(block.clone()))?;
        }
        for (position, variant) in (1..).zip(&block.order) {
            if done.contains(variant.as_str()) {
                continue;
            }
            if stop() {
                return Ok(Ending::Stopped);
            }
            emit(Event::TrialBegins { variant: variant.clone() })?;
            let task = Task { block, position, variant };
            let Some(execution) = executor.execute(task)? else { return Ok(Ending::Stopped) };
            emit(Event::TrialEnded(trial(task, session, execution)))?;
        }
        emit(Event::BlockEnded)?;
    }
    Ok(Ending::Complete)
}

fn same_block(one: &Block, other: &Block) -> bool {
    (one.block, &one.workload, &one.condition) == (other.block, &other.workload, &other.condition)
}

/// The variants that the record has a trial of, in that block.
fn executed<'a>(record: &'a Record, block: &Block) -> BTreeSet<&'a str> {
    let of_block =
        |t: &&Trial| (t.block, &t.workload, &t.condition) == (block.block, &block.workload, &block.condition);
    record.trials.iter().filter(of_block).map(|t| t.variant.as_str()).collect()
}

fn trial(task: Task<'_>, session: u32, execution: Execution) -> Trial {
    Trial {
        block: task.block.block,
        workload: task.block.workload.clone(),
        condition: task.block.condition.clone(),
        position: task.position,
        variant: task.variant.to_owned(),
        session,
        started_unix_s: execution.started_unix_s,
        outcome: execution.outcome,
        measurements: execution.measurements,
        leftovers: execution.leftovers,
        attempt: 0,
        marks: execution.marks,
        processes: execution.processes,
    }
}
