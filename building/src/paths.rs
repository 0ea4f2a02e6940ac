//! Where everything lies in the cache folder: names and paths, and nothing that is done there.
//!
//! ```text
//! sources/<sha256>/<file>   accepted sources; a folder is called `tree` there
//! builds/<name>/            the prefix of one layer; every such path has the same length
//! records/<name>.json       what is known of a finished layer
//! manifests/<name>          every file of its prefix, to notice damage
//! proofs/<name>.json        what was seen of it that shows whether it is what it is called
//! tools.json                which compilers there are, so that they need not be asked again
//! commits.json              the SHA-256 of the trees of commits, so that they need not be laid out again
//! logs/<name>.log           what its script printed (while it runs: <name>.output)
//! logs/<name>.tools         arguments of compilers, linkers and archivers
//! logs/<name>.made          what these compiled and linked
//! logs/<name>.failed        how it failed, if the study foresaw that
//! wrappers/<version>/       what stands before these tools on the PATH of scripts; its path is part of what is built
//! own/<tool>/               the text of a program that Bakeoff compiles for itself
//! aside/<name>              a prefix or tree on demand; this note, with the host's name, is there before it and goes last
//! ccache/, sccache/         what these keep, for layers that ask for one
//! work/<name>/              where it is being built, or where it failed
//! work/<name>/tree          kept of a finished layer that can be relinked
//! work/<name>/links         kept of a finished layer whose links can be repeated, for layouts of its programs
//! work/<name>/profile       kept of a finished layer that was built by a profile, for layouts of it
//! locks/<name>.lock         held while somebody works on it, shared while it is copied
//! locks/trials.lock         shared while trials run from this cache, held alone while things are removed from it
//! locks/machine.lock        as the machine's own lock, where the machine has no place for one
//! uses/<name>.json          which study used what, and when
//! ```
//!
//! A `<name>` is the first 32 digits of a layer's digest, or of a source's SHA-256 while that is fetched.

use std::path::{Path, PathBuf};

/// The folders of a cache.
pub(crate) const FOLDERS: [&str; 9] =
    ["sources", "builds", "records", "manifests", "proofs", "logs", "work", "locks", "uses"];

/// The folder of a profile, where a layer is built.
pub(crate) const PROFILE: &str = "profile";

/// The folder of what its links loaded, likewise.
pub(crate) const LINKS: &str = "links";

/// The paths of one cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    root: PathBuf,
}

/// What is where is in the table above; a `digest` or `name` may be whole or cut.
impl Paths {
    pub(crate) fn below(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn prefix_of(&self, digest: &str) -> PathBuf {
        self.root.join("builds").join(short(digest))
    }

    /// The log of a layer or, by its SHA-256, of a source. The same names serve for work folders and locks.
    pub(crate) fn log_of(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(format!("{}.log", short(name)))
    }

    pub(crate) fn work_of(&self, name: &str) -> PathBuf {
        self.root.join("work").join(short(name))
    }

    pub(crate) fn tree_of(&self, name: &str) -> PathBuf {
        self.work_of(name).join("tree")
    }

    pub(crate) fn profile_of(&self, name: &str) -> PathBuf {
        self.work_of(name).join(PROFILE)
    }

    pub(crate) fn links_of(&self, name: &str) -> PathBuf {
        self.work_of(name).join(LINKS)
    }

    pub(crate) fn own_tool(&self, name: &str) -> PathBuf {
        self.root.join("own").join(name)
    }

    pub(crate) fn aside(&self) -> PathBuf {
        self.root.join("aside")
    }

    pub(crate) fn source_folder(&self, sha256: &str) -> PathBuf {
        self.root.join("sources").join(sha256)
    }

    pub(crate) fn record_of(&self, digest: &str) -> PathBuf {
        self.root.join("records").join(format!("{}.json", short(digest)))
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.root.join("records")
    }

    pub(crate) fn manifest_of(&self, digest: &str) -> PathBuf {
        self.root.join("manifests").join(short(digest))
    }

    pub(crate) fn proof_of(&self, digest: &str) -> PathBuf {
        self.root.join("proofs").join(format!("{}.json", short(digest)))
    }

    pub(crate) fn calls_of(&self, digest: &str) -> PathBuf {
        self.log_of(digest).with_extension("tools")
    }

    pub(crate) fn made_of(&self, digest: &str) -> PathBuf {
        self.log_of(digest).with_extension("made")
    }

    pub(crate) fn failed_of(&self, digest: &str) -> PathBuf {
        self.log_of(digest).with_extension("failed")
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("tools.json")
    }

    pub(crate) fn commits(&self) -> PathBuf {
        self.root.join("commits.json")
    }

    pub(crate) fn uses(&self) -> PathBuf {
        self.root.join("uses")
    }

    pub(crate) fn wrappers(&self, version: &str) -> PathBuf {
        self.root.join("wrappers").join(version)
    }

    pub(crate) fn compiler_cache(&self, program: &str) -> PathBuf {
        self.root.join(program)
    }

    pub(crate) fn lock_of(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(format!("{}.lock", short(name)))
    }
}

/// All names are of one length, so that all prefixes are.
pub(crate) fn short(digest: &str) -> &str {
    digest.get(..32).unwrap_or(digest)
}

/// This host's name: several hosts may build on demand in one cache.
pub(crate) fn host() -> String {
    bakeoff_host::place::host_name()
}

/// The host that a note of something on demand is of.
pub(crate) fn host_of(note: &Path) -> String {
    std::fs::read_to_string(note).unwrap_or_default()
}

/// The lock of the process that builds on demand on that host.
pub(crate) fn aside_lock(host: &str) -> String {
    format!("aside-{host}")
}
