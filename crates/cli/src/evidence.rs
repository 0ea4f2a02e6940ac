//! Evidence of a study, between those who gather it and the journal: facts of builds, read by `build`, and diagnostic
//! trials, executed by `lab`. It is gathered when all trials are over, and what the journal holds already is not gathered
//! again. What it means is the business of `analysis`.

use crate::error::CommandError;
use crate::screen;
use bakeoff_builds::Cache;
use bakeoff_builds::facts::{self, Depth};
use bakeoff_lab::evidence::Gathering;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Evidence, EvidenceLine, Record};
use bakeoff_model::study::EvidenceSpec;
use std::collections::BTreeMap;

/// What is to be gathered, and of which builds.
pub(crate) struct Wanted<'a> {
    pub(crate) spec: &'a EvidenceSpec,
    pub(crate) cache: &'a Cache,
    /// The digest of each variant's build.
    pub(crate) digests: &'a BTreeMap<String, String>,
}

impl Wanted<'_> {
    /// The facts of builds that a record does not hold, by variant in the plan's order. Variants may share a build, of
    /// which the files are read once.
    pub(crate) fn facts(&self, plan: &Plan, record: &Record) -> Result<Vec<(String, Evidence)>, CommandError> {
        let mut found = vec![];
        if self.spec.facts.is_empty() {
            return Ok(found);
        }
        let mut read: BTreeMap<&str, Evidence> = BTreeMap::new();
        for variant in &plan.variants {
            let Some(digest) = self.digests.get(&variant.name) else { continue };
            let files = facts::files(&self.cache.prefix_of(digest), &self.spec.facts)?;
            if is_held(record, &variant.name, &files) {
                continue;
            }
            let evidence = read.entry(digest).or_insert_with(|| self.read(digest, &files));
            found.push((variant.name.clone(), evidence.clone()));
        }
        Ok(found)
    }

    fn read(&self, digest: &str, files: &[String]) -> Evidence {
        let prefix = self.cache.prefix_of(digest);
        let mut read = vec![];
        for path in files {
            match facts::facts_of(&prefix.join(path), Depth::All) {
                Ok(facts) => read.push(bakeoff_model::facts::FileFacts { path: path.clone(), ..facts }),
                Err(error) => return Evidence::Missing { workload: None, why: facts::in_one_line(&error) },
            }
        }
        Evidence::of_files(read)
    }
}

/// Whether a record has the facts of these files, and of no others. A build of the same name has the same files.
fn is_held(record: &Record, variant: &str, files: &[String]) -> bool {
    let line = record.evidence.iter().find(|line| line.subject() == (variant, None));
    line.is_some_and(|line| match &line.evidence {
        Evidence::Facts(known) => known.iter().map(|file| &file.path).eq(files),
        _ => false,
    })
}

/// Whether a line says what the record does not know yet.
pub(crate) fn is_news(record: &Record, line: &EvidenceLine) -> bool {
    let known = record.evidence.iter().find(|known| known.subject() == line.subject());
    known.is_none_or(|known| known.evidence != line.evidence)
}

/// Says which diagnostic trial is executed; on a terminal one line is drawn again and again.
pub(crate) fn tell(gathering: &Gathering<'_>, quiet: bool) {
    let Gathering::Begins { subject, number, of } = gathering else { return };
    if !quiet {
        let what = bakeoff_model::plain::clean(&format!("{} of {}", subject.workload, subject.variant));
        let line = format!("evidence: {what}, {number} of {of}");
        screen::draw(&line);
    }
}

/// Removes what was drawn again and again.
pub(crate) fn told(quiet: bool) {
    if !quiet {
        screen::erase();
    }
}
