//! What the core asks of a feature that makes variants: of what a study says, an identity, and something to start.

use crate::check::Check;
use crate::error::CommandError;
use bakeoff_lab::on_demand::OnDemand;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{MadeLine, SharedLine, StudyLine};
use bakeoff_model::study::Study;
use bakeoff_model::study_file::RecipeReader;
use bakeoff_report::Describe;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// Who makes variants.
#[derive(Debug, Clone, Copy)]
pub struct MakerRegistration {
    /// Reads what a study file says about it.
    pub reader: &'static dyn RecipeReader,
    /// Gets ready to make some.
    pub open: fn() -> Result<Box<dyn Maker>, CommandError>,
    /// Whether it can read a line of the journal.
    pub is_made: fn(&MadeLine) -> bool,
    /// Writes what its journal line says.
    pub describe: Describe,
    /// What `doctor` shows about the place where they are kept.
    pub check: fn() -> Option<Check>,
}

/// What is to be made.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its folder.
    pub dir: &'a Path,
    /// The files that only the study has a use for, absolute.
    pub own: &'a [PathBuf],
    /// Its plan, which has the variants.
    pub plan: &'a Plan,
    /// How much is made at a time.
    pub jobs: usize,
    /// Whether it is enough that some of it can be made, or nothing.
    pub partly: bool,
    /// Whether nothing is drawn.
    pub quiet: bool,
}

/// What an order would come to.
#[derive(Debug, Default)]
pub struct Foreseen {
    /// Lines about each variant, for `bakeoff plan`.
    pub variants: String,
    /// How much of it is not there yet, in words; `None` if all of it is.
    pub missing: Option<String>,
    /// Lines about the time and the space that the rest takes.
    pub takes: String,
    /// That time in seconds, if it is known.
    pub takes_s: Option<f64>,
    /// Lines about what is made while trials run.
    pub during: String,
    /// Whether it is known already that the programs have no layout but that of their build.
    pub has_one_layout: bool,
}

/// What came of an order.
#[derive(Debug, Default)]
pub struct Made {
    /// What the journal keeps of it.
    pub lines: Vec<MadeLine>,
    /// The identity of each variant that can be started; empty if nothing had to be made.
    pub digests: BTreeMap<String, String>,
    /// Why other variants cannot be started.
    pub failed: BTreeMap<String, String>,
    /// Whether each of them can be linked again, in another layout.
    pub has_layouts: bool,
}

/// Variants that are the same thing.
#[derive(Debug, Default)]
pub struct Merged {
    /// Those that left the plan, and with whom they share a row.
    pub shared: Vec<SharedLine>,
    /// What is said of them.
    pub notes: String,
    /// If none are left to race: the answer that this is, or the error.
    pub nothing_left: Option<Result<String, CommandError>>,
}

/// What makes variants.
pub trait Maker {
    /// What an order would come to; nothing is made.
    fn foresee(&self, order: &Order<'_>) -> Result<Foreseen, CommandError>;

    /// Makes what is not there yet. A variant that cannot be made is left out.
    fn make(&self, order: &Order<'_>) -> Result<Made, CommandError>;

    /// Takes variants out of the plan that equal one before them. `all` is the head of the journal with all variants.
    fn merge(&self, study: &Study, plan: &mut Plan, all: &StudyLine, lines: &[MadeLine]) -> Merged;

    /// Where the variant of that identity is.
    fn prefix_of(&self, digest: &str) -> PathBuf;

    /// The folder below which all of it is.
    fn root(&self) -> &Path;

    /// Whether a line says something else of its failing than the one that the journal has.
    fn is_restated(&self, known: &MadeLine, now: &MadeLine) -> bool;

    /// What is missing of what was made, or changed.
    fn changed(&self, lines: &[MadeLine]) -> Vec<String>;

    /// What trials left in what was made, in words.
    fn added(&self, lines: &[MadeLine]) -> String;

    /// Takes the machine for trials: until the value is dropped, nobody else makes or runs anything on it.
    fn hold(&self, quiet: bool) -> Result<Box<dyn Debug + '_>, CommandError>;

    /// What is made while trials run; `None` if the plan asks for nothing of that kind.
    fn on_demand<'a>(&'a self, order: &Order<'a>) -> Result<Option<Box<dyn OnDemand + 'a>>, CommandError>;
}
