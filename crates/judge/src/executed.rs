//! How far a study was run: its sessions, where they were, the blocks that it is to have and the passes that were
//! relinked. It reads the record and looks at no value.

use crate::findings::Layouts;
use bakeoff_model::grouped::unique;
use bakeoff_model::record::{Block, Place, Record, Session};
use bakeoff_model::study::Vary;
use std::collections::BTreeSet;

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

/// How many passes were relinked, and of how many; none if the order of linking is not varied.
pub(super) fn layouts(record: &Record) -> Option<Layouts> {
    if !record.study.vary.contains(&Vary::LinkOrder) {
        return None;
    }
    let record = record.without_building();
    let executed: BTreeSet<u32> = record.trials.iter().map(|trial| trial.block).collect();
    let passes = |takes: fn(&Block) -> bool| -> BTreeSet<u32> {
        let blocks = record.blocks.iter().filter(|block| takes(block) && executed.contains(&block.block));
        blocks.map(|block| block.block).collect()
    };
    let (relinked, all) = (passes(|block| block.layout.is_some()), passes(|_| true));
    Some(Layouts { passes: relinked.len() as u32, of: all.len() as u32 })
}
