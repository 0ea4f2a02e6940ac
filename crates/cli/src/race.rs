//! A race, for whichever command: variants with everything prepared, and what becomes of the journal. How it is run is in
//! `session::racing`; what is prepared, where trials run, and what is shown, is the commands' business.

use bakeoff_command::state::State;
use bakeoff_command::{FeatureArgs, Maker, Registry};
use bakeoff_lab::Counter;
use bakeoff_lab::watched::Watched;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{MadeLine, StudyLine};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is the latest one of a study.
    Study,
    /// It stays where the user wants it.
    Named,
    /// It is removed at the end of the command.
    Scratch,
}

/// What features are to gather, and of what.
pub(crate) struct Wanted<'a> {
    /// What they have read of the study file.
    pub(crate) sections: &'a BTreeMap<String, Value>,
    pub(crate) digests: &'a BTreeMap<String, String>,
}

/// A race, with everything prepared.
pub(crate) struct Race<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) study: StudyLine,
    /// What the journal keeps of all that was made for the variants.
    pub(crate) made: &'a [MadeLine],
    /// Files on which trials depend.
    pub(crate) watched: Vec<Watched>,
    pub(crate) state: &'a State,
    pub(crate) keep: Keep,
    /// What made the variants: it makes nothing while trials run.
    pub(crate) maker: Option<&'a dyn Maker>,
    /// The name of this machine where it is one of several, and where its trials have their folders.
    pub(crate) node: Option<(String, PathBuf)>,
    /// Draws no progress.
    pub(crate) quiet: bool,
    /// Seconds that a trial is thought to take.
    pub(crate) guess_s: Option<f64>,
    /// Traces the files that trials use, but for those below these folders.
    pub(crate) trace: Option<Vec<PathBuf>>,
    /// Features, and the options of those that are asked between blocks.
    pub(crate) observers: (&'a Registry, Option<&'a FeatureArgs>),
    /// What features gather when all trials are over.
    pub(crate) evidence: Option<Wanted<'a>>,
    /// What counts the deciding metric in the place of the machine.
    pub(crate) counter: Option<Box<dyn Counter>>,
}

impl<'a> Race<'a> {
    /// A race of which nothing more is said: nothing is made for it, and its journal is removed.
    pub(crate) fn of(
        plan: &'a Plan,
        study: StudyLine,
        state: &'a State,
        observers: (&'a Registry, Option<&'a FeatureArgs>),
    ) -> Self {
        Self {
            plan,
            study,
            made: &[],
            watched: vec![],
            state,
            keep: Keep::Scratch,
            node: None,
            maker: None,
            quiet: false,
            guess_s: None,
            trace: None,
            observers,
            evidence: None,
            counter: None,
        }
    }
}
