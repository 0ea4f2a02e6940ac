//! Where `compare` gets its variants from, besides its commands: a feature prepares them, and they race as commands do.

use crate::error::CommandError;
use crate::maker::{Made, Maker, Merged};
use bakeoff_lab::local::Absent;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::Study;
use clap::ArgMatches;
use std::path::{Path, PathBuf};

/// A source of variants for `compare`.
#[derive(Debug, Clone, Copy)]
pub struct VariantSource {
    /// Adds its options, which the help shows after the names of commands. Each refuses the options that it cannot honour.
    pub options: fn(clap::Command) -> clap::Command,
    /// Prepares the variants; `None` if the options do not ask for any.
    pub prepare: fn(&ArgMatches, &SourceRequest<'_>) -> Option<Result<Prepared, CommandError>>,
}

/// The rest of the command line.
#[derive(Debug, Clone, Copy)]
pub struct SourceRequest<'a> {
    /// The commands.
    pub commands: &'a [String],
    /// The plan, with the commands as variants.
    pub plan: &'a Plan,
    /// An empty folder that is removed at the end.
    pub scratch: &'a Path,
    /// Draws no progress.
    pub quiet: bool,
    /// Whether the files are compared as they are built, and not the programs in typical layouts.
    pub in_one_layout: bool,
    /// Where commands run; `None` if they must run even where there is nothing to measure.
    pub folder: Option<&'a Path>,
}

/// Variants that are ready to race.
#[derive(Default)]
pub struct Prepared {
    /// The plan with these variants.
    pub plan: Plan,
    /// What made them, if they had to be made.
    pub maker: Option<Box<dyn Maker>>,
    /// What came of that.
    pub made: Made,
    /// Variants that race once because they are the same thing; they have left the plan.
    pub merged: Merged,
    /// Where each variant runs, below the folder in which it was made; `None` if all run in the folder of the command line.
    pub folder: Option<PathBuf>,
    /// The study that these variants amount to, if they had to be made.
    pub study: Option<Study>,
    /// Explains a program that a variant lacks, where the source knows a reason.
    pub explain: Option<Explain>,
}

/// Explains why a program cannot be started; `None` if the usual message does.
pub type Explain = fn(&Absent) -> Option<CommandError>;
