//! Parcels: a study with all that its trials can be traced by, in one file. A parcel is a `.tar.zst` of one folder, whose
//! first member, `MANIFEST.json`, lists every other with its size and SHA-256, in the order in which they follow. The
//! same study gives the same bytes: names are sorted, and neither times nor owners are kept.
//!
//! ```text
//! NAME/MANIFEST.json
//! NAME/study/…                 the study's folder: study.toml, study.lock, scripts, patches, expected outputs
//! NAME/journals/<name>.jsonl   what happened, up to the last whole line
//! NAME/layers/<digest>/…       record, manifest and log of each layer, by the first 32 digits of its digest
//! NAME/sources/<sha256>/<file> on request: what the builds were made of; <sha256>.tar where it is a folder
//! NAME/prefixes/<digest>.tar   on request: what was built
//! ```
//!
//! The reader of a parcel trusts nothing in it: see [`open`]. `bakeoff export` and
//! `bakeoff import` are the commands.

mod error;
mod export;
mod folder;
mod format;
mod import;
mod name;
mod open;
mod pack;

pub use error::Error;
pub use folder::files_of_study;
pub use format::{FORMAT, Manifest, Member};
pub use open::{Bounds, open};
pub use pack::{Packed, Packing};

use bakeoff_command::{Feature, Group, Registry, Subcommand};

/// The slice.
#[derive(Debug)]
pub struct Parcel;

impl Feature for Parcel {
    fn register(&self, to: &mut Registry) {
        to.commands.push(Subcommand::with_features("export", export::execute).group(Group::Share));
        to.commands.push(Subcommand::new("import", import::execute).group(Group::Share));
    }
}
