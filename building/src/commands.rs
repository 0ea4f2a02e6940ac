//! The commands of building, one file each.

pub(crate) mod build;
mod cache;
mod gc;
mod lock;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, Subcommand};

const STOPPED: Exit = (Code::Interrupted, "interrupted; the same command resumes");

/// All of them, each behind the one that it follows in the help.
pub(crate) fn all() -> Vec<Subcommand> {
    vec![
        Subcommand::with_features("build", build::execute)
            .after("power")
            .exits(&[(Code::VariantFailed, "a variant could not be built"), STOPPED]),
        Subcommand::with_features("lock", lock::execute).after("power").exits(&[
            (Code::GateFailed, "--check: a source has no hash that counts"),
            (Code::VariantFailed, "a source could not be fetched"),
            STOPPED,
        ]),
        Subcommand::new("cache", cache::execute).after("saved"),
        Subcommand::with_features("gc", gc::execute)
            .after("saved")
            .exits(&[(Code::Interrupted, "interrupted; what was removed is gone")]),
    ]
}
