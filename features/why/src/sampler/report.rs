//! What the sampler finds, as plain data.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What was sampled of a command, and of all processes that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Samples {
    /// The time that a sample stands for.
    pub(crate) period_ns: u64,
    /// By file.
    pub(crate) files: Vec<SampledFile>,
    /// Samples in code that is in no file: made during the run, or the kernel's own.
    pub(crate) unnamed: u64,
    /// Samples, and other events, that there was no room for.
    pub(crate) lost: u64,
}

/// The samples in the code of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SampledFile {
    /// Its path, as it was mapped.
    pub(crate) path: PathBuf,
    /// Another file may have the path by now.
    pub(crate) inode: u64,
    /// A place in the file, and how many samples are there.
    pub(crate) places: Vec<[u64; 2]>,
}
