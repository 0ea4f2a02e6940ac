//! The driver: every trial of a plan, block by block, exactly once, over any number of sessions. It knows order and
//! nothing else; how a trial is executed is the executor's business. A trial that a rule of the plan declares void is
//! repeated at once, a few times. Before and after each block it has the executor look at what trials execute: where that
//! was changed, the trials since the last good look are void.

use crate::{Execution, Executor, Look, Pass, Task, void};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Block, MOST_REPEATS, Outcome, Record, TWIN, Trial};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What happens, in the order in which it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A block begins, and its order is fixed; not repeated when an interrupted block is taken up again.
    BlockBegins(Block),
    /// A trial is about to be launched. The listener must be done when this returns.
    TrialBegins {
        /// The variant's display name, or the twin's.
        variant: String,
    },
    /// A trial ended. If it is void and not final ([`Trial::is_final`]), it begins again.
    TrialEnded(Box<Trial>),
    /// Trials turned out to write these files, which they were thought to depend on.
    Written(Vec<String>),
    /// What trials execute is as it was; a digest of what was looked at.
    Checked(String),
    /// Files of what trials execute were changed: the trials since the last [`Self::Checked`] are void. If they are what
    /// they were again, the block begins again; else the session ends.
    Changed {
        /// Their names.
        files: Vec<String>,
        /// Nobody knows when it was: all trials of the session are void.
        whole_session: bool,
    },
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
    /// What trials execute was changed.
    Changed,
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
    let held = Held::of(plan, record);
    let mut session = Session { plan, held: &held, session, executor, emit, stop, begun: false };
    for pass in 1..=plan.blocks {
        if pass > 1 && !held.passes.contains(&pass) && enough() {
            return session.end();
        }
        match session.execute_pass(pass)? {
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
    /// Those of them that need not be executed any more.
    pub trials_done: u64,
    /// Blocks that there are when all is done.
    pub blocks: u64,
    /// Those of them that need nothing any more.
    pub blocks_done: u64,
}

impl Standing {
    /// That of a record with the plan that made it. What [`drive`] would execute is what is not done here.
    pub fn of(plan: &Plan, record: &Record) -> Self {
        let held = Held::of(plan, record);
        let mut standing = Self::default();
        for planned in (1..=plan.blocks).flat_map(|pass| plan.pass(pass)) {
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

/// What a session runs, where, and who listens.
struct Session<'a, E> {
    plan: &'a Plan,
    held: &'a Held<'a>,
    session: u32,
    executor: &'a mut dyn Executor,
    emit: &'a mut dyn FnMut(Event) -> Result<(), E>,
    stop: &'a dyn Fn() -> bool,
    /// Whether anything was executed.
    begun: bool,
}

/// What a look means for the block before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    Good,
    /// Something was put in the place of a file, but it is the same again.
    Touched,
    Changed,
}

impl<E: From<crate::Error>> Session<'_, E> {
    /// A last look, at everything, when nothing is left to be executed.
    fn end(&mut self) -> Result<Ending, E> {
        if !self.begun {
            return Ok(Ending::Complete);
        }
        let look = self.executor.look_at_all()?;
        Ok(if self.heed(look)? == Looked::Changed { Ending::Changed } else { Ending::Complete })
    }

    fn look(&mut self) -> Result<Looked, E> {
        let look = self.executor.look()?;
        self.heed(look)
    }

    fn heed(&mut self, look: Look) -> Result<Looked, E> {
        let Look { files, written, touched, changed, whole_session } = look;
        if !written.is_empty() {
            (self.emit)(Event::Written(written))?;
        }
        let (looked, found) = match (changed.is_empty(), touched.is_empty()) {
            (false, _) => (Looked::Changed, Event::Changed { files: changed, whole_session }),
            (true, false) => (Looked::Touched, Event::Changed { files: touched, whole_session: false }),
            (true, true) => (Looked::Good, Event::Checked(files)),
        };
        if found != Event::Checked(String::new()) {
            (self.emit)(found)?;
        }
        Ok(looked)
    }

    /// Executes of one pass what the record does not hold yet.
    fn execute_pass(&mut self, pass: u32) -> Result<Ending, E> {
        let planned = self.plan.pass(pass);
        let of_block = |planned| self.held.of_block(planned);
        let missing: Vec<Missing<'_>> = planned.iter().map(of_block).filter(Missing::is_any).collect();
        if missing.is_empty() {
            return Ok(Ending::Complete);
        }
        let begun = self.begin_pass(pass, &missing);
        let ending = match begun {
            Ok(Some(())) => self.execute_missing(&missing),
            Ok(None) => Ok(Ending::Stopped),
            Err(error) => Err(error.into()),
        };
        let ended = self.executor.pass_ended();
        let ending = ending?;
        ended?;
        Ok(ending)
    }

    /// Tells the executor which variants have trials to come in blocks that are relinked.
    fn begin_pass(&mut self, pass: u32, missing: &[Missing<'_>]) -> Result<Option<()>, crate::Error> {
        let linked: Vec<&Missing<'_>> = missing.iter().filter(|missing| missing.block.layout.is_some()).collect();
        let comes = |name: &&str| linked.iter().any(|missing| missing.next.get(name).is_some_and(Option::is_some));
        let names = self.plan.variants.iter().map(|variant| variant.name.as_str()).chain([TWIN]);
        let variants: Vec<&str> = names.filter(comes).collect();
        let layout = linked.first().and_then(|missing| missing.block.layout);
        // What takes long is not begun by who is to stop.
        if layout.is_some() && (self.stop)() {
            return Ok(None);
        }
        self.executor.pass_begins(&Pass { pass, layout, variants: &variants })
    }

    fn execute_missing(&mut self, missing: &[Missing<'_>]) -> Result<Ending, E> {
        // The look after the last block of a pass is that before the first of the next, unless something was made between.
        let is_made = missing.iter().any(|missing| missing.block.layout.is_some());
        if (!self.begun || is_made) && self.look()? == Looked::Changed {
            return Ok(Ending::Changed);
        }
        self.begun = true;
        for Missing { block, is_begun, next } in missing {
            if (self.stop)() {
                return Ok(Ending::Stopped);
            }
            if !is_begun {
                (self.emit)(Event::BlockBegins((*block).clone()))?;
            }
            let ending = self.execute_until_good(block, next.clone())?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
            (self.emit)(Event::BlockEnded)?;
        }
        Ok(Ending::Complete)
    }

    /// Executes what is missing of a block, and again what a look finds void.
    fn execute_until_good<'b>(&mut self, block: &'b Block, mut next: Next<'b>) -> Result<Ending, E> {
        loop {
            let mut executed = Next::new();
            let ending = self.execute_block(block, &next, &mut executed);
            // Whatever kept the block from its end, nothing of it may go on.
            let swept = self.executor.block_ended();
            let ending = ending?;
            swept?;
            match self.look()? {
                Looked::Changed => return Ok(Ending::Changed),
                Looked::Touched if ending == Ending::Complete => next = executed,
                Looked::Good | Looked::Touched => return Ok(ending),
            }
        }
    }

    /// Executes what is missing of a block; `executed` gets the attempts that would follow.
    fn execute_block<'b>(&mut self, block: &'b Block, next: &Next<'b>, executed: &mut Next<'b>) -> Result<Ending, E> {
        for (position, variant) in (1..).zip(&block.order) {
            let mut attempt = next.get(variant.as_str()).copied().flatten();
            while let Some(number) = attempt {
                executed.insert(variant, (number < MOST_REPEATS).then_some(number + 1));
                if (self.stop)() {
                    return Ok(Ending::Stopped);
                }
                (self.emit)(Event::TrialBegins { variant: variant.clone() })?;
                let task = Task { block, position, variant, attempt: number };
                let Some(mut execution) = self.executor.execute(task)? else { return Ok(Ending::Stopped) };
                let written = std::mem::take(&mut execution.written);
                if !written.is_empty() {
                    (self.emit)(Event::Written(written))?;
                }
                let mut trial = trial(task, self.session, execution);
                if trial.outcome == Outcome::Ok
                    && let Some(why) = void::why(&trial, &self.plan.void_if)
                {
                    trial.outcome = Outcome::Void(why);
                }
                attempt = (!trial.is_final()).then_some(number + 1);
                (self.emit)(Event::TrialEnded(Box::new(trial)))?;
            }
        }
        Ok(Ending::Complete)
    }
}

/// The attempt that comes next for each variant of a block; none where no other follows.
type Next<'a> = BTreeMap<&'a str, Option<u32>>;

/// What of a block the record does not hold.
struct Missing<'a> {
    /// As it was begun, or else as it is planned.
    block: &'a Block,
    is_begun: bool,
    next: Next<'a>,
}

impl Missing<'_> {
    fn is_any(&self) -> bool {
        self.next.values().any(Option::is_some)
    }
}

/// What tells one block from another: pass, workload, condition.
type Key<'a> = (u32, &'a str, &'a str);

/// What a record holds of each block. A record is looked through once, however many blocks are then asked for.
struct Held<'a> {
    /// Passes of which a block was begun.
    passes: HashSet<u32>,
    begun: HashMap<Key<'a>, &'a Block>,
    /// The attempt that comes next, for each variant with a trial in the block; none after the final one.
    next: HashMap<Key<'a>, HashMap<&'a str, Option<u32>>>,
    /// Those that can be executed: the plan's variants and the twin. A block may have been begun with another one,
    /// whose build fails today.
    names: HashSet<&'a str>,
}

impl<'a> Held<'a> {
    fn of(plan: &'a Plan, record: &'a Record) -> Self {
        let names = plan.variants.iter().map(|variant| variant.name.as_str()).chain([TWIN]).collect();
        let passes = record.blocks.iter().map(|block| block.block).collect();
        let mut begun = HashMap::new();
        for block in &record.blocks {
            // The first word on a block's order is the one that its trials follow.
            begun.entry(key(block)).or_insert(block);
        }
        let mut next: HashMap<Key<'a>, HashMap<&'a str, Option<u32>>> = HashMap::new();
        for trial in &record.trials {
            let of_block = next.entry((trial.block, &trial.workload, &trial.condition)).or_default();
            let attempt = of_block.entry(&trial.variant).or_insert(Some(0));
            *attempt = attempt.filter(|_| !trial.is_final()).map(|known| known.max(trial.attempt + 1));
        }
        Self { passes, begun, next, names }
    }

    fn of_block<'b>(&'b self, planned: &'b Block) -> Missing<'b> {
        let begun = self.begun.get(&key(planned)).copied();
        let block = begun.unwrap_or(planned);
        let held = self.next.get(&key(planned));
        let attempt = |variant: &str| held.and_then(|held| held.get(variant)).copied().unwrap_or(Some(0));
        let executable = block.order.iter().filter(|variant| self.names.contains(variant.as_str()));
        let next = executable.map(|variant| (variant.as_str(), attempt(variant))).collect();
        Missing { block, is_begun: begun.is_some(), next }
    }
}

fn key(block: &Block) -> Key<'_> {
    (block.block, &block.workload, &block.condition)
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
        attempt: task.attempt,
        marks: execution.marks,
        processes: execution.processes,
        output: execution.output,
        output_difference: execution.output_difference,
    }
}
