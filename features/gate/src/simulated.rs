//! Records for the tests of this slice: some variants on some workloads, with values that a test chooses or that are drawn from
//! noise. Only tests use it.

use crate::decide::{NoGate, Wanted, gate};
use crate::decision::{Gate, Outcome};
use crate::spec::Limits;
use bakeoff_building::Building;
use bakeoff_command::Registry;
use bakeoff_model::record::{Block, Record, TWIN, Trial};
use bakeoff_model::shuffle::Stream;
use bakeoff_testkit::records;

/// A study of these variants, the baseline first, on these workloads; without trials.
pub(crate) fn study(workloads: &[&str], variants: &[&str]) -> Record {
    let mut record = records::study(variants, &["idle"], &["wall"]);
    record.study.workloads = workloads.iter().map(|&name| name.to_owned()).collect();
    record
}

/// Adds blocks in random orders; `fill` writes into each trial what was measured. It gets the trial's place in the session,
/// from 0 to 1.
pub(crate) fn execute(
    record: &mut Record,
    blocks: u32,
    stream: &mut Stream,
    mut fill: impl FnMut(&mut Trial, f64, &mut Stream),
) {
    let mut names: Vec<String> = record.study.variants.iter().map(|variant| variant.name.clone()).collect();
    names.push(TWIN.to_owned());
    let workloads = record.study.workloads.clone();
    let all = blocks as usize * workloads.len() * names.len();
    let mut slot = 0;
    for block in 1..=blocks {
        for workload in &workloads {
            let mut order = names.clone();
            stream.shuffle(&mut order);
            for (position, variant) in (1..).zip(&order) {
                let mut trial = Trial {
                    block,
                    workload: workload.clone(),
                    condition: "idle".to_owned(),
                    position,
                    variant: variant.clone(),
                    session: 1,
                    ..Trial::default()
                };
                fill(&mut trial, slot as f64 / all.max(2) as f64, stream);
                record.trials.push(trial);
                slot += 1;
            }
            let (workload, condition) = (workload.clone(), "idle".to_owned());
            record.blocks.push(Block { block, workload, condition, order, ..Block::default() });
        }
    }
    record.sessions.iter_mut().for_each(|session| session.blocks = blocks);
}

/// Twelve blocks in which each variant takes `ratio` times as long, with little noise.
pub(crate) fn executed(workloads: &[&str], variants: &[&str], ratio: impl Fn(&str, &str) -> f64) -> Record {
    let mut record = study(workloads, variants);
    execute(&mut record, 12, &mut Stream::of(178, &["gate"]), |trial, _, stream| {
        let name = if trial.variant == TWIN { variants[0] } else { &trial.variant };
        let seconds = ratio(name, &trial.workload) * (0.002 * stream.normal()).exp();
        records::measure(trial, "wall", seconds);
    });
    record
}

/// The gate of a record, with one limit for all.
pub(crate) fn at(record: &Record, limit: f64) -> Result<Gate, NoGate> {
    with(record, &Wanted { limits: Limits::of_all(limit), variants: vec![] })
}

/// The gate of a record.
pub(crate) fn with(record: &Record, wanted: &Wanted) -> Result<Gate, NoGate> {
    gate(record, &Registry::of(&[&Building]).judge(record), wanted)
}

/// What a gate of 2 % comes to.
pub(crate) fn outcome(record: &Record) -> Outcome {
    at(record, 0.02).unwrap_or_else(|why| panic!("{why}")).outcome
}
