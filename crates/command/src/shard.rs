//! What one machine of several is to run of a study: the file that `bakeoff run --shard` reads. It says nothing of how that
//! machine was reached.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::error::CommandError;
use crate::maker::{Made, Maker, Order};
use bakeoff_host::disk::read_text;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Part;
use bakeoff_model::record::AwayKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// No such file is larger.
const MOST_BYTES: u64 = 64 << 20;

/// What one machine is to run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Shard {
    /// The machine's name where it is one of several.
    pub node: String,
    /// Its journal, which is not there yet.
    pub journal: PathBuf,
    /// Where its trials have their own folders, if not next to the journal.
    pub scratch: Option<PathBuf>,
    pub passes: BTreeSet<u32>,
    /// Blocks of these that were run already.
    pub done: BTreeSet<AwayKey>,
    /// The identity of each variant's build, if anything is built.
    pub digests: BTreeMap<String, String>,
}

impl Shard {
    /// Reads it.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let read = read_text(path, MOST_BYTES).map_err(|error| error.to_string());
        let read = read.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        read.map_err(|why| {
            CommandError::usage(format!("cannot read the shard {}: {why}", clean(&path.display().to_string())))
                .hint("`bakeoff run --on` writes such files; run it again")
        })
    }

    /// The part of the plan that it is.
    pub fn part(&self) -> Part {
        Part { passes: self.passes.clone(), done: self.done.clone() }
    }

    /// The builds that it names. Nothing is built for them: a machine that runs trials measures programs that were built
    /// before, or none.
    pub fn made(&self, maker: &dyn Maker, order: &Order<'_>) -> Result<Made, CommandError> {
        let ordered = |variant: &&bakeoff_model::plan::Variant| self.digests.contains_key(&variant.name);
        let mut plan = order.plan.clone();
        plan.variants = order.plan.variants.iter().filter(ordered).cloned().collect();
        let order = Order { plan: &plan, ..*order };
        if let Some(missing) = maker.foresee(&order)?.missing {
            return Err(CommandError::usage(format!("{missing} on {}, and a shard builds nothing", clean(&self.node)))
                .hint("build on a machine of the same kind, with the same tools, into the same folder"));
        }
        let made = maker.make(&order)?;
        match self.digests.iter().find(|(variant, digest)| made.digests.get(*variant) != Some(digest)) {
            None => Ok(made),
            Some((variant, _)) => Err(CommandError::usage(format!(
                "{} would make another build of {}: its tools are other ones",
                clean(&self.node),
                clean(variant)
            ))
            .hint("build on a machine of the same kind as those of the trials")),
        }
    }
}
