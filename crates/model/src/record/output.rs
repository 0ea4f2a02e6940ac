//! What a journal keeps of what trials printed: how much it was, a digest that distinguishes outputs, and of the
//! first that was another one, where. The outputs themselves are not kept.

use serde::{Deserialize, Serialize};

/// The digest is of at most this number of bytes.
pub const HASHED_BYTES: u64 = 64 << 20;

/// What one process printed on its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Output {
    /// How many bytes.
    pub bytes: u64,
    /// SHA-256 of the first [`HASHED_BYTES`] of them; empty if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

/// Where an output first differs from the baseline's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputDifference {
    /// Which process printed it, from 1.
    pub process: u32,
    /// The first byte that differs, from 0.
    pub byte: u64,
    /// The line that it is in, from 1.
    pub line: u64,
    /// That line of the baseline's output. None if it has no such line; if neither has, they are not text.
    pub baseline: Option<String>,
    /// That line of this output.
    pub printed: Option<String>,
}
