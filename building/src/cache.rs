//! The cache folder: which layers are finished, and the locks that keep two processes from building the same thing.
//! Where everything lies is in `paths.rs`; how anything is fetched, built or proven is not known here.
//!
//! A `<name>` is the first 32 digits of a layer's digest, or of a source's SHA-256 while that is fetched. The manifest
//! is written when the prefix is whole, the record after it, and the record alone makes a prefix visible: a prefix
//! without one is the debris of a build that was killed, and the next attempt wipes it. So nothing ever has to be
//! cleaned by hand, and removing the whole folder is always safe.
//!
//! What a crash of the *machine* leaves is as good as what the file system promises: only records and manifests are
//! forced to disk, in this order; a file that was lost behind them is damage, and its layer is built again.

use crate::error::{At as _, Error};
use crate::files::{folder_bytes, read_json, wipe, write_by, write_json, write_whole};
use crate::journal::FlagSeen;
use crate::learned::{Pins, Toolbox};
use crate::manifest::{self, Damage, DamageKind};
use crate::paths::{FOLDERS, Paths};
use bakeoff_host::disk;
use bakeoff_host::lock::{Lock, LockMode};
use bakeoff_host::machine::Machine;
use bakeoff_model::metric::Measurements;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fs, io};

/// The version of the record's format. A record of another version is debris.
const RECORD_FORMAT: u32 = 3;

/// Says to backup programs that the folder need not be kept (the Cache Directory Tagging Specification).
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# Sources and builds of bakeoff; safe to remove.\n";

/// The folder that sources and builds are kept in.
#[derive(Debug)]
pub struct Cache {
    pub(crate) paths: Paths,
    pub(crate) toolbox: Toolbox,
    pub(crate) pins: Pins,
    pub(crate) machine: Machine,
    /// Whether this process holds the machine for its trials, so that it needs nobody's leave to build.
    pub(crate) quiet: AtomicBool,
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
    /// Size of the tree, the profile and the objects that are kept for layouts; 0 if none is.
    #[serde(default)]
    tree_bytes: u64,
    /// Whether objects are kept.
    #[serde(default)]
    pub(crate) has_links: bool,
    /// How far the flags of its variables came.
    #[serde(default)]
    pub(crate) flags: Vec<FlagSeen>,
    /// Calls that compiled something.
    #[serde(default)]
    pub(crate) compilations: Option<u64>,
}

impl LayerRecord {
    /// What it keeps of the disk, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.prefix_bytes + self.tree_bytes
    }
}

/// What the cached layers of a name took, in the mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual {
    /// The time of the script, in seconds.
    pub(crate) wall_s: f64,
    /// What is kept, in bytes.
    pub(crate) bytes: f64,
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
        // A full disk stays one; any other reason is one of the folder.
        let usable = |path: &Path, done: io::Result<()>| match done.at("write to", path) {
            Err(Error::File { source, .. }) => Err(refuse(unusable(path, &source))),
            done => done,
        };
        for folder in FOLDERS {
            let path = root.join(folder);
            usable(&path, fs::create_dir_all(&path).and_then(|()| disk::writable(&path)))?;
        }
        // Some builds embed the path as the kernel resolves it, and relocation must find it.
        let root = fs::canonicalize(&root).map_err(|e| refuse(e.to_string()))?;
        let tag = root.join("CACHEDIR.TAG");
        if !tag.exists() {
            usable(&root, fs::write(&tag, TAG))?;
        }
        usable(&root, disk::writable(&root))?;
        let (toolbox, pins) = (Toolbox::default(), Pins::default());
        Ok(Self { paths: Paths::below(root), toolbox, pins, machine: Machine::here(), quiet: AtomicBool::new(false) })
    }

    /// With the lock of the machine in another place than usual.
    #[must_use]
    pub fn on(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// The cache folder itself.
    pub fn root(&self) -> &Path {
        self.paths.root()
    }

    /// The folder that the build of this digest is, or would be, installed in.
    pub fn prefix_of(&self, digest: &str) -> PathBuf {
        self.paths.prefix_of(digest)
    }

    /// The record of a layer if it is finished. A record that cannot be understood, or whose prefix is not where it
    /// was built, is no record.
    pub(crate) fn finished(&self, digest: &str) -> Option<LayerRecord> {
        let record = read_record(&self.paths.record_of(digest))?;
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
        flags: Vec<FlagSeen>,
        compilations: Option<u64>,
    ) -> Result<LayerRecord, Error> {
        let prefix = self.prefix_of(digest);
        let prefix_bytes = folder_bytes(&prefix)?;
        write_whole(&self.paths.manifest_of(digest), manifest::of(&prefix)?.as_bytes())?;
        let links = self.paths.links_of(digest);
        let has_links = links.is_dir();
        let kept = [self.paths.tree_of(digest), self.paths.profile_of(digest), links];
        let tree_bytes = kept.iter().filter(|folder| folder.is_dir()).map(|folder| folder_bytes(folder));
        let tree_bytes = tree_bytes.sum::<Result<u64, _>>()?;
        let record = LayerRecord {
            format: RECORD_FORMAT,
            layer: layer.to_owned(),
            prefix,
            cost,
            tools,
            prefix_bytes,
            tree_bytes,
            has_links,
            flags,
            compilations,
        };
        write_json(&self.paths.record_of(digest), &record)?;
        Ok(record)
    }

    /// What is not as it was when the layer of this digest was finished: files of its prefix that are missing, were
    /// added or were changed. Only what stat(2) tells otherwise than then is read.
    pub(crate) fn damage_of(&self, digest: &str) -> Vec<Damage> {
        let path = self.paths.manifest_of(digest);
        let Ok(recorded) = fs::read_to_string(&path) else {
            return vec![Damage { path: PathBuf::new(), kind: DamageKind::Unknown }];
        };
        let compared = manifest::compare(&self.prefix_of(digest), &recorded);
        if let Some(renewed) = compared.renewed {
            // It only saves time: the next reader's. No lock is held, so others may do the same.
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let aside = path.with_extension(format!("{}-{number}", std::process::id()));
            let _ = write_by(&aside, &path, renewed.as_bytes());
        }
        compared.damage
    }

    /// Removes all that an attempt at this layer can have left behind, the record first.
    pub(crate) fn wipe_layer(&self, digest: &str) -> Result<(), Error> {
        wipe(&self.paths.record_of(digest))?;
        wipe(&self.paths.failed_of(digest))?;
        wipe(&self.paths.proof_of(digest))?;
        wipe(&self.paths.manifest_of(digest))?;
        wipe(&self.prefix_of(digest))?;
        wipe(&self.paths.work_of(digest))
    }

    /// What a layer of each name usually takes, as far as the cache knows.
    pub(crate) fn usual(&self) -> BTreeMap<String, Usual> {
        let mut known: BTreeMap<String, Vec<Usual>> = BTreeMap::new();
        for entry in fs::read_dir(self.paths.records()).into_iter().flatten().flatten() {
            let Some(record) = read_record(&entry.path()) else { continue };
            if let Some(&wall_s) = record.cost.get("wall") {
                let bytes = record.bytes() as f64;
                known.entry(record.layer).or_default().push(Usual { wall_s, bytes });
            }
        }
        let mean = |all: &[Usual], value: fn(&Usual) -> f64| all.iter().map(value).sum::<f64>() / all.len() as f64;
        let usual =
            |all: Vec<Usual>| Usual { wall_s: mean(&all, |one| one.wall_s), bytes: mean(&all, |one| one.bytes) };
        known.into_iter().map(|(name, all)| (name, usual(all))).collect()
    }

    /// Takes a lock, and waits for it if somebody else holds it; `waiting` gets its owner first, if known. A
    /// launcher that keeps the lock's descriptor holds it too: so it is free only when everything that the holder
    /// started is dead, even if the holder was killed.
    pub(crate) fn lock(&self, name: &str, waiting: impl Fn(Option<u32>)) -> Result<Lock, Error> {
        Lock::wait(&self.paths.lock_of(name), LockMode::Exclusive, waiting)?.ok_or(Error::Interrupted)
    }

    /// Takes a lock together with others who only look, as [`Self::lock`] does.
    pub(crate) fn share(&self, name: &str, waiting: impl Fn(Option<u32>)) -> Result<Lock, Error> {
        Lock::wait(&self.paths.lock_of(name), LockMode::Shared, waiting)?.ok_or(Error::Interrupted)
    }
}

/// Why a folder of the cache cannot be used, and who could.
fn unusable(path: &Path, error: &io::Error) -> String {
    let name = path.file_name().unwrap_or_default().display();
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let is_there = path.ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?)));
            let (place, owner) = match is_there {
                Some((place, meta)) => (place.display().to_string(), user(meta.uid())),
                None => (path.display().to_string(), "another user".to_owned()),
            };
            let me = fs::metadata("/proc/self").map_or_else(|_| "this user".to_owned(), |meta| user(meta.uid()));
            format!("`{place}` belongs to {owner}, and {me} cannot write to it")
        }
        io::ErrorKind::ReadOnlyFilesystem => "its file system is mounted read-only".to_owned(),
        _ => format!("its subfolder `{name}` is unusable: {error}"),
    }
}

/// A user in words.
fn user(id: u32) -> String {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then_some(name)
    });
    name.map_or_else(|| format!("user {id}"), |name| format!("user {name} ({id})"))
}

fn read_record(path: &Path) -> Option<LayerRecord> {
    let record: LayerRecord = read_json(path)?;
    (record.format == RECORD_FORMAT).then_some(record)
}

fn root_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("BAKEOFF_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("bakeoff")))
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("bakeoff")))
        .ok_or(Error::NoCacheRoot)
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
        let record = cache.finish(&digest, "layer", Measurements::new(), BTreeMap::new(), vec![], None).unwrap();
        assert_eq!(record.prefix_bytes, 7);
        assert_eq!(cache.finished(&digest), Some(record));

        assert_eq!(cache.damage_of(&digest), []);
        fs::write(prefix.join("other"), "").unwrap();
        assert_eq!(cache.damage_of(&digest)[0].to_string(), "other was added");

        // What was built knows its path: after a move of the whole cache it is no longer good.
        let moved = folder.path().join("moved");
        fs::rename(cache.root(), &moved).unwrap();
        let moved = Cache::open(moved).unwrap();
        assert!(moved.prefix_of(&digest).is_dir());
        assert_eq!(moved.finished(&digest), None);
    }
}
