//! Gathering: when all trials are over, the facts of builds are read and the diagnostic trials run; what the journal
//! holds already is not gathered again. What it means is the diagnosis's business.

use crate::evidence::{self, Evidence, EvidenceLine};
use crate::facts::FileFacts;
use crate::reading::{Depth, facts_of, files, in_one_line};
use crate::spec::EvidenceSpec;
use crate::trials;
use bakeoff_command::{CommandError, Finished, screen};
use bakeoff_lab::{Ending, Executor};
use bakeoff_model::record::Record;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the study asks for.
pub(crate) fn spec(study: &dyn Finished) -> EvidenceSpec {
    EvidenceSpec::of(study.section(crate::spec::NAME))
}

/// Reads the facts that the journal does not hold, by variant in the plan's order; nothing is launched for them. Variants
/// may share a build, of which the files are read once.
pub(crate) fn facts(study: &mut dyn Finished) -> Result<(), CommandError> {
    let patterns = spec(study).facts;
    if patterns.is_empty() {
        return Ok(());
    }
    let mut found = vec![];
    let mut read: BTreeMap<PathBuf, Evidence> = BTreeMap::new();
    for variant in &study.plan().variants {
        let Some(prefix) = study.prefix_of(&variant.name) else { continue };
        let files = files(&prefix, &patterns)?;
        if is_held(study.record(), &variant.name, &files) {
            continue;
        }
        let evidence = read.entry(prefix.clone()).or_insert_with(|| facts_of_files(&prefix, &files));
        found.push((variant.name.clone(), evidence.clone()));
    }
    found.into_iter().try_for_each(|(variant, evidence)| keep(study, variant, evidence))
}

fn facts_of_files(prefix: &Path, files: &[String]) -> Evidence {
    let mut read = vec![];
    for path in files {
        match facts_of(&prefix.join(path), Depth::All) {
            Ok(facts) => read.push(FileFacts { path: path.clone(), ..facts }),
            Err(error) => return Evidence::Missing { workload: None, why: in_one_line(&error) },
        }
    }
    Evidence::of_files(read)
}

/// Whether a record has the facts of these files, and of no others. A build of the same name has the same files.
fn is_held(record: &Record, variant: &str, files: &[String]) -> bool {
    let known = evidence::of(record);
    let line = known.iter().find(|line| line.subject() == (variant, None));
    line.is_some_and(|line| match &line.evidence {
        Evidence::Facts(known) => known.iter().map(|file| &file.path).eq(files),
        _ => false,
    })
}

/// Whether there are diagnostic trials to run.
pub(crate) fn has_missing_trials(study: &dyn Finished) -> bool {
    !trials::missing(study.plan(), &spec(study).trace, &evidence::of(study.record())).is_empty()
}

/// Runs the missing diagnostic trials, one after the other.
pub(crate) fn traces(
    study: &mut dyn Finished,
    executor: &mut dyn Executor,
    tracer: &[String],
) -> Result<Ending, CommandError> {
    let (plan, trace) = (study.plan().clone(), spec(study).trace);
    let subjects = trials::missing(&plan, &trace, &evidence::of(study.record()));
    for (number, &subject) in (1..).zip(&subjects) {
        if study.is_interrupted() {
            return Ok(Ending::Stopped);
        }
        if !study.quiet() {
            let what = bakeoff_model::plain::clean(&format!("{} of {}", subject.workload, subject.variant));
            screen::draw(&format!("evidence: {what}, {number} of {}", subjects.len()));
        }
        let evidence = trials::execute(subject, tracer, executor);
        if !study.quiet() {
            screen::erase();
        }
        let Some(evidence) = evidence? else { return Ok(Ending::Stopped) };
        keep(study, subject.variant.to_owned(), evidence)?;
    }
    Ok(Ending::Complete)
}

/// Keeps what is news.
fn keep(study: &mut dyn Finished, variant: String, evidence: Evidence) -> Result<(), CommandError> {
    let line = EvidenceLine { session: 0, variant, evidence };
    let known = evidence::of(study.record());
    let known = known.iter().find(|known| known.subject() == line.subject());
    if known.is_some_and(|known| known.evidence == line.evidence) {
        return Ok(());
    }
    let line = EvidenceLine { session: study.session()?, ..line };
    study.keep(line.line()?)
}
