//! Searching: the race that finds the best build under a budget, and the bisection that finds the commit that changed the
//! speed, each with a proven error. The methods are pure: they open no file, start nothing and read no clock. What to run next
//! follows from a seed and from the outcomes so far. The commands run it, each block as a shard of a study.

#![allow(missing_docs, reason = "the names of fields and variants say what they are; where not, a comment does")]

pub mod ablation;
pub mod bets;
pub mod bisect;
mod blocks;
mod budget;
#[cfg(feature = "building")]
mod commits;
mod places;
mod progress;
pub mod race;
pub mod screening;
pub mod space;
mod tune;

use bakeoff_command::{Code, Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Search;

impl Feature for Search {
    fn register(&self, to: &mut Registry) {
        let tune = Subcommand::with_features("tune", tune::execute).group(Group::Measure);
        to.commands.push(tune.exits(&[
            (Code::VariantFailed, "the baseline could not be built"),
            (Code::Interrupted, "interrupted; run the same command again to resume"),
        ]));
        #[cfg(feature = "building")]
        to.commands.push(bisect());
    }
}

#[cfg(feature = "building")]
fn bisect() -> Subcommand {
    let mut bisect = Subcommand::with_features("bisect", commits::execute).group(Group::Measure);
    bisect.script = Some("--script");
    bisect.exits(&[
        (Code::GateFailed, "--script: the commit is bad"),
        (Code::VariantFailed, "the good or the bad commit could not be built, or its runs failed"),
        (Code::Untestable, "--script: the commit cannot be built or judged"),
        (Code::Abort, "--script: an error; `git bisect run` stops"),
        (Code::Interrupted, "interrupted; run the same command again to resume"),
    ])
}

#[cfg(test)]
mod tests;
