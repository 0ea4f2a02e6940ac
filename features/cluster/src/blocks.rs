//! The whole blocks of attempts: what counts of a journal of another machine. A block counts whole or not at all.

use crate::run_folder::{AttemptFolder, RunFolder};
use bakeoff_model::record::{Attempt, Away, AwayKey, Outcome, Record, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// The blocks of all attempts of a shard; of two runs of a block that of the lower attempt. Their session is that of the attempt's
/// own journal. The attempt of number `over` is known to have ended by itself.
pub(crate) fn of_attempts(run: &RunFolder, shard: u32, over: Option<u32>) -> BTreeMap<AwayKey, Away> {
    let mut blocks = BTreeMap::new();
    for attempt in run.attempts(shard) {
        for away in attempt.journal().iter().flat_map(|record| of_record(record, shard, &attempt, over)) {
            blocks.entry(away.key()).or_insert(away);
        }
    }
    blocks
}

/// The whole blocks of an attempt's record, in the order in which they began. Schedulers end a job by a signal to all of its
/// processes: to the trial, its service or its load as well as to Bakeoff, and to them maybe first. So the last trial counts
/// only if the attempt is known to have ended by itself or another trial came after it; and the one before only if it ended
/// well too, because Bakeoff may have begun the next one before the signal reached it.
pub(crate) fn of_record(record: &Record, shard: u32, attempt: &AttemptFolder, over: Option<u32>) -> Vec<Away> {
    let is_over = || matches!(attempt.status(), Ok(Some(status)) if status.is_by_itself());
    let doubtful = if over == Some(attempt.number) || is_over() { 0 } else { 2 };
    let last = record.trials.iter().rev().take(doubtful).enumerate();
    let cut: BTreeSet<(u32, &str, &str)> = last
        .filter(|(before, trial)| *before == 0 || trial.outcome != Outcome::Ok)
        .map(|(_, trial)| (trial.block, &*trial.workload, &*trial.condition))
        .collect();
    let attempt = attempt.number;
    let node = record.sessions.first().map(|session| session.place.host.clone()).unwrap_or_default();
    let mut trials: BTreeMap<(u32, &str, &str), Vec<Trial>> = BTreeMap::new();
    for trial in &record.trials {
        trials.entry((trial.block, &trial.workload, &trial.condition)).or_default().push(trial.clone());
    }
    // Nobody has looked yet whether the programs were still the same.
    let unchecked: BTreeSet<(u32, &str, &str)> =
        record.unchecked().iter().map(|trial| (trial.block, &*trial.workload, &*trial.condition)).collect();
    let whole = |block: &bakeoff_model::record::Block| {
        let key = (block.block, block.workload.as_str(), block.condition.as_str());
        let trials = trials.get(&key).filter(|_| !unchecked.contains(&key) && !cut.contains(&key))?.clone();
        let session = trials.first()?.session;
        let from = Attempt { node: node.clone(), shard, attempt };
        let away = Away { session, from, block: block.clone(), trials };
        away.is_whole().then_some(away)
    };
    record.blocks.iter().filter_map(whole).collect()
}
