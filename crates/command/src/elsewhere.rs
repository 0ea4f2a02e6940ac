//! Other machines for the trials of a study: what the core asks of a feature that has some. How they are reached is the
//! feature's.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::asked::FeatureArgs;
use crate::error::{Code, CommandError};
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;
use clap::ArgMatches;
use std::path::{Path, PathBuf};

/// Other machines for the trials of a study.
#[derive(Debug, Clone, Copy)]
pub struct Elsewhere {
    /// Adds its options to `run`.
    pub options: fn(clap::Command) -> clap::Command,
    /// Does what they ask for; `None` if the trials are to run here.
    pub run: fn(&ArgMatches, &ElsewhereOrder<'_>) -> Result<Option<Returned>, CommandError>,
}

/// What is to be run elsewhere.
#[derive(Clone)]
pub struct ElsewhereOrder<'a> {
    /// The study's folder and its file, absolute.
    pub dir: &'a Path,
    pub file: &'a Path,
    pub study: &'a Study,
    pub plan: &'a Plan,
    /// Options of `run` that ask for the same trials, but for the number of blocks.
    pub words: Vec<String>,
    /// How many steps of building are to be at work at a time, if that was asked for.
    pub jobs: Option<u16>,
    /// Whether nothing is drawn.
    pub quiet: bool,
}

/// What came back from other machines.
#[derive(Debug, Default)]
pub struct Returned {
    /// The journals, one for each kind of machine, with what is said before its report.
    pub journals: Vec<(String, PathBuf)>,
    /// The exit code, if blocks or variants are missing.
    pub ending: Option<Code>,
}

impl Elsewhere {
    /// Has the first of them that an option asks for run the trials.
    pub fn run_any(
        all: &[Self],
        asked: &FeatureArgs,
        order: &ElsewhereOrder<'_>,
    ) -> Result<Option<Returned>, CommandError> {
        all.iter().find_map(|elsewhere| (elsewhere.run)(&asked.0, order).transpose()).transpose()
    }
}
