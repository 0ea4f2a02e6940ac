//! How far a study was run: its sessions, where they were, the blocks that it is to have and the passes that were
//! relinked. It reads the record and looks at no value.

use crate::findings::Layouts;
use bakeoff_model::grouped::unique;
use bakeoff_model::record::{Block, Outcome, Place, RELAID, Record, Session, TWIN};
use bakeoff_model::study::Vary;
use std::collections::{BTreeMap, BTreeSet};

/// The sessions that ran trials; one that found nothing to do, or could not begin, was nowhere.
pub(super) fn sessions(record: &Record) -> Vec<&Session> {
    let has_trials = |session: &&Session| record.trials.iter().any(|trial| trial.session == session.session);
    record.sessions.iter().filter(has_trials).collect()
}

/// Where the sessions were, each place once.
pub(super) fn places(sessions: &[&Session]) -> Vec<Place> {
    unique(sessions.iter().map(|session| session.place.clone()))
}

/// Blocks that each workload and condition is to have. Fewer may be asked for than there already are.
pub(super) fn blocks_wanted(record: &Record, is_enough: bool) -> u32 {
    let passes = record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
    let most = record.sessions.last().map_or(0, |session| session.blocks);
    if is_enough { passes } else { most.max(passes) }
}

/// Blocks that all workloads and conditions together are to have: without those in which nobody takes part any more.
pub(super) fn blocks_total(record: &Record, wanted: u32) -> u32 {
    let study = &record.study;
    let cells = study.workloads.iter().flat_map(|workload| study.conditions.iter().map(move |c| (&**workload, &**c)));
    cells.map(|cell| (1..=wanted).filter(|block| !record.is_left_out(cell, *block)).count() as u32).sum()
}

/// Fewer blocks than these say nothing about a variance.
const LEAST_BLOCKS: usize = 6;

/// What layouts alone are worth to the baseline, where that is most: sd² = (variance of ln relaid − ln baseline, less that of ln
/// twin − ln baseline) / 2, as both sides of the first have a layout of their own.
fn spread(record: &Record) -> Option<f64> {
    // The logarithm of each value, by variant.
    type Logarithms<'a> = BTreeMap<&'a str, f64>;
    let metric = record.study.decide.metrics.first()?;
    let baseline = record.study.variants.first()?.name.as_str();
    let mut cells: BTreeMap<(&str, &str), BTreeMap<u32, Logarithms<'_>>> = BTreeMap::new();
    for trial in record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok) {
        let Some(value) = trial.measurements.get(metric).filter(|value| **value > 0.0) else { continue };
        let block = cells.entry((&trial.workload, &trial.condition)).or_default().entry(trial.block).or_default();
        block.insert(&trial.variant, value.ln());
    }
    let of_cell = |blocks: &BTreeMap<u32, Logarithms<'_>>| {
        let variance = |name: &str| {
            let pairs = blocks.values().filter_map(|block| Some(block.get(name)? - block.get(baseline)?));
            let pairs: Vec<f64> = pairs.collect();
            let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
            let sum: f64 = pairs.iter().map(|one| (one - mean).powi(2)).sum();
            (pairs.len() >= LEAST_BLOCKS).then(|| sum / (pairs.len() - 1) as f64)
        };
        Some(((variance(RELAID)? - variance(TWIN)?) / 2.0).max(0.0).sqrt())
    };
    cells.values().filter_map(of_cell).reduce(f64::max)
}

/// How many passes were relinked, and of how many; none if layouts are not varied.
pub(super) fn layouts(record: &Record) -> Option<Layouts> {
    if !record.study.vary.iter().any(|vary| matches!(vary, Vary::LinkOrder | Vary::Layouts)) {
        return None;
    }
    let record = record.without_building();
    let executed: BTreeSet<u32> = record.trials.iter().map(|trial| trial.block).collect();
    let passes = |takes: fn(&Block) -> bool| -> BTreeSet<u32> {
        let blocks = record.blocks.iter().filter(|block| takes(block) && executed.contains(&block.block));
        blocks.map(|block| block.block).collect()
    };
    let (relinked, all) = (passes(|block| block.layout.is_some()), passes(|_| true));
    let matched = record.study.vary.contains(&Vary::Layouts);
    let spread = spread(&record);
    Some(Layouts { passes: relinked.len() as u32, of: all.len() as u32, matched, spread })
}
