//! Why: what may have caused a difference. Facts of the builds' files, diagnostic trials under a tracer, and what of both is
//! consistent with what was decided. It changes no verdict, and compares nothing.
//!
//! In the order in which a study meets it: [`spec`] reads `[evidence]`; when the trials are over, [`gather`] reads files
//! ([`reading`]) and executes [`trials`] with the probe [`trace`]; each piece of [`evidence`] is a line of the journal;
//! [`diagnosis`] makes the section of the [`findings`] of them, and [`page`] draws it.

mod command;
mod diagnosis;
pub mod evidence;
pub mod facts;
mod facts_page;
pub mod findings;
mod gather;
mod page;
pub mod reading;
mod spec;
mod trace;
pub mod trials;

use bakeoff_command::{CommandError, Feature, Finished, Subcommand};
use bakeoff_judge::findings::Findings;
use bakeoff_lab::{Ending, Executor};
use bakeoff_model::record::Record;
use bakeoff_model::study_file::Extension;
use bakeoff_report::SectionPage;

/// The slice.
#[derive(Debug)]
pub struct Why;

impl Feature for Why {
    fn commands(&self) -> Vec<Subcommand> {
        vec![Subcommand::with_features("facts", command::facts::execute).after("build")]
    }

    fn section(&self) -> Option<&'static dyn Extension> {
        Some(&spec::EvidenceSection)
    }

    fn line(&self) -> Option<&'static str> {
        Some(evidence::LINE)
    }

    fn gather(&self, study: &mut dyn Finished) -> Result<(), CommandError> {
        gather::facts(study)
    }

    fn has_trials(&self, study: &dyn Finished) -> bool {
        gather::has_missing_trials(study)
    }

    fn gather_by_trials(&self, study: &mut dyn Finished, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
        gather::traces(study, executor, &bakeoff_command::tracer())
    }

    fn needs_levels(&self, record: &Record) -> bool {
        record.features.iter().any(|line| line.kind() == evidence::LINE)
    }

    fn find(&self, record: &Record, findings: &mut Findings) {
        let gathered = diagnosis::gathered(record, findings);
        if let Some(section) = gathered.and_then(|gathered| serde_json::to_value(gathered).ok()) {
            findings.sections.insert(findings::SECTION.to_owned(), section);
        }
    }

    fn page(&self) -> Option<SectionPage> {
        Some(SectionPage { name: findings::SECTION, draw: page::print, causes: page::causes })
    }
}
