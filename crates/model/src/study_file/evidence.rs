//! `[evidence]`: what is gathered after the measured trials, to explain what they showed.

use super::section::Section;
use crate::study::{EvidenceSpec, Layer, Workload};

pub(super) fn evidence(file: &Section<'_>, workloads: &[Workload], layers: &[Layer]) -> EvidenceSpec {
    let Some(section) = file.section("evidence") else { return EvidenceSpec::default() };
    if section.has("facts") && layers.is_empty() {
        let remedy = "remove it, or add a `[[build]]`";
        let span = section.place_of("facts").unwrap_or_else(|| section.span.clone());
        section.sink.report(span, "`facts` are of what is built, and this study builds nothing", "", remedy);
    }
    let facts = section.strings("facts");
    for (pattern, span) in &facts {
        let remedy = "name files relative to $PREFIX, such as \"bin/*\" or \"**/*.so\"";
        if pattern.starts_with('/') || pattern.split('/').any(|part| part.is_empty() || part == "..") {
            section.sink.report(span.clone(), &format!("{pattern:?} is no path below $PREFIX"), "", remedy);
        }
    }
    let known: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    let trace = section.chosen("trace", "workload", &known).unwrap_or_default();
    section.finish();
    EvidenceSpec { facts: facts.into_iter().map(|(pattern, _)| pattern).collect(), trace }
}
