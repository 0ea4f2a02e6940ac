//! How far a run is, by its files alone.

use crate::blocks;
use crate::order::Order;
use crate::run_folder::{RunFolder, Status};
use bakeoff_command::CommandError;
use bakeoff_model::record::AwayKey;
use std::collections::{BTreeMap, BTreeSet};

/// How far a shard is.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) number: u32,
    pub(crate) is_done: bool,
    /// Those of a shard that is not done.
    pub(crate) attempts: usize,
    /// Whether its last attempt has ended, however it did.
    pub(crate) has_ended: bool,
    /// How its last attempt ended, if it ended by itself and not because somebody ended it.
    pub(crate) refused: Option<Status>,
}

/// How far all shards are; their journals are not read.
pub(crate) fn of_shards(run: &RunFolder, order: &Order) -> Result<Vec<Standing>, CommandError> {
    order.numbers().map(|number| of_shard(run, number)).collect()
}

fn of_shard(run: &RunFolder, number: u32) -> Result<Standing, CommandError> {
    if run.done(number)?.is_some() {
        return Ok(Standing { number, is_done: true, ..Standing::default() });
    }
    let attempts = run.attempts(number);
    let status = attempts.last().map(|attempt| attempt.status()).transpose()?.flatten();
    let status = status.filter(|status| !status.complete);
    let has_ended = status.is_some();
    let refused = status.filter(Status::is_by_itself);
    Ok(Standing { number, is_done: false, attempts: attempts.len(), has_ended, refused })
}

/// How many blocks there are.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Those of each shard.
    pub(crate) blocks: BTreeMap<u32, usize>,
    /// Blocks of a pass; none before the first journal says so.
    pub(crate) each_pass: Option<usize>,
    /// The nodes on which the last attempt of each shard is or was.
    pub(crate) nodes: BTreeMap<u32, String>,
}

impl Progress {
    /// What the journals of the shards hold.
    pub(crate) fn of(run: &RunFolder, order: &Order) -> Self {
        let mut progress = Self::default();
        for shard in order.numbers() {
            let mut there: BTreeSet<AwayKey> = BTreeSet::new();
            for attempt in run.attempts(shard) {
                let Some(record) = attempt.journal() else { continue };
                let study = &record.study;
                progress.each_pass.get_or_insert(study.workloads.len() * study.conditions.len());
                if let Some(session) = record.sessions.first() {
                    progress.nodes.insert(shard, session.place.host.clone());
                }
                there.extend(blocks::of_record(&record, shard, &attempt, None).iter().map(|away| away.key()));
            }
            progress.blocks.insert(shard, there.len());
        }
        progress
    }

    /// Passes that are complete, or as many blocks.
    pub(crate) fn passes(&self) -> usize {
        self.blocks.values().sum::<usize>() / self.each_pass.unwrap_or(1).max(1)
    }

    /// The same of one shard.
    pub(crate) fn passes_of(&self, shard: u32) -> usize {
        self.blocks.get(&shard).copied().unwrap_or(0) / self.each_pass.unwrap_or(1).max(1)
    }
}
