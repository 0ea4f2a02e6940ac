//! What a run on other machines is to do: the command's words, and the passes of each shard. Shards are only ever added.

use bakeoff_command::CommandError;
use bakeoff_model::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The version of a run's files.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) format: u32,
    /// The version of Bakeoff that began the run.
    pub(crate) bakeoff: String,
    /// The program's file in the run's folder: all machines run this one.
    pub(crate) program: String,
    /// The study's file below the run's copy of its folder.
    pub(crate) study: String,
    /// Options of `bakeoff run` for each shard, but for the number of blocks.
    pub(crate) words: Vec<String>,
    /// Blocks for each workload and condition.
    pub(crate) blocks: u32,
    /// Whether anything is built.
    pub(crate) builds: bool,
    /// The folder of builds, on the machines of the trials.
    pub(crate) cache: String,
    /// Where trials have their own folders there, if not in the run's folder; variables are those of the node.
    pub(crate) scratch: Option<String>,
    /// `--jobs` of the builds.
    #[serde(default)]
    pub(crate) jobs: Option<u16>,
    /// The locale of trials: that of the command that began the run. Jobs have another one, or none.
    pub(crate) locale: BTreeMap<String, String>,
    pub(crate) shards: Vec<BTreeSet<u32>>,
}

impl Order {
    /// Fails if a newer version wrote it.
    pub(crate) fn check(&self, path: &Path) -> Result<(), CommandError> {
        if self.format <= FORMAT {
            return Ok(());
        }
        let path = bakeoff_model::plain::clean(&path.display().to_string());
        let error =
            format!("{path} has format {}, and this version of Bakeoff reads only formats up to {FORMAT}", self.format);
        Err(CommandError::usage(error).hint(format!("use Bakeoff {} or newer", self.bakeoff)))
    }

    /// One without shards.
    pub(crate) fn of(words: Vec<String>, plan: &Plan, builds: bool) -> Self {
        Self {
            format: FORMAT,
            bakeoff: env!("CARGO_PKG_VERSION").to_owned(),
            words,
            blocks: plan.blocks,
            builds,
            locale: bakeoff_command::locale::of_user(),
            ..Self::default()
        }
    }

    /// Adds shards for those of the passes up to `last` that no shard has, at most `nodes` of them with at most `each` passes
    /// each, or more shards if that does not suffice. Returns whether there were any.
    pub(crate) fn extend(&mut self, plan: &Plan, last: u32, nodes: u32, each: u32) -> bool {
        let known: BTreeSet<u32> = self.shards.iter().flatten().copied().collect();
        let missing: Vec<u32> = (1..=last).filter(|pass| !known.contains(pass)).collect();
        let turns: BTreeSet<u32> = missing.iter().map(|pass| plan.shard_of(*pass, u32::MAX)).collect();
        let needed = missing.len().div_ceil(each.max(1) as usize) as u32;
        let shards = nodes.max(needed).min(turns.len() as u32).max(1);
        let mut dealt: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for pass in missing {
            dealt.entry(plan.shard_of(pass, shards)).or_default().insert(pass);
        }
        let is_any = !dealt.is_empty();
        self.shards.extend(dealt.into_values());
        is_any
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.shards.len() as u32
    }
}
