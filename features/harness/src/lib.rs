//! Benchmarks that a harness of their own times, in Bakeoff's blocks: one process of the harness is one trial, and each of
//! its benchmarks is judged like a workload. It measures nothing itself, and judges nothing: a record with a workload for
//! each benchmark is the core's ([`bakeoff_model::record::Record::in_parts`]).

mod key;
mod names;
mod options;
mod read;
mod unmatched;

use bakeoff_command::{CommandMode, Feature, FeatureFindings, FindingsSection, Registry};
use bakeoff_model::suite::{Harnesses, Left, Parts};
use bakeoff_report::SectionPage;

/// The slice.
#[derive(Debug)]
pub struct Harness;

impl Feature for Harness {
    fn register(&self, to: &mut Registry) {
        to.sections.push(&key::HarnessKey);
        to.harnesses.push(&Harness);
        to.modes.push(CommandMode {
            of: "compare",
            options: options::options,
            exits: &[],
            execute: |_| None,
            plan: options::plan,
        });
        to.findings.push(FindingsSection {
            page: SectionPage {
                name: unmatched::SECTION,
                draw: unmatched::print,
                causes: |_| vec![],
                below_doubts: false,
            },
            needs_levels: |_| false,
            find: |record, _| FeatureFindings::section(unmatched::SECTION, unmatched::find(&record.without_building())),
        });
    }
}

impl Harnesses for Harness {
    fn read(&self, harness: &str, left: &Left) -> Result<Parts, String> {
        read::read(harness, left)
    }
}
