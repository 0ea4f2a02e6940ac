//! A boot of a variant's kernel, with the trials that were run in it. It is one line of a journal, so that its trials are
//! there together or not at all: a boot that was cut off has left no trace, and is what is repeated. Its trials stand among
//! the others of a [`super::Record`].

use super::place::{Place, Unavailable};
use super::trial::{Trial, is_zero};
use serde::{Deserialize, Serialize};

/// A boot ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Boot {
    /// The session.
    pub session: u32,
    /// Number of its pass, from 1.
    pub pass: u32,
    /// The variant whose kernel was booted, or [`super::TWIN`] for the baseline's second boot.
    pub variant: String,
    /// 0 for the first; counts up where a void one was repeated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// What was booted, as it described itself; none if it did not come so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What was drawn for it: words on the kernel's command line, and memory in bytes.
    pub drawn: Drawn,
    /// What it cost this host: `wall`, `user`, `sys` and the like of the machine's process.
    #[serde(default)]
    pub cost: crate::metric::Measurements,
    /// What could not be measured in it, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// Its trials, in the order in which they were run.
    pub trials: Vec<Trial>,
}

/// Nuisances of a boot, fresh for each: equal boots of an emulated machine are the same to the bit, and would be one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Drawn {
    /// Bytes that the kernel's command line is padded with.
    pub padding: u32,
    /// Memory beyond what the study asks for, in pages of 4 KiB.
    pub pages: u32,
}
