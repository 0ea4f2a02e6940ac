//! From evidence to diagnoses: what was gathered of the variants is laid side by side, and compared with the differences
//! that were decided without it. Evidence never changes a verdict. A cause is called consistent with a difference, and
//! no more, unless the study has a pair of variants that isolates it; what nothing explains is said to be unexplained.
//! Nothing here measures, and nothing is put into words.

mod causes;
mod files;
mod pieces;
mod rules;
mod traces;

use crate::evidence::{self, Evidence};
use crate::findings::{Gathered, NotGathered};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use pieces::Pieces;

/// All that a record says of evidence; none if nothing was to be gathered.
pub(crate) fn gathered(record: &Record, findings: &Findings) -> Option<Gathered> {
    let evidence = evidence::of(record);
    if evidence.is_empty() {
        return None;
    }
    let pieces = Pieces::of(record, &evidence);
    let (files, traces) = (files::tables(&pieces), traces::tables(&pieces, &record.study.workloads));
    let diagnoses = causes::diagnoses(&pieces, findings, &files, &traces);
    Some(Gathered { files, traces, missing: missing(&pieces), diagnoses })
}

/// What could not be had, each reason once, with the variants as planned.
fn missing(pieces: &Pieces<'_>) -> Vec<NotGathered> {
    let mut all: Vec<NotGathered> = vec![];
    for variant in &pieces.variants {
        for (workload, service, why) in pieces.of_variant(&variant.name).flat_map(not_gathered) {
            let is_same =
                |known: &&mut NotGathered| (&known.workload, &known.service, &known.why) == (&workload, &service, &why);
            match all.iter_mut().find(is_same) {
                Some(known) => known.variants.push(variant.name.clone()),
                None => all.push(NotGathered { workload, service, variants: vec![variant.name.clone()], why }),
            }
        }
    }
    all
}

/// What of a piece is missing: workload, service, and why.
fn not_gathered(evidence: &Evidence) -> Vec<(Option<String>, Option<String>, String)> {
    match evidence {
        Evidence::Missing { workload, why } => vec![(workload.clone(), None, why.clone())],
        Evidence::Traced(traced) if traced.failure.is_some() => {
            vec![(Some(traced.workload.clone()), None, "it failed under observation".to_owned())]
        }
        Evidence::Traced(traced) => {
            let unseen = traced.services_unseen.iter();
            unseen.map(|(name, why)| (Some(traced.workload.clone()), Some(name.clone()), why.clone())).collect()
        }
        Evidence::Facts(_) => vec![],
    }
}

#[cfg(test)]
mod tests;
