//! `[evidence]`: what is gathered after the measured trials, to explain what they showed. It is no part of what makes
//! trials comparable.

use bakeoff_model::study_file::{Extension, Section, SectionContext};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The section's name.
pub(crate) const NAME: &str = "evidence";

/// What is gathered of every variant after the measured trials, to explain and not to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct EvidenceSpec {
    /// Patterns of files below the prefix whose facts are kept.
    pub(crate) facts: Vec<String>,
    /// Workloads that are run once more, stopped at every system call.
    pub(crate) trace: Vec<String>,
    /// Workloads that are run once more to count their instructions.
    #[serde(default)]
    pub(crate) count: Vec<String>,
    /// The only variants whose instructions are counted; if there are none, those that differ from the baseline. The study
    /// file does not say so: `explain` asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<Vec<String>>,
    /// Whether those are counted, too, that differ from one of them in a single factor: they may isolate a cause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) with_siblings: bool,
    /// Whether those of `of` are sampled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) samples: bool,
}

impl EvidenceSpec {
    /// From what the study keeps of its section.
    pub(crate) fn of(section: Option<&Value>) -> Self {
        section.and_then(|section| serde_json::from_value(section.clone()).ok()).unwrap_or_default()
    }
}

/// Reads the section.
#[derive(Debug)]
pub(crate) struct EvidenceSection;

impl Extension for EvidenceSection {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read(&self, section: &Section<'_>, known: SectionContext<'_>) -> Value {
        if section.has("facts") && !known.builds {
            let remedy = "remove `facts`, or add a `[[build]]`";
            let span = section.place_of("facts").unwrap_or_else(|| section.span.clone());
            section.sink.report(span, "`facts` describes builds, but this study builds nothing", "", remedy);
        }
        let facts = section.strings("facts");
        for (pattern, span) in &facts {
            let remedy = "name files relative to $PREFIX, such as \"bin/*\" or \"**/*.so\"";
            if pattern.starts_with('/') || pattern.split('/').any(|part| part.is_empty() || part == "..") {
                section.sink.report(span.clone(), &format!("{pattern:?} is not a path below $PREFIX"), "", remedy);
            }
        }
        let names: Vec<&str> = known.workloads.iter().map(|workload| workload.name.as_str()).collect();
        let trace = section.chosen("trace", "workload", &names).unwrap_or_default();
        let count = section.chosen("count", "workload", &names).unwrap_or_default();
        section.finish();
        let facts: Vec<String> = facts.into_iter().map(|(pattern, _)| pattern).collect();
        serde_json::json!({ "facts": facts, "trace": trace, "count": count })
    }
}

#[cfg(test)]
mod tests;
