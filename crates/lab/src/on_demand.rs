//! What is built on demand for trials: layouts, each a build that was relinked for one pass, and trees in which building
//! itself is a trial. The lab cannot build; its caller can, and implements [`OnDemand`].

use crate::{Error, Pass, Task};
use bakeoff_host::Command;
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Failure;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The layouts of a pass, by variant or twin; or why trials of one cannot be run.
pub type Layouts = BTreeMap<String, Result<Layout, Failure>>;

/// A build as it is run in one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Where it is.
    pub prefix: PathBuf,
    /// A digest of what was linked for it, if that is known.
    pub digest: Option<String>,
}

/// The digests of what was linked for a pass, by variant or twin.
pub fn digests(layouts: &Layouts) -> BTreeMap<String, String> {
    let digest = |made: &Result<Layout, Failure>| made.as_ref().ok()?.digest.clone();
    layouts.iter().filter_map(|(name, made)| Some((name.clone(), digest(made)?))).collect()
}

/// Why a trial, or the build for it, stops.
#[derive(Debug)]
pub enum Halt {
    /// It was interrupted, and must be done again.
    Interrupted,
    /// It failed; the study continues.
    Failed(Failure),
    /// Nothing can be run any more.
    Error(Error),
}

impl<E: Into<Error>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A command that builds, ready to start. It prints to one log.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The command.
    pub command: Command,
    /// It is killed if it takes longer, in seconds.
    pub timeout_s: Option<f64>,
}

/// Builds for trials. It is never called while a trial is in flight.
pub trait OnDemand {
    /// Makes the layouts of a pass; those of the pass before go.
    fn layouts(&mut self, pass: &Pass<'_>) -> Result<Layouts, Halt>;
    /// Makes all that a trial of building needs.
    fn prepare(&mut self, task: Task<'_>) -> Result<Prepared, Halt>;
    /// Checks what a trial of building made, if its command succeeded, and removes it. What it yields is measured of what
    /// was made.
    fn finish(&mut self, succeeded: bool) -> Result<Measurements, Halt>;
}

/// The layouts of a pass, if it has any; none if that was interrupted. If they cannot be made, all of them fail for that
/// reason.
pub fn layouts(on_demand: &mut Option<Box<dyn OnDemand + '_>>, pass: &Pass<'_>) -> Result<Option<Layouts>, Error> {
    let Some(builder) = on_demand.as_mut().filter(|_| !pass.variants.is_empty()) else {
        return Ok(Some(Layouts::new()));
    };
    match builder.layouts(pass) {
        Ok(layouts) => Ok(Some(layouts)),
        Err(Halt::Interrupted) => Ok(None),
        Err(Halt::Error(error)) => Err(error),
        Err(Halt::Failed(failure)) => {
            Ok(Some(pass.variants.iter().map(|name| ((*name).to_owned(), Err(failure.clone()))).collect()))
        }
    }
}
