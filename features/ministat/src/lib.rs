//! `bakeoff stat --ministat`: what ministat prints, byte for byte, its defects included. Its table of
//! Student's t is in `bakeoff_stats`, because `check-summary` recognises what ministat printed; nothing here judges.

mod args;
mod arithmetic;
mod command;
mod page;
pub mod reading;

use args::{Args, Own};
use bakeoff_command::{Code, CommandMode, Feature, Registry};
use clap::{Args as _, FromArgMatches as _};

/// The slice.
#[derive(Debug)]
pub struct Ministat;

impl Feature for Ministat {
    fn register(&self, to: &mut Registry) {
        to.modes.push(CommandMode {
            of: "stat",
            options: Own::augment_args,
            exits: &[(Code::GateFailed, "with --ministat=legacy: a file cannot be opened")],
            execute: |matches| {
                let own = Own::from_arg_matches(matches).ok()?;
                let edition = own.ministat?;
                Some(command::execute(&Args::of(own, matches), edition))
            },
            plan: |_, _| Ok(()),
        });
    }
}
