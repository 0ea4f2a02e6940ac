//! The driver: every trial of a plan, block by block, exactly once, over any number of sessions. It knows order and
//! nothing else; how a trial is run is the executor's business. A trial that a rule of the plan declares void is
//! repeated at once, a few times. Before and after each block it has the executor look at what trials run: where that
//! was changed, the trials since the last good look are void. Where variants boot, [`boots`] takes the place of blocks.

mod boots;
mod event;
mod failing;
mod held;
mod session;

pub use event::{Ending, Event};

use crate::{Executor, Linked};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use failing::Failing;
use held::Held;
use session::Session;
pub use session::trial;

/// Runs what the record does not hold yet.
///
/// `emit` hears every event and may fail, which ends the session at once; `stop` is asked before each trial. `enough` is
/// asked before each pass but the first, and never of a part of a plan, unless one of its blocks has begun: then it was asked already, and said no. What
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
    let held = Held::of(plan, record);
    for resumed in Failing::resumed(plan, record, session) {
        emit(Event::Stops(resumed))?;
    }
    let failing = Failing::of(plan, record);
    let mut session = Session {
        plan,
        held: &held,
        failing,
        session,
        executor,
        emit,
        stop,
        begun: false,
        booted: vec![],
        linked: Linked::new(),
    };
    let boots = plan.boots();
    for pass in plan.passes() {
        if pass > 1 && plan.part.is_none() && !held.passes.contains(&pass) && enough() {
            return session.end();
        }
        let ending = if boots { session.boot_pass(pass)? } else { session.execute_pass(pass)? };
        match ending {
            Ending::Complete => {}
            Ending::Changed => return Ok(Ending::Changed),
            Ending::Stopped => {
                let ending = session.end()?;
                return Ok(if ending == Ending::Changed { ending } else { Ending::Stopped });
            }
        }
    }
    session.end()
}

/// How far a record is with a plan. A study that was prolonged may hold more than a plan asks for now; that is not
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Trials that there are when all is done.
    pub trials: u64,
    /// Those of them that need not be run any more.
    pub trials_done: u64,
    /// Blocks that there are when all is done.
    pub blocks: u64,
    /// Those of them that need nothing any more.
    pub blocks_done: u64,
}

impl Standing {
    /// That of a record with the plan that made it. What [`drive`] would run is what is not done here.
    pub fn of(plan: &Plan, record: &Record) -> Self {
        let held = Held::of(plan, record);
        let failing = Failing::of(plan, record);
        let mut standing = Self::default();
        for planned in plan.passes().into_iter().flat_map(|pass| failing.without(plan.pass(pass))) {
            let next = held.of_block(&planned).next;
            let missing = next.values().filter(|attempt| attempt.is_some()).count() as u64;
            standing.trials += next.len() as u64;
            standing.trials_done += next.len() as u64 - missing;
            standing.blocks += 1;
            standing.blocks_done += u64::from(missing == 0);
        }
        standing
    }
}
