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
//! Whoever opens a parcel trusts nothing in it: see [`open`]. Nothing here knows what a journal says.

mod error;
mod folder;
mod kept;
mod name;
mod open;
mod pack;

pub use error::Error;
pub use folder::files_of_study;
pub use kept::{files_of_layer, kept_source, prefix_of_layer, short_name};
pub use name::top_of;
pub use open::{Bounds, open};
pub use pack::{Packed, Packing};

use serde::{Deserialize, Serialize};

/// The version of the format that this program writes. Newer ones are refused.
pub const FORMAT: u32 = 1;

/// The name of the list of members.
pub(crate) const MANIFEST: &str = "MANIFEST.json";

/// The parts of a parcel; every member is in one of them.
pub(crate) const PARTS: [&str; 5] = ["study", "journals", "layers", "sources", "prefixes"];

/// What a parcel says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// The version of Bakeoff that wrote it.
    pub bakeoff: String,
    /// The study's name.
    pub study: String,
    /// The journal that a report is about, without its folder; none if the study was not executed yet.
    pub latest: Option<String>,
    /// Where the prefixes were built, if there are any: they are good for nothing at another path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// Every other member, sorted by name.
    pub members: Vec<Member>,
}

/// One file of a parcel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its path below the parcel's folder, with slashes.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Whether it may be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}
