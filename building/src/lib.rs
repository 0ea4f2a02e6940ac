//! Sources and build layers into a content-addressed cache.
//!
//! [`survey`] says what the builds of a study are and which of them the cache holds; [`build_all`] makes those that it
//! does not. A build is a chain of *layers*, one for each `[[build]]` of the study, all of which install into one
//! `$PREFIX`; each layer is kept, under a digest of all that went into it, and shared by all variants that do not
//! differ in it. A build that fails is a value ([`bakeoff_model::record::BuildOutcome::Failed`]) and stops no other.
//!
//! Whatever kills us leaves nothing to be cleaned by hand: processes die with us, and half a prefix is never taken for
//! a whole one. This crate measures what building costs, but no workload, and it judges nothing.
//!
//! A layer's script is `sh -e`. It starts in a fresh folder with the unpacked source and the study's files, and its
//! environment is empty but for `PATH`, `LC_ALL=C`, `HOME` and `TMPDIR` (fresh folders), `PREFIX`, `JOBS` (its
//! share of the processors), where rustup has its toolchains, and those level variables that the layer mentions. `verify`
//! lines get the same.

mod alike;
mod cache;
mod chosen;
mod commands;
mod cost;
mod during;
mod error;
mod event;
mod files;
mod foreseen;
mod gc;
mod inputs;
mod inventory;
mod kept;
mod layer;
mod learned;
mod leave;
mod maker;
mod manifest;
mod nouns;
mod on_demand;
mod paths;
mod profile;
mod proof;
mod relinking;
mod relocate;
mod request;
mod rustup;
mod schedule;
mod shell;
mod site;
mod source_notes;
mod sources;
mod spec;
mod study_file;
mod survey;
mod takes;
mod tools;
mod tools_seen;
mod tuning;
mod unpack;
mod uses;
mod wrapper;
#[cfg(test)]
#[path = "../tests/wrapper/main.rs"]
mod wrapper_tests;
mod wrappers;

pub use cache::Cache;
pub use chosen::files as files_meant;
pub use commands::build::{build, tell};
pub use error::Error;
pub use event::BuildEvent;
pub use gc::{Decision, Removed, Rule, Why, YOUNG_S, choose, remove};
pub use inputs::MissingTool;
pub use inventory::{Inventory, Item, Kind};
pub use kept::{KeptSource, kept_of_layer, kept_prefix, kept_source, kept_tree, made_by, short_name};
pub use leave::{Leave, Quiet};
pub use manifest::{Damage, DamageKind};
pub use nouns::{Chain, CompilerCache, Layer, Source, SourceFrom};
pub use on_demand::{Command, Failed, OnDemand};
pub use proof::differences;
pub use request::Request;
pub use schedule::build_all;
pub use source_notes::source_note;
pub use sources::{Found, NotFound, commit_now, find_source, import_source, pinned_revision, place_in_repository};
pub use spec::Spec;
pub use study_file::StudyFile;
pub use study_file::lock::{Lock, Locked, State, parse as parse_lock};
pub use survey::{Wanted, WantedLayer, WantedSource, survey};
pub use tuning::Tuning;
pub use unpack::{Limits, Refusal, UnpackError, Unpacked, unpack_archive};
pub use uses::{KnownStudy, Needs, needs};
pub use wrapper::compiles_or_links;
pub use wrappers::Made;

use bakeoff_command::{Feature, Making, Registry};
use bakeoff_host::doctor::{Check, disk};

/// The place where variants are built.
pub struct Building;

impl Feature for Building {
    fn register(&self, to: &mut Registry) {
        to.commands.extend(commands::all());
        to.makers.push(Making {
            builder: &StudyFile,
            open: || Ok(Box::new(Cache::open(Cache::default_root()?)?)),
            check,
        });
    }
}

/// The disk that the cache is on, or would be.
fn check() -> Option<Check> {
    let root = Cache::default_root().ok()?;
    Some(disk(root.ancestors().find(|path| path.exists()).unwrap_or(&root)))
}
