//! Sections of features: the core knows that they may be there, reads them through an [`Extension`] in its turn, so that
//! their problems stand among the others, and keeps their values without looking into them.

use super::section::Section;
use crate::study::{Layer, Workload};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a section may refer to.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The workloads.
    pub workloads: &'a [Workload],
    /// The layers of builds.
    pub layers: &'a [Layer],
}

/// A section that a feature reads.
pub trait Extension: Sync {
    /// The section's name, without brackets.
    fn name(&self) -> &'static str;

    /// Reads it. Its problems go into the section's sink; [`Section::finish`] names the keys that nobody asked for.
    fn read(&self, section: &Section<'_>, known: Known<'_>) -> Value;
}

/// The values of all sections that are there.
pub(super) fn sections(file: &Section<'_>, extensions: &[&dyn Extension], known: Known<'_>) -> BTreeMap<String, Value> {
    let read = |extension: &&dyn Extension| {
        let section = file.section(extension.name())?;
        Some((extension.name().to_owned(), extension.read(&section, known)))
    };
    extensions.iter().filter_map(read).collect()
}
