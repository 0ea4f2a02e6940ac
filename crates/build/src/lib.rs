//! Sources and build layers into a content-addressed cache.
//!
//! [`survey`] says what the builds of a study are and which of them the cache holds; [`build_all`] makes those that it
//! does not. A build is a chain of *layers*, one for each `[[build]]` of the study, all of which install into one
//! `$PREFIX`; each layer is kept, under a digest of all that went into it, and shared by all variants that do not
//! differ in it. A build that fails is a value ([`bakeoff_model::record::BuildOutcome::Failed`]) and stops no other.
//!
//! Whatever kills us leaves nothing to be cleaned by hand: processes die with us, and half a prefix is never taken for
//! a whole one. This crate measures what building costs, but no workload, and it judges nothing.
//!
//! A layer's script is `sh -e`. It starts in a fresh folder with the unpacked source and the study's files, and its
//! environment is empty but for `PATH`, `LC_ALL=C`, `HOME` and `TMPDIR` (fresh folders), `PREFIX`, `JOBS` (its
//! share of the processors) and those level variables that the layer mentions. `verify` lines get the same.

mod aside;
mod cache;
mod chosen;
mod error;
pub mod facts;
mod foreseen;
mod gc;
mod inputs;
mod inventory;
mod layer;
mod leave;
mod loader;
mod manifest;
pub mod parcel;
mod proof;
mod relocate;
mod schedule;
mod shell;
mod sources;
mod tools;
mod tools_seen;
mod unpack;
mod uses;
mod wrappers;

pub use aside::{Aside, Command, Failed};
pub use cache::Cache;
pub use error::Error;
pub use gc::{Decision, Removed, Rule, Why, YOUNG_S, choose, remove};
pub use inventory::{Inventory, Item, Kind};
pub use leave::{Leave, Quiet};
pub use loader::executed_with;
pub use manifest::{Damage, DamageKind};
pub use schedule::build_all;
pub use sources::{Found, NotFound, find_source, import_source};
pub use unpack::{Limits, Refusal, UnpackError, Unpacked, unpack_archive};
pub use uses::{KnownStudy, Needs, needs};

use bakeoff_model::plan::Variant;
use bakeoff_model::study::{Layer, Source};
use inputs::{Link, chains, missing_tool, stages};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The builds that a study needs.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The study's folder: where sources are fetched from and files taken from.
    pub study_dir: &'a Path,
    /// The study's sources.
    pub sources: &'a [Source],
    /// The layers, first one first. None: nothing is built.
    pub layers: &'a [Layer],
    /// The variants: their build variables, patches and sources count here, and nothing else of them.
    pub variants: &'a [Variant],
    /// How many layers are built at a time; 0 counts as 1.
    pub jobs: usize,
}

/// One build that a study needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Digest of everything that goes in: the digest of its last layer.
    pub digest: String,
    /// Where it is, or will be, installed.
    pub prefix: PathBuf,
    /// Display names of the variants that execute it.
    pub variants: Vec<String>,
    /// Its layers, first one first.
    pub layers: Vec<WantedLayer>,
    /// The first tool that it needs and that is not there: it cannot be built.
    pub missing_tool: Option<MissingTool>,
    /// The layer that failed before, as the study foresees: it is not tried again.
    pub failed_before: Option<String>,
}

impl Wanted {
    /// The layers that are still to be built.
    pub fn missing(&self) -> impl Iterator<Item = &WantedLayer> {
        self.layers.iter().filter(|layer| self.failed_before.is_none() && !layer.cached)
    }
}

/// One layer of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedLayer {
    /// Its name in the study.
    pub name: String,
    /// Digest of everything that goes in.
    pub digest: String,
    /// True if nothing has to be done.
    pub cached: bool,
    /// About how long its script takes, in seconds: of a cached one, as long as it took; else the mean of the layers of
    /// this name that the cache holds, else what the study's author says.
    pub expected_wall_s: Option<f64>,
    /// About how much of the disk it keeps, in bytes; known from where the time is known from.
    pub expected_bytes: Option<f64>,
    /// The source that it takes, if it takes one.
    pub source: Option<WantedSource>,
}

/// A source of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedSource {
    /// Its name in the study.
    pub name: String,
    /// True if the cache has it; whether it is still what was accepted is seen when it is used.
    pub cached: bool,
    /// About how much is fetched, in bytes, as the study's author says.
    pub expected_bytes: Option<u64>,
}

/// A tool that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// The layer that needs it.
    pub layer: String,
    /// The tool's name.
    pub tool: String,
}

impl MissingTool {
    /// What is wrong, and the remedy, in words.
    pub fn why(&self) -> String {
        let tool = &self.tool;
        if tool.starts_with('/') {
            format!("needs `{tool}`, which is not an executable file; install it, or correct the path in the study")
        } else {
            format!("needs `{tool}`, which is not on PATH; install it, or add its folder to PATH")
        }
    }
}

/// What happens while builds are made.
#[derive(Debug, Clone, PartialEq)]
pub enum BuildEvent {
    /// Something has to be built. Said once, before all that is done for it.
    Missing {
        /// How many layers.
        layers: usize,
        /// How many of them are built at a time at most.
        at_once: usize,
        /// About how long all of it takes, in seconds; none if nobody knows of one of them.
        expected_wall_s: Option<f64>,
    },
    /// A layer in the cache is not as it was when it was finished, and is built again.
    Damaged {
        /// The variants that need it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
        /// The first of its files that are damaged, and what is wrong with each, in words.
        files: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// A source is being fetched.
    Fetching {
        /// Its name in the study.
        source: String,
    },
    /// A source was fetched, and kept.
    Fetched {
        /// Its name in the study.
        source: String,
        /// The size of its file.
        bytes: u64,
        /// Whether somebody said what its checksum must be; of a path of this machine nobody need.
        checked: bool,
    },
    /// Another process is at work on the same thing, or what it started is still ending.
    Waiting {
        /// The layer or source in question, in words.
        what: String,
        /// The other process, if it is known.
        process: Option<u32>,
    },
    /// A layer is being built.
    Started {
        /// The variants that need it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
    },
    /// A layer was built.
    Finished {
        /// The variants that need it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
        /// How long its script took.
        wall_s: f64,
        /// How many layers are still to be built or being built, by this call.
        left: usize,
        /// About how long they take, in seconds; none if nobody knows of one of them.
        left_s: Option<f64>,
    },
    /// A layer could not be built.
    Failed {
        /// The variants that needed it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
        /// Why, in one line.
        why: String,
    },
    /// A layer could not be built before, as the study foresees, and is not tried again.
    FailedBefore {
        /// The variants that need it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
        /// What was printed then. Without this file it is tried again.
        log: PathBuf,
    },
    /// A layer is in the cache.
    Cached {
        /// The variants that need it.
        variants: Vec<String>,
        /// Its name in the study.
        layer: String,
    },
}

/// Who is told; several threads may tell at once.
type Notify<'a> = &'a (dyn Fn(BuildEvent) + Sync);

/// The builds that a request amounts to, in the order of the first variants, and what the cache holds of them. Nothing
/// is started but tools, which are asked for their versions.
///
/// # Errors
/// Any [`Error`].
pub fn survey(cache: &Cache, request: &Request<'_>) -> Result<Vec<Wanted>, Error> {
    let stages = stages(cache, request)?;
    let usual = OnceCell::new();
    let expected = |layer: &Layer| match usual.get_or_init(|| cache.usual()).get(&layer.name) {
        Some(usual) => (Some(usual.wall_s), Some(usual.bytes)),
        None => (layer.takes_s, layer.disk_bytes.map(|bytes| bytes as f64)),
    };
    let source = |index: usize, pin: &str| WantedSource {
        name: request.sources[index].name.clone(),
        cached: cache.source_folder(pin).is_dir(),
        expected_bytes: request.sources[index].disk_bytes,
    };
    let wanted = chains(&stages).into_iter().filter_map(|chain| {
        let failed = |link: &&Link<'_, '_>| foreseen::remembered(cache, link.node, request.variants).is_some();
        let failed_before = chain.iter().find(failed).map(|link| link.layer.name.clone());
        Some(Wanted { failed_before, ..wanted(cache, &chain, &expected, &source)? })
    });
    Ok(wanted.collect())
}

/// About how long a layer takes, in seconds, and how much it keeps, in bytes.
type Expected<'a> = dyn Fn(&Layer) -> (Option<f64>, Option<f64>) + 'a;

/// None if the chain has no layers, and so is no build.
fn wanted(
    cache: &Cache,
    chain: &[Link<'_, '_>],
    expected: &Expected<'_>,
    source: &dyn Fn(usize, &str) -> WantedSource,
) -> Option<Wanted> {
    let last = chain.last()?.node;
    let layer = |link: &Link<'_, '_>| {
        let record = cache.finished_layer(&link.node.digest, link.layer);
        // The records of a whole cache are read only if it has to be guessed.
        let (expected_wall_s, expected_bytes) = match &record {
            Some(record) => (record.cost.get("wall").copied(), Some(record.bytes() as f64)),
            None => expected(link.layer),
        };
        WantedLayer {
            name: link.layer.name.clone(),
            digest: link.node.digest.clone(),
            cached: record.is_some(),
            expected_wall_s,
            expected_bytes,
            source: link.node.source.zip(link.node.source_pin.as_deref()).map(|(index, pin)| source(index, pin)),
        }
    };
    Some(Wanted {
        digest: last.digest.clone(),
        prefix: cache.prefix_of(&last.digest),
        variants: last.variants.clone(),
        layers: chain.iter().map(layer).collect(),
        missing_tool: missing_tool(chain),
        failed_before: None,
    })
}
