//! A session: blocks and their trials, in order, with a look at what they run between them.

use super::event::{Ending, Event};
use super::failing::Failing;
use super::held::{Held, Missing, Next};
use crate::{Execution, Executor, Linked, Look, Pass, Task, void};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Block, MOST_REPEATS, Outcome, RELAID, TWIN, Trial};

/// What a session runs, where, and who listens.
pub(super) struct Session<'a, E> {
    pub(super) plan: &'a Plan,
    pub(super) held: &'a Held<'a>,
    pub(super) failing: Failing<'a>,
    pub(super) session: u32,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) emit: &'a mut dyn FnMut(Event) -> Result<(), E>,
    pub(super) stop: &'a dyn Fn() -> bool,
    /// Whether anything was run.
    pub(super) begun: bool,
    /// Trials of the boots of this session.
    pub(super) booted: Vec<Trial>,
    /// What was linked for the present pass.
    pub(super) linked: Linked,
}

/// What a look means for the block before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    Good,
    /// Something was put in the place of a file, but it is the same again.
    Touched,
    Changed,
}

impl<E: From<crate::Error>> Session<'_, E> {
    /// A last look, at everything, when nothing is left to be run.
    pub(super) fn end(&mut self) -> Result<Ending, E> {
        if !self.begun {
            return Ok(Ending::Complete);
        }
        let look = self.executor.look_at_all()?;
        Ok(if self.heed(look)? == Looked::Changed { Ending::Changed } else { Ending::Complete })
    }

    pub(super) fn look(&mut self) -> Result<Looked, E> {
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

    /// Runs of one pass what the record does not hold yet.
    pub(super) fn execute_pass(&mut self, pass: u32) -> Result<Ending, E> {
        let planned = self.failing.without(self.plan.pass(pass));
        let of_block = |planned| self.held.of_block(planned);
        let missing: Vec<Missing<'_>> = planned.iter().map(of_block).filter(Missing::is_any).collect();
        self.in_pass(pass, &missing, |session| session.execute_missing(&missing))
    }

    /// Runs what is missing of a pass, if anything is, between its beginning and its end.
    pub(super) fn in_pass(
        &mut self,
        pass: u32,
        missing: &[Missing<'_>],
        run: impl FnOnce(&mut Self) -> Result<Ending, E>,
    ) -> Result<Ending, E> {
        if !missing.iter().any(Missing::is_any) {
            return Ok(Ending::Complete);
        }
        let ending = match self.begin_pass(pass, missing) {
            Ok(Some(linked)) => {
                self.linked = linked;
                run(self)
            }
            Ok(None) => Ok(Ending::Stopped),
            Err(error) => Err(error.into()),
        };
        let ended = self.executor.pass_ended();
        let ending = ending?;
        ended?;
        Ok(ending)
    }

    /// Tells the executor which variants have trials to come in blocks that are relinked.
    fn begin_pass(&mut self, pass: u32, missing: &[Missing<'_>]) -> Result<Option<Linked>, crate::Error> {
        let linked: Vec<&Missing<'_>> = missing.iter().filter(|missing| missing.block.layout.is_some()).collect();
        let comes = |name: &&str| linked.iter().any(|missing| missing.next.get(name).is_some_and(Option::is_some));
        let names = self.plan.variants.iter().map(|variant| variant.name.as_str()).chain([TWIN, RELAID]);
        let variants: Vec<&str> = names.filter(comes).collect();
        let layout = linked.first().and_then(|missing| missing.block.layout);
        // Don't start slow work after a stop request.
        if layout.is_some() && (self.stop)() {
            return Ok(None);
        }
        let linked = self.executor.pass_begins(&Pass { pass, layout, variants: &variants })?;
        let begun = missing.iter().filter(|missing| missing.is_begun);
        let others = begun.flat_map(|missing| &missing.block.linked);
        let is_other = |(name, digest): &(&String, &String)| {
            linked.as_ref().and_then(|linked| linked.get(*name)).is_some_and(|now| now != *digest)
        };
        match others.into_iter().find(is_other) {
            Some((variant, _)) => Err(crate::Error::OtherLayout { pass, variant: variant.clone() }),
            None => Ok(linked),
        }
    }

    /// A block as the journal has it.
    pub(super) fn begun(&self, block: &Block) -> Event {
        let linked = block.layout.map(|_| self.linked.clone()).unwrap_or_default();
        Event::BlockBegins(Block { linked, ..block.clone() })
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
                let begun = self.begun(block);
                (self.emit)(begun)?;
            }
            let ending = self.execute_until_good(block, next.clone())?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
            self.stop_failing_variants(block)?;
            (self.emit)(Event::BlockEnded)?;
        }
        Ok(Ending::Complete)
    }

    /// Stops variants that failed in each of their first blocks.
    pub(super) fn stop_failing_variants(&mut self, block: &Block) -> Result<(), E> {
        self.failing.after(block, self.session).into_iter().try_for_each(|stopped| (self.emit)(Event::Stops(stopped)))
    }

    /// Runs what is missing of a block, and again what a look finds void.
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

    /// Runs what is missing of a block; `executed` gets the attempts that would follow.
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
                self.judge(&mut trial);
                attempt = (!trial.is_final()).then_some(number + 1);
                self.failing.take(&trial);
                (self.emit)(Event::TrialEnded(Box::new(trial)))?;
            }
        }
        Ok(Ending::Complete)
    }

    /// A rule of the plan may declare a trial void.
    pub(super) fn judge(&self, trial: &mut Trial) {
        if trial.outcome == Outcome::Ok
            && let Some(why) = void::why(trial, &self.plan.void_if)
        {
            trial.outcome = Outcome::Void(why);
        }
    }
}

/// What came of a task, as a line of the journal.
pub fn trial(task: Task<'_>, session: u32, execution: Execution) -> Trial {
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
        parts: execution.parts,
        processes: execution.processes,
        output: execution.output,
        output_difference: execution.output_difference,
    }
}
