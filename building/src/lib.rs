//! Sources and build layers into a content-addressed cache.
//!
//! [`Cache::survey`] says what the builds of a study are and which of them the cache holds; [`Cache::build_all`] makes
//! those that it does not. A build is a chain of *layers*, one for each `[[build]]` of the study, all of which install into one
//! `$PREFIX`; each layer is kept, under a digest of all that went into it, and shared by all variants that do not
//! differ in it. A build that fails is a value ([`BuildOutcome::Failed`]) and stops no other.
//!
//! Whatever kills us leaves nothing to be cleaned by hand: processes die with us, and half a prefix is never taken for
//! a whole one. This crate measures what building costs, but no workload, and it judges nothing.
//!
//! A layer's script is `sh -e`. It starts in a fresh folder with the unpacked source and the study's files, and its
//! environment is empty but for `PATH`, `LC_ALL=C`, `HOME` and `TMPDIR` (fresh folders), `PREFIX`, `JOBS` (its
//! share of the processors), where rustup has its toolchains, and those level variables that the layer mentions. `verify`
//! lines get the same.

mod alike;
mod bolt;
#[cfg(test)]
#[path = "../tests/building/main.rs"]
mod building_tests;
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
mod go;
mod inputs;
mod inventory;
mod journal;
mod judged;
mod kept;
mod layer;
mod layouts;
mod learned;
mod leave;
mod links;
mod maker;
mod manifest;
mod nouns;
mod on_demand;
mod own_tool;
mod paths;
mod profile;
mod proof;
mod relinking;
mod relocate;
mod request;
mod rewriting;
mod rustup;
mod same_code;
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
mod trained;
mod tuning;
mod two_commits;
mod two_programs;
mod unpack;
mod uses;
mod wrapper;
#[cfg(test)]
#[path = "../tests/wrapper/main.rs"]
mod wrapper_tests;
mod wrappers;

pub use cache::Cache;
pub use error::Error;
pub use event::BuildEvent;
pub use journal::{BuildLine, BuildOutcome};
pub use kept::KeptSource;
pub use nouns::{Building, Chain, Source, SourceFrom};
pub use own_tool::OwnTool;
pub use request::Request;
pub use spec::Spec;
pub use survey::Wanted;
pub use two_commits::{Commit, Commits, Subject};
pub use unpack::Limits;
pub use wrappers::CallSummary;

pub(crate) use gc::{Decision, Rule, Why, YOUNG_S, choose, remove};
pub(crate) use inventory::{Inventory, Item, ItemKind};
pub(crate) use manifest::DamageKind;
pub(crate) use nouns::Layer;
pub(crate) use on_demand::OnDemand;
pub(crate) use survey::WantedLayer;
pub(crate) use uses::{KnownStudy, Needs, needs};
#[cfg(test)]
use {
    nouns::CompilerCache,
    sources::FoundSource,
    tuning::Tuning,
    unpack::{Refusal, UnpackError, Unpacked},
};

use bakeoff_command::check::{Check, disk};
use bakeoff_command::{Feature, FindingsSection, MakerRegistration, Registry};
use bakeoff_report::SectionPage;

impl Feature for Building {
    fn register(&self, to: &mut Registry) {
        to.commands.extend(commands::all());
        to.findings.push(FindingsSection {
            page: SectionPage { name: judged::BUILDS, draw: judged::print, causes: |_| vec![], below_doubts: true },
            needs_levels: |_| false,
            find: judged::find,
        });
        to.makers.push(MakerRegistration {
            reader: &Building,
            open: || Ok(Box::new(Cache::open(Cache::default_root()?)?)),
            is_made: |line| line.fields::<BuildLine>().is_ok(),
            describe: judged::describe,
            check,
        });
        to.sources.push(two_commits::REVISIONS);
        to.sources.push(two_programs::PROGRAMS);
    }
}

/// The disk that the cache is on, or would be.
fn check() -> Option<Check> {
    let root = Cache::default_root().ok()?;
    Some(disk(root.ancestors().find(|path| path.exists()).unwrap_or(&root)))
}
