//! How far a study was run: its sessions, where they were, the blocks that it is to have and the passes that were
//! relinked. It reads the record and looks at no value.

use crate::findings::Layouts;
use bakeoff_model::grouped::unique;
use bakeoff_model::record::{Block, Outcome, Place, RELAID, Record, Session, TWIN, UNMATCHED};
use bakeoff_model::study::Vary;
use bakeoff_stats::describe::{ratio_interval, sd};
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

/// What layouts alone are worth to the baseline, where that is most, and its interval. With S² the variance of ln relaid − ln
/// baseline and T² that of ln twin − ln baseline: sd² = (S² − T²) / 2, as both sides of the first have a layout of their own. The
/// interval is that of S² ÷ T² by F, as of independent samples of a normal distribution (both have the baseline's noise in
/// common, which makes it wider than it need be).
fn spread(record: &Record) -> Option<(f64, Option<[f64; 2]>)> {
    let metric = record.study.decide.metrics.first()?;
    let baseline = record.study.variants.first()?.name.as_str();
    let mut cells: BTreeMap<(&str, &str), BTreeMap<u32, Logarithms<'_>>> = BTreeMap::new();
    for trial in record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok) {
        let Some(value) = trial.value(metric).filter(|value| *value > 0.0) else { continue };
        let block = cells.entry((&trial.workload, &trial.condition)).or_default().entry(trial.block).or_default();
        block.insert(&trial.variant, value.ln());
    }
    let alpha = 1.0 - record.study.decide.confidence;
    let of_cell = |blocks: &BTreeMap<u32, Logarithms<'_>>| {
        let [relaid, twin] = [RELAID, TWIN].map(|name| contrasts(blocks, name, baseline));
        let (relaid_sd, twin_sd) = (sd(&relaid)?, sd(&twin)?);
        if relaid.len().min(twin.len()) < LEAST_BLOCKS {
            return None;
        }
        let variances = [relaid_sd.powi(2), twin_sd.powi(2)];
        let ratio = ratio_interval(variances, [relaid.len(), twin.len()], alpha);
        let spread = |ratio: f64| (variances[1] / 2.0 * (ratio - 1.0)).max(0.0).sqrt();
        Some((((variances[0] - variances[1]) / 2.0).max(0.0).sqrt(), ratio.map(|ends| ends.map(spread))))
    };
    cells.values().filter_map(of_cell).reduce(|one, other| if other.0 > one.0 { other } else { one })
}

/// The logarithm of each value of a block, by variant.
type Logarithms<'a> = BTreeMap<&'a str, f64>;

/// The contrasts of a variant with the baseline.
fn contrasts(blocks: &BTreeMap<u32, Logarithms<'_>>, name: &str, baseline: &str) -> Vec<f64> {
    blocks.values().filter_map(|block| Some(block.get(name)? - block.get(baseline)?)).collect()
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
    let is_unmatched = |block: &Block| block.linked.values().any(|digest| digest.starts_with(UNMATCHED));
    let matched = record.study.vary.contains(&Vary::Layouts) && !record.blocks.iter().any(is_unmatched);
    let (spread, spread_interval) = spread(&record).map_or((None, None), |(spread, interval)| (Some(spread), interval));
    let (passes, of) = (relinked.len() as u32, all.len() as u32);
    let as_built = if passes > 0 { as_built(&record) } else { vec![] };
    Some(Layouts { passes, of, matched, spread, spread_interval, few: record.study.layouts, as_built })
}

/// The conditions none of whose blocks were relinked.
fn as_built(record: &Record) -> Vec<String> {
    let is_as_built = |condition: &&String| {
        let mut own = record.blocks.iter().filter(|block| block.condition == **condition).peekable();
        own.peek().is_some() && own.all(|block| block.layout.is_none())
    };
    record.study.conditions.iter().filter(is_as_built).cloned().collect()
}
