//! What the sampler finds, as plain data.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What was sampled of a command, and of all processes that came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// The time that a sample stands for.
    pub period_ns: u64,
    /// By file.
    pub files: Vec<SampledFile>,
    /// Samples in code that is in no file: made during the run, or the kernel's own.
    pub unnamed: u64,
    /// Samples, and other events, that there was no room for.
    pub lost: u64,
}

/// The samples in the code of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledFile {
    /// Its path, as it was mapped.
    pub path: PathBuf,
    /// Another file may have the path by now.
    pub inode: u64,
    /// A place in the file, and how many samples are there.
    pub places: Vec<[u64; 2]>,
}
