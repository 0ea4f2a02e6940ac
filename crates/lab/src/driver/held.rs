//! What a record holds of a plan, and so what is missing. It runs nothing.

use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Block, RELAID, Record, TWIN, Trial};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The attempt that comes next for each variant of a block; none where no other follows.
pub(super) type Next<'a> = BTreeMap<&'a str, Option<u32>>;

/// What of a block the record does not hold.
pub(super) struct Missing<'a> {
    /// As it was begun, or else as it is planned.
    pub(super) block: &'a Block,
    pub(super) is_begun: bool,
    pub(super) next: Next<'a>,
}

impl Missing<'_> {
    pub(super) fn is_any(&self) -> bool {
        self.next.values().any(Option::is_some)
    }
}

/// What tells one block from another: pass, workload, condition.
pub(super) type Key<'a> = (u32, &'a str, &'a str);

/// What a record holds of each block. A record is looked through once, however many blocks are then asked for.
pub(super) struct Held<'a> {
    /// All of its trials.
    pub(super) trials: &'a [Trial],
    /// Passes of which a block was begun.
    pub(super) passes: HashSet<u32>,
    begun: HashMap<Key<'a>, &'a Block>,
    /// The attempt that comes next, for each variant with a trial in the block; none after the final one.
    next: HashMap<Key<'a>, HashMap<&'a str, Option<u32>>>,
    /// Those that can be run: the plan's variants and the twin. A block may have been begun with another one,
    /// whose build fails today.
    names: HashSet<&'a str>,
}

impl<'a> Held<'a> {
    pub(super) fn of(plan: &'a Plan, record: &'a Record) -> Self {
        let names = plan.variants.iter().map(|variant| variant.name.as_str()).chain([TWIN, RELAID]).collect();
        let passes = record.blocks.iter().map(|block| block.block).collect();
        let mut begun = HashMap::new();
        for block in &record.blocks {
            // The first word on a block's order is the one that its trials follow.
            begun.entry(key(block)).or_insert(block);
        }
        let mut next: HashMap<Key<'a>, HashMap<&'a str, Option<u32>>> = HashMap::new();
        for trial in &record.trials {
            let of_block = next.entry((trial.block, &trial.workload, &trial.condition)).or_default();
            let attempt = of_block.entry(&trial.variant).or_insert(Some(0));
            *attempt = attempt.filter(|_| !trial.is_final()).map(|known| known.max(trial.attempt + 1));
        }
        Self { passes, begun, next, names, trials: &record.trials }
    }

    pub(super) fn of_block<'b>(&'b self, planned: &'b Block) -> Missing<'b> {
        let begun = self.begun.get(&key(planned)).copied();
        let block = begun.unwrap_or(planned);
        let held = self.next.get(&key(planned));
        let attempt = |variant: &str| held.and_then(|held| held.get(variant)).copied().unwrap_or(Some(0));
        let executable = block.order.iter().filter(|variant| self.names.contains(variant.as_str()));
        let next = executable.map(|variant| (variant.as_str(), attempt(variant))).collect();
        Missing { block, is_begun: begun.is_some(), next }
    }
}

fn key(block: &Block) -> Key<'_> {
    (block.block, &block.workload, &block.condition)
}
