//! Runs the trials of a study on several machines: the nodes of a cluster, or hosts that ssh reaches. Each machine
//! runs whole blocks of the same plan by the same program. There is no daemon and no queue of our own.

mod asking;
mod begin;
mod blocks;
mod calls;
mod collect;
mod folders;
mod jobs;
mod machines;
mod on;
mod order;
mod page;
mod run_folder;
mod shard;
mod site;
mod slurm;
mod slurm_site;
mod ssh_site;
mod standing;

use bakeoff_command::{Elsewhere, Feature, Group, Registry, Subcommand};
use clap::Args as _;

/// The slice.
#[derive(Debug)]
pub struct Cluster;

impl Feature for Cluster {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("jobs", jobs::execute).group(Group::Measure));
        to.commands.push(Subcommand::new("shard", shard::execute).hidden());
        to.elsewhere.push(Elsewhere { options: on::Options::augment_args, run: on::run });
    }
}
