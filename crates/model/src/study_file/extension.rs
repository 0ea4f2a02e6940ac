//! Parts of the study file that others read: sections of features through an [`Extension`], and what is built through a
//! [`RecipeReader`]. So their problems stand among the others. The core keeps their values without looking into them.

use super::factors::PlacedFactor;
use super::section::{Section, Sink};
use crate::problem::Problem;
use crate::study::{PlanSpec, Recipe, Workload};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// What a section may refer to.
#[derive(Debug, Clone, Copy)]
pub struct SectionContext<'a> {
    /// The workloads.
    pub workloads: &'a [Workload],
    /// Whether anything is built.
    pub builds: bool,
    /// Where the first level names a kernel, if one does.
    pub kernel: Option<&'a Range<usize>>,
}

/// A section that a feature reads, and what it reads of a workload.
pub trait Extension: Sync {
    /// The section's name, without brackets.
    fn name(&self) -> &'static str;

    /// Reads it. Its problems go into the section's sink; [`Section::finish`] names the keys that nobody asked for.
    fn read(&self, section: &Section<'_>, known: SectionContext<'_>) -> Value;

    /// Whether what it holds makes trials comparable: then it is part of a plan's identity.
    fn is_of_trials(&self) -> bool {
        false
    }

    /// Reads a key of a workload that belongs to it: the harness that times the workload's benchmarks.
    fn harness(&self, _workload: &Section<'_>) -> Option<String> {
        None
    }

    /// The file does not have it; a problem, if it cannot do without.
    fn missing(&self, _sink: &Sink, _known: SectionContext<'_>) {}
}

/// What can be said about building, besides the levels of build factors.
#[derive(Debug, Clone, Copy)]
pub struct Referred<'a> {
    /// The plans.
    pub plans: &'a [PlanSpec],
    /// The workloads.
    pub workloads: &'a [Workload],
}

/// Reads what a study builds: the sections `build` and `sources`, and the instructions of build factors.
pub trait RecipeReader: Debug + Sync {
    /// The instructions: the lower-case keys that a level may have.
    fn keys(&self) -> &'static [&'static str];

    /// Reads all of it, and puts into each level what its instructions say. It is called when everything that this may
    /// refer to was read.
    fn read(&self, file: &Section<'_>, factors: &mut [PlacedFactor<'_>], referred: Referred<'_>) -> Arc<dyn Recipe>;

    /// The same, with what the lock file says about it.
    fn locked(&self, recipe: &dyn Recipe, lock: &str) -> Result<Arc<dyn Recipe>, Vec<Problem>>;
}

pub(super) fn sections(
    file: &Section<'_>,
    extensions: &[&dyn Extension],
    known: SectionContext<'_>,
) -> BTreeMap<String, Value> {
    let read = |extension: &&dyn Extension| {
        let Some(section) = file.section(extension.name()) else {
            extension.missing(file.sink, known);
            return None;
        };
        Some((extension.name().to_owned(), extension.read(&section, known)))
    };
    extensions.iter().filter_map(read).collect()
}

/// The names of those that make trials comparable.
pub(super) fn of_trials(extensions: &[&dyn Extension], sections: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let names = extensions.iter().filter(|extension| extension.is_of_trials()).map(|extension| extension.name());
    names.filter(|name| sections.contains_key(*name)).map(str::to_owned).collect()
}
