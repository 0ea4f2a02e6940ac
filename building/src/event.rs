//! What happens while builds are made, as data. Who shows it makes the words.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use std::path::PathBuf;

/// What happens while builds are made.
#[derive(Debug, Clone, PartialEq)]
pub enum BuildEvent {
    /// Something has to be built. Said once, before all that is done for it.
    Missing {
        layers: usize,
        /// How many of them are built at a time at most.
        at_once: usize,
        /// About how long all of it takes, in seconds; none if nobody knows of one of them.
        expected_wall_s: Option<f64>,
    },
    /// A layer in the cache is not as it was when it was finished, and is built again.
    Damaged {
        variants: Vec<String>,
        layer: String,
        /// The first of its files that are damaged, and what is wrong with each, in words.
        files: Vec<String>,
        more: usize,
    },
    /// A source is being fetched.
    Fetching { source: String },
    /// A source was fetched, and kept.
    Fetched {
        source: String,
        bytes: u64,
        /// Whether somebody said what its checksum must be; of a path of this machine nobody need.
        checked: bool,
    },
    /// Files of a commit have a filter in their attributes, which is not run: they are as the commit has them.
    NotFiltered { source: String, filter: String, files: usize },
    /// An earlier build left files in the folder of a source.
    BuiltBefore {
        source: String,
        /// What the copy goes without, so that it is made again.
        left_out: Vec<PathBuf>,
        /// Objects, libraries and programs whose sources are not there: the copy has them.
        kept: Vec<PathBuf>,
    },
    /// Another process is at work on the same thing, or what it started is still ending.
    Waiting { what: String, process: Option<u32> },
    /// A layer is being built.
    Started { variants: Vec<String>, layer: String },
    /// A layer was built.
    Finished {
        variants: Vec<String>,
        layer: String,
        wall_s: f64,
        left: usize,
        /// About how long they take, in seconds; none if nobody knows of one of them.
        left_s: Option<f64>,
    },
    /// A layer could not be built.
    Failed { variants: Vec<String>, layer: String, why: String },
    /// A layer could not be built before, as the study foresees, and is not tried again.
    FailedBefore {
        variants: Vec<String>,
        layer: String,
        /// What was printed then. Without this file it is tried again.
        log: PathBuf,
    },
    /// A layer is in the cache.
    Cached { variants: Vec<String>, layer: String },
}

/// Receives the events; several threads may call it at once.
pub(crate) type Notify<'a> = &'a (dyn Fn(BuildEvent) + Sync);
