//! What the plan of a study lists: its variants, and those that share another's row.

use bakeoff_model::record::{StudyLine, TWIN, VariantLine};

/// The variants without the twin, the baseline first.
pub(super) fn variants(study: &StudyLine) -> impl Iterator<Item = &VariantLine> {
    study.variants.iter().filter(|variant| variant.name != TWIN)
}

/// The variants, and those that are the same program as one of them; each with the name of the row that has its values.
pub(super) fn with_shared(study: &StudyLine) -> impl Iterator<Item = (&VariantLine, &str)> {
    let shared = study.shared.iter().map(|one| (&one.variant, one.with.as_str()));
    variants(study).map(|variant| (variant, variant.name.as_str())).chain(shared)
}
