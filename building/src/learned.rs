//! What a process has learned of sources and tools and need not look up again. Data only: how it is learned is the business
//! of `sources/pins.rs` and `tools.rs`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// The hashes of paths, as they were when the layers were last named.
pub(crate) type Pins = Mutex<BTreeMap<PathBuf, String>>;

/// What this process has learned of tools: asked once, and held for as long as the process lives.
pub(crate) type Toolbox = Mutex<Learned>;

#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// By the name that the study uses, and whether the tool was asked.
    pub(crate) by_name: BTreeMap<(String, bool), Option<String>>,
    /// What the cache folder keeps, once it has been read.
    pub(crate) kept: Option<ToolFiles>,
}

/// What is known of tools, by the paths at which they were found.
pub(crate) type ToolFiles = BTreeMap<String, ToolFile>;

/// The identity of a tool, and the file that has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolFile {
    pub(crate) real: PathBuf,
    /// Device, inode, size, and times of last change in nanoseconds.
    pub(crate) stat: String,
    pub(crate) sha256: String,
    /// The first line that it prints if it is asked, if it was; empty if it knows none.
    pub(crate) version: Option<String>,
}

impl ToolFile {
    /// In one line, for people and for the names of builds.
    pub(crate) fn text(&self, asked: bool) -> String {
        let version = self.version.as_deref().filter(|version| asked && !version.is_empty());
        let version = version.map(|version| format!("{version}, ")).unwrap_or_default();
        format!("{} ({version}sha256 {})", self.real.display(), self.sha256)
    }
}
