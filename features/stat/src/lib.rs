//! `bakeoff stat`: samples that somebody else measured, judged. The files are read by `bakeoff_readers` and judged by
//! `bakeoff_judge`, both of which others need too; here are the command, its files, and its page.

mod command;
mod foreign;
mod input;
pub mod page;
#[cfg(test)]
mod tests;
mod titled;

use bakeoff_command::{Code, Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Stat;

impl Feature for Stat {
    fn register(&self, to: &mut Registry) {
        let no_verdict = (Code::Undecided, "--require-verdict: a comparison has no verdict");
        to.commands.push(Subcommand::new("stat", command::execute).group(Group::Report).exits(&[no_verdict]));
    }
}
