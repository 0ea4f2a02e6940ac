//! Benchmarks that a harness of their own times, in Bakeoff's blocks: one process of the harness is one trial, and each of
//! its benchmarks is judged like a workload. It measures nothing itself, and judges nothing: a record with a workload for
//! each benchmark is the core's ([`bakeoff_model::record::Record::in_parts`]).

mod key;
mod names;
mod options;
mod read;
mod unmatched;

use bakeoff_command::{Feature, Planning};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use bakeoff_model::study_file::Extension;
use bakeoff_model::suite::{Harnesses, Left, Parts};
use bakeoff_report::SectionPage;

/// The slice.
#[derive(Debug)]
pub struct Harness;

impl Feature for Harness {
    fn section(&self) -> Option<&'static dyn Extension> {
        Some(&key::HarnessKey)
    }

    fn harnesses(&self) -> Option<&'static dyn Harnesses> {
        Some(&Harness)
    }

    fn planning(&self) -> Option<Planning> {
        Some(Planning { options: options::options, plan: options::plan })
    }

    fn find(&self, record: &Record, findings: &mut Findings) {
        unmatched::find(record, findings);
    }

    fn page(&self) -> Option<SectionPage> {
        Some(SectionPage { name: unmatched::SECTION, draw: unmatched::print, causes: |_| vec![] })
    }
}

impl Harnesses for Harness {
    fn read(&self, harness: &str, left: &Left) -> Result<Parts, String> {
        read::read(harness, left)
    }
}
