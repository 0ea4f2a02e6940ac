//! Suites: workloads of which one trial runs several benchmarks, each timed by a harness of its own. Here are the
//! nouns, and the trait by which others read what a harness leaves behind; no harness is known here.

use crate::metric::Measurements;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a trial measured, by benchmark.
pub type Parts = BTreeMap<String, Part>;

/// The most benchmarks that a trial may have.
pub const MOST_PARTS: usize = 1000;

/// One benchmark of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Part {
    /// By metric, in base units. Units that are no metric's stand under their own name.
    #[serde(default, skip_serializing_if = "Measurements::is_empty")]
    pub values: Measurements,
    /// Why it has no value that counts, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What a process left for the one that reads its harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// It wrote nothing where it might have: this is its standard output.
    Printed(Vec<u8>),
    /// The file that it wrote.
    File(Vec<u8>),
    /// The files of the folder that it made, by their paths in it.
    Folder(BTreeMap<String, Vec<u8>>),
}

/// Who reads what harnesses leave.
pub trait Harnesses: std::fmt::Debug + Sync {
    /// Reads what a process left that was run under the harness of this name.
    fn read(&self, harness: &str, left: &Left) -> Result<Parts, String>;
}
