//! What is to be run of a study by itself: the file that `bakeoff run --shard` reads. It says nothing of who asks: another
//! machine, or a search.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::error::CommandError;
use crate::maker::{Made, Maker, Order};
use bakeoff_host::disk::read_text;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Part, Plan, Variant};
use bakeoff_model::record::AwayKey;
use bakeoff_model::until::Until;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// No such file is larger.
const MOST_BYTES: u64 = 64 << 20;

/// What is to be run.
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
    /// What each block holds, in its order, where that is not the plan's to say.
    #[serde(default)]
    pub order: Vec<String>,
    /// Variants that it holds once more, by other names.
    #[serde(default)]
    pub again: BTreeMap<String, String>,
}

/// What there is for shards, as `run --build-for` writes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Built {
    /// The identity of each variant's build.
    pub digests: BTreeMap<String, String>,
    /// Why others could not be built.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, String>,
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

    /// Makes a plan one of this part.
    pub fn restrict(&self, plan: &mut Plan) {
        plan.part = Some(Part { passes: self.passes.clone(), done: self.done.clone(), order: self.order.clone() });
        if self.order.is_empty() {
            // Whether a variant stops is not for one machine to say.
            plan.keep_going = true;
            return;
        }
        let again = |(name, of): (&String, &String)| {
            let variant = plan.variants.iter().find(|variant| variant.name == *of)?;
            Some(Variant { name: name.clone(), ..variant.clone() })
        };
        let again: Vec<Variant> = self.again.iter().filter_map(again).collect();
        plan.variants.extend(again);
        let baseline = plan.baseline().name.clone();
        plan.variants.retain(|variant| variant.name == baseline || self.order.contains(&variant.name));
        plan.blocks = self.passes.last().copied().unwrap_or(0);
        (plan.until, plan.building) = (Until::Blocks, None);
    }

    /// The builds that it names. Nothing is built for them: a machine that runs trials measures programs that were built
    /// before, or none.
    pub fn made(&self, maker: &dyn Maker, order: &Order<'_>) -> Result<Made, CommandError> {
        let ordered = |variant: &&Variant| self.digests.contains_key(&variant.name);
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
