//! `bakeoff check-summary`: figures that somebody published, read from text; whether they can be, what they show, and
//! whether claims about them hold. It measures nothing and knows no study.

pub mod check;
mod command;
pub mod figures;
mod page;
pub mod published;

use bakeoff_command::{Code, Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct CheckSummary;

impl Feature for CheckSummary {
    fn register(&self, to: &mut Registry) {
        let failed = (Code::GateFailed, "--require: a figure is impossible, or a claim or conclusion is not supported");
        to.commands.push(Subcommand::new("check-summary", command::execute).group(Group::Report).exits(&[failed]));
    }
}
