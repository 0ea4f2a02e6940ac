//! The format: the head of a parcel.

use serde::{Deserialize, Serialize};

/// The version of the format that this program writes. Newer ones are refused.
pub const FORMAT: u32 = 1;

/// The name of the list of members.
pub(crate) const MANIFEST: &str = "MANIFEST.json";

/// The parts of a parcel; every member is in one of them.
pub(crate) const PARTS: [&str; 5] = ["study", "journals", "layers", "sources", "prefixes"];

/// The head of a parcel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// The version of Bakeoff that wrote it.
    pub bakeoff: String,
    /// The study's name.
    pub study: String,
    /// The journal that a report is about, without its folder; none if the study was not run yet.
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
    /// Whether it may be run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}
