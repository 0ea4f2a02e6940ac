//! Explaining differences, as the core sees it: what a feature needs gathered, and that it prints. No cause is known here.

use crate::error::CommandError;
use bakeoff_judge::findings::Findings;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::Record;
use clap::ArgMatches;
use serde_json::Value;
use std::collections::BTreeMap;

/// The command that explains.
pub const EXPLAIN: &str = "explain";

/// What features have read of a study file, by the name of the section.
pub type StudySections = BTreeMap<String, Value>;

/// Explains the differences that a study has shown.
#[derive(Debug, Clone, Copy)]
pub struct Explainer {
    /// Adds its options to `explain`.
    pub options: fn(clap::Command) -> clap::Command,
    /// Adds to the sections of the study file what has to be gathered.
    pub gather: fn(&ArgMatches, &Plan, &mut StudySections) -> Result<(), CommandError>,
    /// Prints the explanation.
    pub print: fn(&ArgMatches, &Record, &Findings) -> Result<(), CommandError>,
}
