//! Records for the tests, built by hand: a plan's frame, and trials into which each test writes what it is about. Nothing
//! here judges, and nothing is drawn by chance.

use crate::letters;
use bakeoff_judge::findings::{Caveat, Findings, Refusal, Table};
use bakeoff_model::record::{Block, Record, Session, StudyLine, TWIN, Trial, VariantLine};
use bakeoff_model::study::Decide;

/// A doubt as a sentence.
pub fn sentence(doubt: &Caveat) -> String {
    letters(&bakeoff_report::caveats::caveat(doubt))
}

/// Why an effect is not estimated.
pub fn why(refusal: &Refusal) -> String {
    letters(&bakeoff_report::caveats::refusal(refusal))
}

/// How the tests decide: a margin of 1 % and a confidence of 95 %, on no metric yet.
pub fn decide() -> Decide {
    Decide { margin: 0.01, confidence: 0.95, ..Decide::default() }
}

/// A study of these variants, the baseline first, with a twin, of the workload `loop`. It has one session and no trials.
pub fn study(variants: &[&str], conditions: &[&str], metrics: &[&str]) -> Record {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let variant = |name: &&str| VariantLine { name: (*name).to_owned(), ..VariantLine::default() };
    let decide = Decide { metrics: owned(metrics), ..decide() };
    let mut record = Record::new(StudyLine {
        format: 1,
        study: "test".to_owned(),
        plan: "default".to_owned(),
        seed: 178,
        variants: variants.iter().map(variant).collect(),
        workloads: owned(&["loop"]),
        conditions: owned(conditions),
        decide,
        ..StudyLine::default()
    });
    record.sessions.push(Session { session: 1, started_unix_s: 1e9, ..Session::default() });
    record
}

/// Adds passes with a trial of every variant and of the twin under every condition. `fill` writes into each what was
/// measured; the trial itself says which one it is.
pub fn execute(record: &mut Record, passes: u32, mut fill: impl FnMut(&mut Trial)) {
    let mut names: Vec<String> = record.study.variants.iter().map(|variant| variant.name.clone()).collect();
    names.push(TWIN.to_owned());
    let session = record.sessions.len() as u32;
    let first = record.blocks.iter().map(|block| block.block).max().unwrap_or(0) + 1;
    for block in first..first + passes {
        for condition in record.study.conditions.clone() {
            // The order turns, so that no variant keeps its position.
            let mut order = names.clone();
            order.rotate_left(block as usize % names.len());
            for (position, variant) in (1..).zip(&order) {
                let mut trial = Trial {
                    block,
                    workload: "loop".to_owned(),
                    condition: condition.clone(),
                    position,
                    variant: variant.clone(),
                    session,
                    started_unix_s: 1e9 + f64::from(block),
                    ..Trial::default()
                };
                fill(&mut trial);
                record.trials.push(trial);
            }
            let workload = "loop".to_owned();
            record.blocks.push(Block { block, workload, condition, order, ..Block::default() });
        }
    }
    let last = first + passes - 1;
    record.sessions.iter_mut().for_each(|session| session.blocks = last);
}

/// Writes a measurement.
pub fn measure(trial: &mut Trial, metric: &str, value: f64) {
    trial.measurements.insert(metric.to_owned(), value);
}

/// A little noise without a tendency, other for every trial of a block: between ± 0.3 %.
pub fn noise(trial: &Trial) -> f64 {
    let names = trial.variant.bytes().chain(trial.condition.bytes()).map(usize::from).sum::<usize>();
    let index = trial.block as usize * 7 + trial.position as usize * 3 + names;
    1.0 + [0.0021, -0.0013, 0.0030, -0.0027, -0.0002, 0.0008, -0.0030, 0.0011, 0.0027, -0.0024, 0.0003][index % 11]
}

/// Which doubts these are.
pub fn kinds(caveats: &[Caveat]) -> Vec<String> {
    caveats.iter().map(Caveat::kind).collect()
}

/// The sentence of a doubt about the study; empty if there is none of this kind.
pub fn doubt(findings: &Findings, kind: &str) -> String {
    findings.caveats.iter().find(|caveat| caveat.kind() == kind).map_or_else(String::new, sentence)
}

/// The metrics of the tables, in their order.
pub fn metrics(findings: &Findings) -> Vec<&str> {
    findings.tables.iter().map(|table: &Table| table.metric.as_str()).collect()
}
