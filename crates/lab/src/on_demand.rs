//! What is built on demand for trials: layouts, each a build that was relinked for one pass, and trees in which building
//! itself is a trial. The lab cannot build; the caller, which can, gives it these three calls. None is made while a trial is in
//! flight.

use crate::{Error, Pass, Task};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Failure;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The prefixes of a pass, by variant or twin; or why trials of one cannot be run.
pub type Layouts = BTreeMap<String, Result<PathBuf, Failure>>;

/// Why there is nothing to go on with.
#[derive(Debug)]
pub enum Stop {
    /// It was interrupted, and must be done again.
    Interrupted,
    /// This trial fails; the study goes on.
    Failed(Failure),
    /// Nothing can be run any more.
    Error(Error),
}

/// A command that builds, all of whose surroundings are there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepared {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it starts.
    pub dir: PathBuf,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Takes what it prints.
    pub log: PathBuf,
    /// It is killed if it takes longer, in seconds.
    pub timeout_s: Option<f64>,
}

/// Makes the layouts of a pass; those of the pass before go.
pub type MakeLayouts<'a> = Box<dyn FnMut(&Pass<'_>) -> Result<Layouts, Stop> + 'a>;
/// Makes all that a trial of building needs.
pub type Prepare<'a> = Box<dyn FnMut(Task<'_>) -> Result<Prepared, Stop> + 'a>;
/// Checks what a trial of building made, if its command succeeded, and removes it. What it yields is measured of what
/// was made.
pub type Finish<'a> = Box<dyn FnMut(Task<'_>, bool) -> Result<Measurements, Stop> + 'a>;

/// Who builds aside.
pub struct OnDemand<'a> {
    /// For a pass whose order of linking is varied.
    pub layouts: MakeLayouts<'a>,
    /// Before a trial of building.
    pub prepare: Prepare<'a>,
    /// After it.
    pub finish: Finish<'a>,
}

impl fmt::Debug for OnDemand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").finish_non_exhaustive()
    }
}
