//! `bakeoff init`: from source code to a study of it. It recognises the build system, builds a copy once as it is, finds the
//! program, and writes a study file with what it saw. It measures nothing that is reported: that is `bakeoff run`.
//!
//! [`command`] goes through the steps in order: [`origin`], [`recognise`] with [`registry`], [`script`], [`plain`], [`products`] or a [`library`],
//! [`levels`] with [`rust`] and [`training`]; [`debian`], [`foretold`] and [`shell`] are asked on the way; [`offer`] with [`workload`], [`targets`] and [`tryout`]; [`start`] with [`write`],
//! [`prove`], [`expect`] and [`stage`], whose attempts may come to a [`fault`]. [`add_level`] edits a study that is there; [`ask`] is where a user answers, [`progress`] what is drawn
//! meanwhile.

mod add_level;
mod ask;
mod command;
mod debian;
mod expect;
mod fault;
mod foretold;
mod levels;
mod library;
mod offer;
mod origin;
mod plain;
mod products;
mod progress;
mod prove;
mod recognise;
mod registry;
mod rust;
mod script;
mod shell;
mod stage;
mod start;
mod targets;
mod training;
mod tryout;
mod walk;
mod workload;
mod write;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, Feature, Registry, Subcommand};

/// How `bakeoff init` may end.
const ENDS: [Exit; 2] = [
    (Code::VariantFailed, "the source could not be built, or the workload failed"),
    (Code::Interrupted, "interrupted; run the same command again (finished builds are kept)"),
];

/// The slice.
#[derive(Debug)]
pub struct Starter;

impl Feature for Starter {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("init", command::execute).exits(&ENDS));
    }
}
