//! Searching: `tune` finds the best variant under a budget, and `bisect` the commit that changed the speed. They build and run what
//! the methods of `bakeoff-searching` ask for, each block as a shard of a study, and tell what was found. They decide nothing.

mod blocks;
mod budget;
#[cfg(feature = "building")]
mod commits;
mod only_here;
mod progress;
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
    let mut bisect = Subcommand::with_features("bisect", commits::search).group(Group::Measure);
    bisect.script = Some("--script");
    bisect.exits(&[
        (Code::GateFailed, "--script: the commit is bad"),
        (Code::VariantFailed, "the good or the bad commit could not be built, or its runs failed"),
        (Code::Untestable, "--script: the commit cannot be built or judged"),
        (Code::Abort, "--script: an error; `git bisect run` stops"),
        (Code::Interrupted, "interrupted; run the same command again to resume"),
    ])
}
