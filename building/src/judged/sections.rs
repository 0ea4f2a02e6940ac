//! The sections of the findings that are about builds.

use bakeoff_judge::findings::Findings;
use serde::de::DeserializeOwned;

/// The section of the builds; it has a page.
pub(crate) const BUILDS: &str = "builds";
/// The section of what is doubtful about them.
pub(super) const DOUBTS: &str = "build_doubts";
/// The section of what building costs, and what it gains.
pub(super) const COST: &str = "built_and_executed";

/// A section as it was found; empty if there is none.
pub(super) fn section<T: DeserializeOwned + Default>(findings: &Findings, name: &str) -> T {
    findings.sections.get(name).and_then(|data| T::deserialize(data).ok()).unwrap_or_default()
}
