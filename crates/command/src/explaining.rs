//! Explaining differences, as the core sees it: what a feature needs gathered, what it prints, and which level it wants to be
//! run to show a cause. No cause is known here.

use crate::error::CommandError;
use bakeoff_judge::findings::Findings;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use clap::ArgMatches;
use serde_json::Value;
use std::collections::BTreeMap;

/// The command that explains.
pub const EXPLAIN: &str = "explain";

/// The factor whose level isolates a cause, and the plan with it.
pub const CONFIRM: &str = "confirm";

/// What features have read of a study file, by the name of the section.
pub type StudySections = BTreeMap<String, Value>;

/// A level that differs from what a variant is in one cause alone, as far as possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolatingLevel {
    /// What it is called; it is one of a factor of its own.
    pub name: String,
    /// The same as its author would say it: the words that it appends, or a variable with its value.
    pub says: String,
    /// The key of a build factor's level that it has, with its value.
    pub built: Option<(String, String)>,
    /// The environment variables of trials.
    pub variables: BTreeMap<String, String>,
}

/// A cause that a level would show, or refute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The variant that is explained.
    pub variant: String,
    /// What it is compared with.
    pub against: String,
    /// The one of the two that is run with the level, and without.
    pub changed: String,
    /// The workload on which they differ.
    pub workload: String,
    /// The level.
    pub level: IsolatingLevel,
}

/// Explains the differences that a study has shown.
#[derive(Debug, Clone, Copy)]
pub struct Explainer {
    /// Adds its options to `explain`.
    pub options: fn(clap::Command) -> clap::Command,
    /// Adds to the sections of the study file what has to be gathered.
    pub gather: fn(&ArgMatches, &Plan, &mut StudySections) -> Result<(), CommandError>,
    /// Prints the explanation.
    pub print: fn(&ArgMatches, &Record, &Findings) -> Result<(), CommandError>,
    /// What is to be run to show causes, if that is asked for.
    pub to_confirm: fn(&ArgMatches, &Record, &Findings) -> Result<Vec<Confirmation>, CommandError>,
    /// Adds to the sections of the study file what has to be gathered of both variants of a confirmation.
    pub gather_confirming: fn(&Confirmation, &Plan, &mut StudySections) -> Result<(), CommandError>,
    /// Prints what came of one.
    pub confirmed: fn(&Confirmation, &Record, &Findings),
}
