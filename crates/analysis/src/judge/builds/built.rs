//! The variants whose builds are finished, each with its build. What is doubtful of them is found in the files beside this one.

use bakeoff_model::record::{BuildLine, BuildOutcome, TWIN, VariantLine};

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
