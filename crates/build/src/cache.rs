//! The cache folder: where everything lies, which layers are finished, and the locks that keep two processes from
//! building the same thing. It does not know how anything is fetched or built.
//!
//! ```text
//! sources/<sha256>/<file>   accepted sources; a folder is called `tree` there
//! builds/<name>/            the prefix of one layer; every such path has the same length
//! records/<name>.json       what is known of a finished layer
//! logs/<name>.log           what its script printed (while it executes: <name>.output)
//! work/<name>/              where it is being built, or where it failed
//! locks/<name>.lock         held while somebody works on it
//! ```
//!
//! A `<name>` is the first 32 digits of a layer's digest, or of a source's SHA-256 while that is fetched. The record is written last, and it alone makes a prefix
//! visible: a prefix without one is the debris of a build that was killed, and the next attempt wipes it. So nothing
//! ever has to be cleaned by hand, and removing the whole folder is always safe.
//!
//! What a crash of the *machine* leaves is as good as what the file system promises: only records are forced to disk.

use crate::error::{At, Error};
use crate::sources::Pins;
use crate::tools::Toolbox;
use bakeoff_host::interrupt;
use bakeoff_host::lock::Lock;
use bakeoff_model::metric::Measurements;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the record's format. A record of another version is debris.
const RECORD_FORMAT: u32 = 1;

/// The folders of a cache.
const FOLDERS: [&str; 6] = ["sources", "builds", "records", "logs", "work", "locks"];

/// Says to backup programs that the folder need not be kept (the Cache Directory Tagging Specification).
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# Sources and builds of bakeoff; safe to remove.\n";

/// How often somebody who waits for a lock looks whether it is free.
const LOCK_POLL: Duration = Duration::from_millis(50);

/// The folder that sources and builds are kept in.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    pub(crate) toolbox: Toolbox,
    pub(crate) pins: Pins,
}

/// A finished layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LayerRecord {
    format: u32,
    /// The layer's name in the study that built it.
    pub(crate) layer: String,
    /// Where it was built. What was built there knows this path, so it is worthless anywhere else.
    prefix: PathBuf,
    /// What its script cost.
    pub(crate) cost: Measurements,
    /// Identity of each tool: name to path and version.
    pub(crate) tools: BTreeMap<String, String>,
    /// Size of the prefix.
    pub(crate) prefix_bytes: u64,
}

impl Cache {
    /// The folder that is used when nothing else is asked for: `$BAKEOFF_CACHE`, else `$XDG_CACHE_HOME/bakeoff`, else
    /// `$HOME/.cache/bakeoff`. A variable that is empty counts as unset.
    ///
    /// # Errors
    /// [`Error::NoCacheRoot`] if none of them is set.
    pub fn default_root() -> Result<PathBuf, Error> {
        root_from(|name| std::env::var_os(name))
    }

    /// Opens a cache, and makes its folders if there are none yet.
    ///
    /// # Errors
    /// [`Error::CacheRoot`] if `root` is relative, or cannot be a folder that we may write to.
    pub fn open(root: PathBuf) -> Result<Self, Error> {
        let refuse = |why: String| Error::CacheRoot { path: root.clone(), why };
        if !root.is_absolute() {
            return Err(refuse("it is not an absolute path".to_owned()));
        }
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder)).map_err(|e| refuse(e.to_string()))?;
        }
        // Some builds embed the path as the kernel resolves it, and relocation must find it.
        let root = fs::canonicalize(&root).map_err(|e| refuse(e.to_string()))?;
        fs::write(root.join("CACHEDIR.TAG"), TAG).map_err(|e| refuse(format!("nothing can be written to it: {e}")))?;
        Ok(Self { root, toolbox: Toolbox::default(), pins: Pins::default() })
    }

    /// The cache folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that the build of this digest is, or would be, installed in.
    pub fn prefix_of(&self, digest: &str) -> PathBuf {
        self.root.join("builds").join(short(digest))
    }

    /// The log of a layer or, by its SHA-256, of a source. The same names serve for work folders and locks.
    pub(crate) fn log_of(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(format!("{}.log", short(name)))
    }

    pub(crate) fn work_of(&self, name: &str) -> PathBuf {
        self.root.join("work").join(short(name))
    }

    pub(crate) fn source_folder(&self, sha256: &str) -> PathBuf {
        self.root.join("sources").join(sha256)
    }

    fn record_path(&self, digest: &str) -> PathBuf {
        self.root.join("records").join(format!("{}.json", short(digest)))
    }

    /// What is known of a layer if it is finished. A record that cannot be understood, or whose prefix is not where it
    /// was built, is no record.
    pub(crate) fn finished(&self, digest: &str) -> Option<LayerRecord> {
        let record = read_record(&self.record_path(digest))?;
        let prefix = self.prefix_of(digest);
        (record.prefix == prefix && prefix.is_dir()).then_some(record)
    }

    /// Makes a layer visible. Call it when everything else is done.
    pub(crate) fn finish(
        &self,
        digest: &str,
        layer: &str,
        cost: Measurements,
        tools: BTreeMap<String, String>,
    ) -> Result<LayerRecord, Error> {
        let prefix = self.prefix_of(digest);
        let prefix_bytes = size(&prefix)?;
        let record = LayerRecord { format: RECORD_FORMAT, layer: layer.to_owned(), prefix, cost, tools, prefix_bytes };
        let path = self.record_path(digest);
        let aside = path.with_extension("aside");
        let write = || -> io::Result<()> {
            let mut file = File::create(&aside)?;
            file.write_all(&serde_json::to_vec_pretty(&record)?)?;
            file.sync_all()?;
            fs::rename(&aside, &path)
        };
        write().at("write", &path)?;
        Ok(record)
    }

    /// Removes all that an attempt at this layer can have left behind, the record first.
    pub(crate) fn wipe_layer(&self, digest: &str) -> Result<(), Error> {
        wipe(&self.record_path(digest))?;
        wipe(&self.prefix_of(digest))?;
        wipe(&self.work_of(digest))
    }

    /// The mean time, in seconds, that the cached layers of this name took to build; none if there are none.
    pub(crate) fn usual_wall_s(&self, layer: &str) -> Option<f64> {
        let records = fs::read_dir(self.root.join("records")).ok()?;
        let walls: Vec<f64> = records
            .filter_map(|entry| read_record(&entry.ok()?.path()))
            .filter(|record| record.layer == layer)
            .filter_map(|record| record.cost.get("wall").copied())
            .collect();
        (!walls.is_empty()).then(|| walls.iter().sum::<f64>() / walls.len() as f64)
    }

    /// Takes a lock, and waits for it if somebody else holds it; `waiting` is told who first, if it is known. A
    /// launcher that keeps the lock's descriptor holds it too: so it is free only when everything that the holder
    /// started is dead, even if the holder was killed.
    pub(crate) fn lock(&self, name: &str, waiting: impl Fn(Option<u32>)) -> Result<Lock, Error> {
        let path = self.root.join("locks").join(format!("{}.lock", short(name)));
        let mut told = false;
        loop {
            match Lock::take(&path) {
                Err(bakeoff_host::Error::Locked { owner, .. }) => {
                    if !told {
                        waiting(owner);
                        told = true;
                    }
                }
                taken => return Ok(taken?),
            }
            if interrupt::count() > 0 {
                return Err(Error::Interrupted);
            }
            // To block instead would be to miss interrupts.
            std::thread::sleep(LOCK_POLL);
        }
    }
}

fn read_record(path: &Path) -> Option<LayerRecord> {
    let record: LayerRecord = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (record.format == RECORD_FORMAT).then_some(record)
}

/// All names are of one length, so that all prefixes are.
fn short(digest: &str) -> &str {
    digest.get(..32).unwrap_or(digest)
}

fn root_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("BAKEOFF_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("bakeoff")))
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("bakeoff")))
        .ok_or(Error::NoCacheRoot)
}

/// Removes a file or a whole folder, also one that builds have made read-only; nothing there is fine.
pub(crate) fn wipe(path: &Path) -> Result<(), Error> {
    bakeoff_host::disk::wipe(path).at("remove", path)
}

/// Makes a folder that is empty, whatever was there.
pub(crate) fn fresh_folder(path: &Path) -> Result<(), Error> {
    wipe(path)?;
    fs::create_dir_all(path).at("make the folder", path)
}

/// The names in a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut paths = list().at("list", folder)?;
    paths.sort();
    Ok(paths)
}

/// The size of all files below a folder, in bytes. A file with several names counts once for each.
fn size(folder: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    for path in entries(folder)? {
        let meta = fs::symlink_metadata(&path).at("look at", &path)?;
        bytes += if meta.is_dir() { size(&path)? } else { meta.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_root_follows_the_environment() {
        let check = |variables: &[(&str, &str)], expect: Option<&str>| {
            let lookup =
                |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
            assert_eq!(root_from(lookup).ok(), expect.map(PathBuf::from), "{variables:?}");
        };
        check(&[("BAKEOFF_CACHE", "/b"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/b"));
        check(&[("BAKEOFF_CACHE", ""), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/x/bakeoff"));
        check(&[("HOME", "/h")], Some("/h/.cache/bakeoff"));
        check(&[("XDG_CACHE_HOME", "")], None);
    }

    #[test]
    fn a_root_that_cannot_be_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for root in [PathBuf::from("relative"), file, PathBuf::from("/proc/self/bakeoff")] {
            let error = Cache::open(root.clone()).unwrap_err();
            assert!(matches!(&error, Error::CacheRoot { path, .. } if *path == root), "{error}");
            assert!(error.to_string().contains("BAKEOFF_CACHE"), "{error}");
        }
    }

    #[test]
    fn only_a_record_makes_a_prefix_visible() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path().join("cache")).unwrap();
        let digest = "0123456789abcdef".repeat(4);
        let prefix = cache.prefix_of(&digest);
        fs::create_dir(&prefix).unwrap();
        assert_eq!(cache.finished(&digest), None);

        fs::write(prefix.join("file"), "seven b").unwrap();
        let record = cache.finish(&digest, "layer", Measurements::new(), BTreeMap::new()).unwrap();
        assert_eq!(record.prefix_bytes, 7);
        assert_eq!(cache.finished(&digest), Some(record));

        // What was built knows its path: after a move of the whole cache it is no longer good.
        let moved = folder.path().join("moved");
        fs::rename(cache.root(), &moved).unwrap();
        let moved = Cache::open(moved).unwrap();
        assert!(moved.prefix_of(&digest).is_dir());
        assert_eq!(moved.finished(&digest), None);
    }
}
