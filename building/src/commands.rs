//! The commands of building, one file each.

pub(crate) mod build;
mod cache;
mod gc;
mod lock;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, Group, Subcommand};

const STOPPED: Exit = (Code::Interrupted, "interrupted; run the same command again to resume");

/// All of them, in the order of the help.
pub(crate) fn all() -> Vec<Subcommand> {
    vec![
        Subcommand::with_features("build", build::execute)
            .group(Group::Build)
            .exits(&[(Code::VariantFailed, "a build failed that should have succeeded"), STOPPED]),
        Subcommand::with_features("lock", lock::execute).group(Group::Build).exits(&[
            (Code::GateFailed, "--check: a source has no valid hash"),
            (Code::VariantFailed, "a source could not be fetched"),
            STOPPED,
        ]),
        Subcommand::new("cache", cache::execute).group(Group::Maintain),
        Subcommand::with_features("gc", gc::execute)
            .group(Group::Maintain)
            .exits(&[(Code::Interrupted, "interrupted; items already removed stay removed")]),
    ]
}
