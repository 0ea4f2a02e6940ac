//! The builds of a record: the latest of each variant, and the variants whose builds are finished. The files next
//! to this one find what is doubtful about them.

use crate::journal::{BuildLine, BuildOutcome};
use bakeoff_model::record::{TWIN, VariantLine};

/// A variant and its finished build.
pub(super) struct Built<'a> {
    pub(super) variant: &'a VariantLine,
    pub(super) build: &'a BuildLine,
}

/// The variants whose builds are finished, as planned.
pub(super) fn built<'a>(variants: &'a [VariantLine], builds: &'a [BuildLine]) -> Vec<Built<'a>> {
    let of = |variant: &'a VariantLine| {
        let mut finished = builds.iter().filter(|build| build.outcome == BuildOutcome::Built);
        let build = finished.find(|build| build.variants.contains(&variant.name))?;
        Some(Built { variant, build })
    };
    variants.iter().filter(|variant| variant.name != TWIN).filter_map(of).collect()
}

/// Without builds that failed and succeeded later, for the same variants.
pub(super) fn latest(builds: &[BuildLine]) -> Vec<BuildLine> {
    let is_built =
        |later: &BuildLine, variant: &String| later.outcome == BuildOutcome::Built && later.variants.contains(variant);
    let is_superseded = |at: usize, build: &BuildLine| {
        build.outcome != BuildOutcome::Built
            && build.variants.iter().all(|variant| builds[at + 1..].iter().any(|later| is_built(later, variant)))
    };
    let kept = builds.iter().enumerate().filter(|(at, build)| !is_superseded(*at, build));
    kept.map(|(_, build)| build.clone()).collect()
}
