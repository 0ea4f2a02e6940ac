//! From evidence to diagnoses: what was gathered of the variants is laid side by side, and causes are ranked by their shares
//! of the differences that were decided without them. Evidence never changes a verdict. A cause is called consistent with a
//! difference, and no more, unless the study has a pair of variants that isolates it. Nothing here measures, and nothing is
//! put into words.

mod causes;
mod files;
mod isolating;
mod pieces;
mod traces;

use crate::account::result::Mechanism;
use crate::accounts::{self, Pairs};
use crate::counts::CountsLine;
use crate::evidence::{self, Evidence};
use crate::findings::{Diagnosis, Gathered, NotGathered, PairAccount, Unseen};
use bakeoff_judge::findings::Findings;
use bakeoff_model::record::Record;
use isolating::Isolating;
pub(crate) use isolating::{Outcome, in_one_factor};
use pieces::Pieces;

/// All that a record says of evidence; none if nothing was to be gathered.
pub(crate) fn gathered(record: &Record, findings: &Findings) -> Option<Gathered> {
    let evidence = evidence::of(record);
    let mut accounts = accounts::of(record, Pairs::default());
    accounts.iter_mut().for_each(|pair| pair.account.functions.clear());
    let uncounted = accounts::missing(record);
    if evidence.is_empty() && accounts.is_empty() && uncounted.is_empty() {
        return None;
    }
    let pieces = Pieces::of(record, &evidence);
    let (files, traces) = (files::tables(&pieces), traces::tables(&pieces, &record.study.workloads));
    let diagnoses = diagnoses(record, &accounts, findings);
    let missing = [missing(&pieces), uncounted].concat();
    Some(Gathered { files, traces, missing, diagnoses, accounts })
}

/// The causes of what was counted, one diagnosis for each account.
pub(crate) fn diagnoses(record: &Record, accounts: &[PairAccount], findings: &Findings) -> Vec<Diagnosis> {
    let lines = CountsLine::of(record);
    causes::diagnoses(accounts, findings, &Isolating::new(record, &lines, &findings.method.deciding_metric))
}

/// What a pair says that was run to isolate a mechanism.
pub(crate) fn outcome(
    record: &Record,
    findings: &Findings,
    workload: &str,
    pair: [&str; 2],
    mechanism: Mechanism,
) -> Option<Outcome> {
    let lines = CountsLine::of(record);
    Isolating::new(record, &lines, &findings.method.deciding_metric).outcome(workload, pair, mechanism)
}

/// What could not be had, each reason once, with the variants as planned.
fn missing(pieces: &Pieces<'_>) -> Vec<NotGathered> {
    let mut all: Vec<NotGathered> = vec![];
    for variant in &pieces.variants {
        for missing in pieces.of_variant(&variant.name).flat_map(not_gathered) {
            match all.iter_mut().find(|known| NotGathered { variants: vec![], ..(*known).clone() } == missing) {
                Some(known) => known.variants.push(variant.name.clone()),
                None => all.push(NotGathered { variants: vec![variant.name.clone()], ..missing }),
            }
        }
    }
    all
}

/// What of a piece is missing, of no variant yet.
fn not_gathered(evidence: &Evidence) -> Vec<NotGathered> {
    let of = |workload: Option<&String>, service: Option<&String>, why: &str| {
        let what = if workload.is_some() { Unseen::Trace } else { Unseen::Files };
        let (workload, service) = (workload.cloned(), service.cloned());
        NotGathered { workload, service, variants: vec![], why: why.to_owned(), what }
    };
    match evidence {
        Evidence::Missing { workload, why } => vec![of(workload.as_ref(), None, why)],
        Evidence::Traced(traced) if traced.failure.is_some() => {
            vec![of(Some(&traced.workload), None, "the traced run failed")]
        }
        Evidence::Traced(traced) => {
            traced.services_unseen.iter().map(|(name, why)| of(Some(&traced.workload), Some(name), why)).collect()
        }
        Evidence::Facts(_) => vec![],
    }
}

#[cfg(test)]
mod tests;
