//! What is asked of this crate: the builds of one study. It is data; what they are is found in `inputs.rs`.

use crate::nouns::{Chain, Layer, Source};
use bakeoff_command::Order;
use bakeoff_model::plan::Variant;
use std::path::{Path, PathBuf};

/// The builds that a study needs.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The study's folder: where sources are fetched from and files taken from.
    pub study_dir: &'a Path,
    /// The study's own files, absolute: they are no part of a source that surrounds the study.
    pub own: &'a [PathBuf],
    /// The study's sources.
    pub sources: &'a [Source],
    /// The layers, first one first. None: nothing is built.
    pub layers: &'a [Layer],
    /// The variants: their build variables, patches and sources count here, and nothing else of them.
    pub variants: &'a [Variant],
    /// How many layers are built at a time; 0 counts as 1.
    pub jobs: usize,
}

impl<'a> Request<'a> {
    /// No builds of a study in that folder.
    pub(crate) fn nothing(study_dir: &'a Path) -> Self {
        Self { study_dir, own: &[], sources: &[], layers: &[], variants: &[], jobs: 1 }
    }

    /// The builds of an order.
    pub fn of(order: &Order<'a>) -> Self {
        let Order { study, dir, own, plan, jobs, .. } = *order;
        let Chain { sources, layers } = Chain::of(study);
        Self { study_dir: dir, own, sources, layers, variants: &plan.variants, jobs }
    }
}
