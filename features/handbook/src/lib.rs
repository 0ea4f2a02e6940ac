//! What the program carries for users who have no checkout: pages of the documentation, as topics of `bakeoff help`, and
//! the studies of this repository, which `bakeoff studies copy` writes out. It reads no study and runs nothing.

mod help;
mod page;
mod studies;
mod topics;

use bakeoff_command::{Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Handbook;

impl Feature for Handbook {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::new("studies", studies::execute).group(Group::Learn));
        to.commands.push(Subcommand::new("help", help::execute).group(Group::Learn));
    }
}
