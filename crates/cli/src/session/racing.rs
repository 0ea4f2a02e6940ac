//! Runs a race: locks and opens the journal, checks that the variants can run, holds the machine, runs the missing trials, and
//! releases everything in reverse order. No other place does any of these.

use super::OpenStudy;
use crate::race::{Keep, Race};
use bakeoff_command::alone::alone;
use bakeoff_command::error::CommandError;
use bakeoff_host::lock::Lock;
use bakeoff_host::machine::Held;
use bakeoff_lab::watched::Watched;
use bakeoff_lab::{Counted, Ending, Executor};
use bakeoff_model::record::Record;
use std::fmt::Debug;
use std::os::fd::{AsFd as _, BorrowedFd};

/// A race that is over; its journal is locked until this value is gone.
pub(crate) struct Raced<'a> {
    pub(crate) record: Record,
    pub(crate) ending: Ending,
    /// Held from before the first trial until after the last one.
    machine: (Option<Held>, Option<Box<dyn Debug + 'a>>),
    _lock: Lock,
}

impl Raced<'_> {
    /// Gives the machine back, once `end` has looked at what trials left; it is not asked if none ran.
    pub(crate) fn release(mut self, end: impl FnOnce()) -> Self {
        if self.machine.0.is_some() || self.machine.1.is_some() {
            end();
        }
        self.machine = (None, None);
        self
    }
}

impl<'a> Race<'a> {
    /// Runs the trials that the journal lacks. `check` fails if a variant cannot run: before a journal is begun, and before
    /// one gets more trials. `executor` makes the place ready; what is started there keeps its descriptor open.
    pub(crate) fn run<'e>(
        mut self,
        check: impl Fn() -> Result<(), CommandError>,
        executor: impl FnOnce(Vec<Watched>, BorrowedFd<'_>) -> Result<Box<dyn Executor + 'e>, CommandError>,
    ) -> Result<Raced<'a>, CommandError> {
        let (state, quiet, maker, is_latest) = (self.state, self.quiet, self.maker, self.keep == Keep::Study);
        let (plan, counter) = (self.plan, self.counter.take());
        let is_simulated = self.study.simulated.is_some();
        let lock = state.lock()?;
        // A journal is not begun for what cannot run; a complete one is shown in any case.
        let is_new = !state.journal.exists();
        if is_new {
            check()?;
        }
        let open = OpenStudy::open(self)?;
        if is_latest {
            state.remember_as_latest()?;
        }
        let mut machine = (None, None);
        let (record, ending) = open.execute(|watched| {
            match maker {
                _ if is_simulated => {}
                None => machine.0 = Some(alone(quiet)?),
                Some(maker) => machine.1 = Some(maker.hold(quiet)?),
            }
            if !is_new {
                check()?;
            }
            let place = executor(watched, lock.as_fd())?;
            Ok(match counter {
                Some(counter) => Box::new(Counted::new(place, counter, plan)),
                None => place,
            })
        })?;
        Ok(Raced { record, ending, machine, _lock: lock })
    }
}
