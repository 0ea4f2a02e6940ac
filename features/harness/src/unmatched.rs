//! Benchmarks that the baseline does not have: nothing can be compared with them. They are data in the findings, and a
//! few lines of the report; one that only the baseline has is a trial that failed, and is not named here.

use bakeoff_judge::findings::Findings;
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Record, TWIN};
use bakeoff_report::draw::notes::Notes;
use bakeoff_report::draw::paint::{Ink, Page};
use bakeoff_report::draw::text::clean;
use bakeoff_report::words::{counted, named};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The section's name.
pub(crate) const SECTION: &str = "harness";

/// Benchmarks of a variant that the baseline does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unmatched {
    workload: String,
    variant: String,
    benchmarks: Vec<String>,
}

/// Returns all of them as data, if there are any.
pub(crate) fn find(record: &Record) -> Option<Value> {
    if record.trials.iter().all(|trial| trial.parts.is_empty()) {
        return None;
    }
    let mut all: Vec<Unmatched> = vec![];
    for workload in &record.study.workloads {
        let known: BTreeSet<&String> = record.benchmarks(workload).into_iter().collect();
        for variant in record.study.variants.iter().filter(|variant| variant.name != TWIN) {
            let own = record.trials.iter().filter(|t| t.workload == *workload && t.variant == variant.name);
            let others: BTreeSet<&String> =
                own.flat_map(|trial| trial.parts.keys()).filter(|name| !known.contains(name)).collect();
            if !others.is_empty() {
                all.push(Unmatched {
                    workload: workload.clone(),
                    variant: variant.name.clone(),
                    benchmarks: others.into_iter().cloned().collect(),
                });
            }
        }
    }
    serde_json::to_value(&all).ok().filter(|_| !all.is_empty())
}

/// A line for each variant that has such.
pub(crate) fn print(findings: &Findings, page: &mut Page, _notes: &mut Notes, columns: usize) {
    let section = findings.sections.get(SECTION).cloned().unwrap_or_default();
    let Ok(all) = serde_json::from_value::<Vec<Unmatched>>(section) else { return };
    page.gap();
    for Unmatched { variant, benchmarks, .. } in all {
        let names = named(benchmarks.iter().map(|name| clean(name)).collect());
        let baseline = findings.variants.first().map_or(BASELINE, |variant| variant.name.as_str());
        let [exist, they_are] = if benchmarks.len() == 1 { ["exists", "it is"] } else { ["exist", "they are"] };
        let line = format!(
            "{} {exist} in {} but not in {}, so {they_are} not compared: {names}",
            counted(benchmarks.len() as u32, "benchmark"),
            clean(&variant),
            clean(baseline),
        );
        page.paragraph(&line, columns, 2, Ink::Open);
    }
}
