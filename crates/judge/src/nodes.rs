//! Which machine a block ran on, where a study ran on several. A machine is a property of a block, like its pass; it is neither
//! a factor nor a condition. Nothing is compared here.

use super::ids::{Ids, Place};
use bakeoff_model::record::Record;
use std::collections::{BTreeMap, BTreeSet};

/// The machines of a record in the order of their names, and the one of each block. None of them if no block came from elsewhere.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes<'a> {
    pub(super) names: Vec<&'a str>,
    of: BTreeMap<(Place, u32), usize>,
}

impl<'a> Nodes<'a> {
    pub(super) fn of(record: &'a Record, ids: &Ids<'_>) -> Self {
        if record.away.is_empty() {
            return Self::default();
        }
        let away: BTreeMap<(u32, &str, &str), &str> = record
            .away
            .iter()
            .map(|((pass, workload, condition), from)| ((*pass, &**workload, &**condition), &*from.node))
            .collect();
        // A block that ran here has the machine of its session.
        let hosts: BTreeMap<u32, &str> = record.sessions.iter().map(|one| (one.session, &*one.place.host)).collect();
        let mut of: BTreeMap<(Place, u32), &str> = BTreeMap::new();
        for trial in &record.trials {
            of.entry((ids.place(&trial.workload, &trial.condition), trial.block)).or_insert_with(|| {
                let block = (trial.block, record.suite_of(&trial.workload), &*trial.condition);
                away.get(&block).or_else(|| hosts.get(&trial.session)).copied().unwrap_or_default()
            });
        }
        let names: Vec<&str> = of.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let number = |name: &str| names.binary_search(&name).unwrap_or_default();
        let of = of.into_iter().map(|(block, name)| (block, number(name))).collect();
        Self { names, of }
    }

    /// Whether there are several.
    pub(super) fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    /// The machine of a block, as its place among the names; the first where there is only one, or none is known.
    pub(super) fn of_block(&self, place: Place, block: u32) -> usize {
        self.of.get(&(place, block)).copied().unwrap_or_default()
    }
}
