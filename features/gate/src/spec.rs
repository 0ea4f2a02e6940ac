//! `[gate]`: the slowdowns that a study allows, for all of its workloads or for each. It is no part of what makes trials
//! comparable: another limit needs no other trials. Here is also how the limits travel, in a line of the journal.

use bakeoff_command::{CommandError, Finished};
use bakeoff_model::record::{FeatureLine, Record};
use bakeoff_model::study_file::{Extension, Section, SectionContext};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the section, and the kind of its lines in a journal.
pub(crate) const NAME: &str = "gate";

/// The largest slowdowns that are allowed, as fractions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// For every workload that has none of its own; without it, such a workload has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_slowdown: Option<f64>,
    /// For these workloads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) workloads: BTreeMap<String, f64>,
}

impl Limits {
    /// One for all workloads.
    pub(crate) fn of_all(max_slowdown: f64) -> Self {
        Self { max_slowdown: Some(max_slowdown), workloads: BTreeMap::new() }
    }

    /// That of a workload, or of its suite, if it has one.
    pub(crate) fn of(&self, workload: &str, suite: &str) -> Option<f64> {
        let own = self.workloads.get(workload).or_else(|| self.workloads.get(suite));
        own.copied().or(self.max_slowdown)
    }

    /// From what a study keeps of its section; none if it has none.
    pub(crate) fn of_section(section: Option<&Value>) -> Option<Self> {
        serde_json::from_value(section?.clone()).ok()
    }

    /// Those that the study had when it was last run; none if it had none.
    pub(crate) fn of_record(record: &Record) -> Option<Self> {
        let last = record.features.iter().rfind(|line| line.kind() == NAME)?;
        last.fields().ok().filter(|limits: &Self| *limits != Self::default())
    }
}

/// Keeps the limits of a study in its journal, unless they are there. That there are none any more is kept as well.
pub(crate) fn keep(study: &mut dyn Finished) -> Result<(), CommandError> {
    let now = Limits::of_section(study.section(NAME));
    if now == Limits::of_record(study.record()) {
        return Ok(());
    }
    study.keep(FeatureLine::new(NAME, &now.unwrap_or_default())?)
}

/// Reads the section.
#[derive(Debug)]
pub(crate) struct GateSection;

impl Extension for GateSection {
    fn name(&self) -> &'static str {
        NAME
    }

    fn read(&self, section: &Section<'_>, known: SectionContext<'_>) -> Value {
        let names: Vec<&str> = known.workloads.iter().map(|workload| workload.name.as_str()).collect();
        let limits = Limits {
            max_slowdown: section.percentage("max_slowdown"),
            workloads: section.percentages("workloads", "workload", &names),
        };
        if !section.has("max_slowdown") && !section.has("workloads") {
            let remedy = "add a limit, such as `max_slowdown = \"2%\"`; set limits for individual workloads in \
                `[gate.workloads]`";
            section.sink.report(section.span.clone(), "[gate] sets no limit", "", remedy);
        }
        section.finish();
        serde_json::to_value(&limits).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use bakeoff_model::plan::Plan;
    use bakeoff_model::problem::Problems;
    use bakeoff_model::study_file::parse_with;

    fn study(gate: &str) -> String {
        format!(
            "format = 1\nname = \"g\"\n[run_factors.v]\na = {{ V = \"a\" }}\nb = {{ V = \"b\" }}\n{gate}\n\
             [workloads.loop]\nrun = 'true'\n[workloads.sort]\nrun = 'true'\n[decide]\nbaseline = {{ v = \"a\" }}\n"
        )
    }

    #[test]
    fn limits_are_for_all_workloads_or_for_each() {
        let read = |gate: &str| {
            let study = parse_with(&study(gate), &[&GateSection], None).unwrap();
            let limits = Limits::of_section(study.sections.get(NAME));
            limits.map(|limits| ["loop", "sort"].map(|workload| limits.of(workload, "suite")))
        };
        assert_eq!(read(""), None);
        assert_eq!(read("[gate]\nmax_slowdown = \"2%\""), Some([Some(0.02), Some(0.02)]));
        let both = "[gate]\nmax_slowdown = \"2%\"\n[gate.workloads]\nloop = \"5 %\"";
        assert_eq!(read(both), Some([Some(0.05), Some(0.02)]));
        assert_eq!(read("[gate.workloads]\nsort = \"0.5%\""), Some([None, Some(0.005)]));
    }

    #[test]
    fn other_limits_need_no_other_trials() {
        let identity = |gate: &str| {
            let study = parse_with(&study(gate), &[&GateSection], None).unwrap();
            Plan::of(&study, "default").unwrap().identity(&[].into(), "")
        };
        let without = identity("");
        assert_eq!(identity("[gate]\nmax_slowdown = \"2%\""), without);
        assert_eq!(identity("[gate.workloads]\nloop = \"5%\""), without);
    }

    #[test]
    fn problems_stand_at_their_place_with_a_remedy() {
        let check = |gate: &str, message: &str, place: &str| {
            let text = study(gate);
            let problems = parse_with(&text, &[&GateSection], None).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            let problem = &problems[0];
            assert!(problem.message.contains(message) && !problem.remedy.is_empty(), "{problem:?}");
            assert_eq!(&text[problem.span.clone()], place);
            assert!(Problems::new("study.toml", &text, problems).render(false).contains("study.toml:"));
        };
        check("[gate]\nmax_slowdown = \"2\"", "\"2\" is not a valid percentage", "\"2\"");
        check("[gate]\nmax_slowdown = \"-2%\"", "is not a valid percentage", "\"-2%\"");
        check("[gate]\nmax_slowdown = 2", "`max_slowdown` of [gate] must be a string", "2");
        check("[gate]\nmax_slowdwn = \"2%\"\nmax_slowdown = \"2%\"", "has no key `max_slowdwn`", "max_slowdwn");
        check("[gate]", "[gate] sets no limit", "gate");
        check("[gate.workloads]\nlop = \"5%\"", "there is no workload `lop`", "lop");
        check("[gate.workloads]\nloop = 5", "`loop` of `workloads` is not a percentage", "5");
        check("[gate.workloads]\nloop = \"0%\"", "is not a percentage", "\"0%\"");
        check("[gate]\nworkloads = \"5%\"", "`workloads` of [gate] must be a table", "\"5%\"");
    }
}
