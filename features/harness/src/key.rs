//! `harness = "go"`, a key of a workload. There is no section of that name; one who writes it learns where the key belongs.

use crate::names;
use bakeoff_model::problem::suggest;
use bakeoff_model::study_file::{Extension, Section, SectionContext};
use serde_json::Value;

/// Reads the key.
#[derive(Debug)]
pub(crate) struct HarnessKey;

impl Extension for HarnessKey {
    fn name(&self) -> &'static str {
        "harness"
    }

    fn read(&self, section: &Section<'_>, _known: SectionContext<'_>) -> Value {
        let remedy = "write `harness = \"go\"` in `[workloads.NAME]`";
        section.sink.report(section.span.clone(), "`harness` is a key of a workload, not a section", "", remedy);
        Value::Null
    }

    fn harness(&self, workload: &Section<'_>) -> Option<String> {
        let (name, span) = workload.string("harness")?;
        if names::find(&name).is_none() {
            let remedy = suggest(&name, names::all());
            workload.sink.report(span, &format!("there is no harness `{name}`"), "", &remedy);
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_model::study_file::parse_with;

    fn study(workload: &str, rest: &str) -> String {
        format!(
            "format = 1\nname = \"x\"\n[run_factors.f]\na = {{}}\nb = {{ X = \"1\" }}\n[workloads.bench]\n\
             run = \"go test -bench .\"\n{workload}\n{rest}\n[decide]\nbaseline = {{ f = \"a\" }}\n"
        )
    }

    #[test]
    fn a_workload_has_a_harness_and_then_decides_on_the_time_of_an_operation() {
        let study = parse_with(&study("harness = \"go\"", ""), &[&HarnessKey], None).unwrap();
        assert_eq!(study.workloads[0].harness.as_deref(), Some("go"));
        assert_eq!(study.decide.metrics, ["sec/op"]);
        assert_eq!(study.workloads[0].output, bakeoff_model::study::OutputUse::Varies);
    }

    #[test]
    fn what_is_wrong_has_a_remedy() {
        let check = |text: &str, message: &str, remedy: &str| {
            let problems = parse_with(text, &[&HarnessKey], None).unwrap_err();
            let found = problems.iter().any(|p| p.message.contains(message) && p.remedy.contains(remedy));
            assert!(found, "{problems:?}");
        };
        check(&study("harness = \"goo\"", ""), "there is no harness `goo`", "did you mean `go`?");
        check(&study("", "[harness]\nname = \"go\""), "`harness` is a key of a workload", "[workloads.NAME]");
        let metric = study("", "") + "metrics = [\"sec/op\"]\n";
        check(&metric, "`sec/op` is a benchmark metric, but no workload has a harness", "harness = \"go\"");
    }
}
