//! The lab takes the blocks of a plan to a place, in order, and emits what happens as [`Event`]s. It decides and judges
//! nothing: the order is the plan's, the meaning the analysis's. Places are reached through an [`Executor`].
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

mod counted;
mod differs;
mod driver;
mod error;
pub mod expected;
mod intrusive;
pub mod local;
pub mod on_demand;
pub mod simulated;
mod void;
pub mod watched;

pub use counted::{Counted, Counter};
pub use driver::{Ending, Event, Standing, drive, trial};
pub use error::Error;
pub use intrusive::{Diagnosed, IntrusiveProbe, Subject, Unseen};

use bakeoff_model::marks::Marks;
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::{Block, Drawn, Outcome, Output, OutputDifference, Place, Surrounding, Unavailable};
use bakeoff_model::suite::Parts;
use std::collections::BTreeMap;

/// Which trial is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub block: &'a Block,
    /// Its place in the block's order, from 1.
    pub position: u32,
    /// The variant's display name, or the twin's.
    pub variant: &'a str,
    /// 0 for the first attempt; counts up where void ones are repeated.
    pub attempt: u32,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Execution {
    /// When it was launched, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    pub outcome: Outcome,
    pub measurements: Measurements,
    /// Processes that outlived the main one, and were killed.
    pub leftovers: u32,
    pub marks: Marks,
    pub parts: Parts,
    /// Each process's own measurements, where several run at once.
    pub processes: Vec<Measurements>,
    /// What each process printed, where that is recorded.
    pub output: Vec<Output>,
    /// Where that first differs from the baseline's, if it is the first time that this can be said.
    pub output_difference: Option<OutputDifference>,
    /// Files that it wrote, although it was thought to depend on them.
    pub written: Vec<String>,
}

/// What a look at the programs and files of trials found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// A digest of what the system tells of all of them; empty where nothing is looked at.
    pub files: String,
    /// Those that trials turned out to write: trials do not depend on them.
    pub written: Vec<String>,
    /// Those that were written or replaced since the last look, and have the content that they had at first.
    pub touched: Vec<String>,
    /// Those that have another content, or are gone.
    pub changed: Vec<String>,
    /// Nobody knows when in the session they were changed.
    pub whole_session: bool,
}

/// A pass of which trials are to be run in this session.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    pub pass: u32,
    /// What its layouts are drawn from ([`Block::layout`]), if they are varied.
    pub layout: Option<u32>,
    /// Those that have trials to come in blocks that are linked again, in the plan's order, the twin last.
    pub variants: &'a [&'a str],
}

/// A digest of what was linked for a pass, by variant or twin.
pub type Linked = BTreeMap<String, String>;

/// A boot of a variant's kernel, and what is to be run in it.
#[derive(Debug, Clone, Copy)]
pub struct BootTask<'a> {
    pub pass: u32,
    /// The variant's display name, or the twin's.
    pub variant: &'a str,
    /// 0 for the first attempt; counts up where void ones are repeated.
    pub attempt: u32,
    pub drawn: Drawn,
    /// Its trials, in their order.
    pub tasks: &'a [Task<'a>],
}

/// What came of a boot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Booted {
    /// What was booted, as it described itself; none if it did not come so far.
    pub place: Option<Place>,
    pub cost: Measurements,
    /// What could not be measured in it, and why.
    pub unavailable: Vec<Unavailable>,
    /// What came of each task, in their order. Of a boot that died by itself all have failed.
    pub executions: Vec<Execution>,
}

/// A way to reach a place. Executors differ in how the place is reached, never in how it measures.
pub trait Executor {
    /// Runs one trial; none if it was interrupted and must be run again.
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error>;

    /// Boots a variant's kernel and runs trials in it; none if it was cut off and must be repeated. By default it is not
    /// another place, and they are run one after the other.
    fn boot(&mut self, boot: &BootTask<'_>) -> Result<Option<Booted>, Error> {
        let mut booted = Booted::default();
        for task in boot.tasks {
            let execution = self.execute(*task);
            self.block_ended()?;
            match execution? {
                Some(execution) => booted.executions.push(execution),
                None => return Ok(None),
            }
        }
        Ok(Some(booted))
    }

    /// Peak memory of what launches the trials, in bytes: one that needs less shows this. None where it is unknown.
    fn memory_floor_bytes(&self) -> Option<f64> {
        None
    }

    /// No trial follows: cleans up what was set up for them. What went wrong, in words: no trial depends on it.
    fn end(&mut self) -> Result<Vec<String>, Error> {
        Ok(vec![])
    }

    /// What this place holds of the conditions that the plan asks for. Asked once, before the first trial.
    fn surroundings(&self) -> Vec<Surrounding> {
        vec![]
    }

    /// What keeps the processes of a trial together, if that is known.
    fn enclosure(&self) -> Option<&'static str> {
        None
    }

    /// Metrics that cannot be measured at this place, and why. Asked once, before the first trial.
    fn unavailable(&self) -> Vec<Unavailable> {
        vec![]
    }

    /// Looks at what trials run, by what the system tells of the files: before a pass and after each block.
    fn look(&mut self) -> Result<Look, Error> {
        Ok(Look::default())
    }

    /// Looks at everything that trials may run, content included: when all blocks are over.
    fn look_at_all(&mut self) -> Result<Look, Error> {
        self.look()
    }

    /// A pass begins, or is taken up again: what must not be made while its trials are run is made now. None if that
    /// was interrupted.
    fn pass_begins(&mut self, _pass: &Pass<'_>) -> Result<Option<Linked>, Error> {
        Ok(Some(Linked::new()))
    }

    /// No other trial of this pass follows in this session: what was made for it can go.
    fn pass_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Runs a diagnostic trial, when all measured ones are over; none if it was interrupted.
    fn diagnose(&mut self, _subject: Subject<'_>, _probe: &mut dyn IntrusiveProbe) -> Result<Option<Diagnosed>, Error> {
        Ok(Some(Diagnosed::missing("nothing traces here")))
    }

    /// No other trial of this block follows in this session: what was kept for the block can end.
    fn block_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
