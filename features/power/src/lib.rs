//! How many blocks a study takes, from a pilot or from a spread: the command and its page. The numbers are those of
//! `bakeoff_judge::planning`, which others need too.

mod command;
mod page;

use bakeoff_command::{Feature, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Power;

impl Feature for Power {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("power", command::execute));
    }
}
