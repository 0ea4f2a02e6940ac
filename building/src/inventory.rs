//! What the cache holds: finished layers, sources, logs, and the remains of builds that failed or were killed, each
//! with its size and when it was last used. It only looks; what may go is decided in `gc.rs`.

use crate::cache::{Cache, LayerRecord};
use crate::error::{At, Error};
use crate::files::entries;
use crate::paths::{FOLDERS, aside_lock, host_of, short};
use bakeoff_host::lock::Lock;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Folders of a cache whose entries do not belong to a layer or source by the beginning of their name.
const NOT_BY_NAME: [&str; 3] = ["sources", "locks", "uses"];

/// All that a cache holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inventory {
    /// The cache folder.
    pub(crate) root: PathBuf,
    /// Everything that is distinguished, by kind and name.
    pub(crate) items: Vec<Item>,
    /// Size of everything else: locks, who used what, the tag; in bytes.
    pub(crate) other_bytes: u64,
}

/// One thing that a cache holds, and all files that belong to it; `bakeoff cache --json` prints it like this.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    /// The first 32 digits of its digest, or of its SHA-256.
    pub(crate) name: String,
    /// The layer's name in the study that built it, or the names in the source's folder.
    pub(crate) of: String,
    /// Size of all of its files, in bytes; a file of several names counts once.
    pub(crate) bytes: u64,
    /// When it was made, or a build last asked for it, in seconds since 1970-01-01 UTC.
    pub(crate) last_used_unix_s: f64,
    /// Whether a process is at work on it.
    pub(crate) locked: bool,
    /// What building the layer took, in seconds.
    pub(crate) wall_s: Option<f64>,
    /// Its files and folders, in the order in which they can be removed: what makes it visible comes first.
    #[serde(skip)]
    pub(crate) paths: Vec<PathBuf>,
}

/// What a thing in a cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemKind {
    /// A finished layer.
    Layer,
    /// An accepted source.
    Source,
    /// The log of a build or source that failed, or that is no longer here.
    Log,
    /// What is left of a build that failed or was killed.
    Remains,
}

impl Inventory {
    /// Looks through a cache.
    pub(crate) fn of(cache: &Cache) -> Result<Self, Error> {
        let root = cache.root();
        let mut files = by_name(root)?;
        let mut items = vec![];
        for folder in entries(&root.join("sources"))? {
            let sha256 = file_name(&folder);
            let logs = files.remove(short(&sha256)).unwrap_or_default();
            let names = if folder.is_dir() { entries(&folder)? } else { vec![] };
            let of = names.iter().map(|path| file_name(path)).collect::<Vec<_>>().join(" ");
            items.push(Item::new(ItemKind::Source, short(&sha256), of, [vec![folder], logs].concat()));
        }
        for (name, paths) in files {
            if let Some(LayerRecord { layer, cost, .. }) = cache.finished(&name) {
                let wall_s = cost.get("wall").copied();
                items.push(Item { wall_s, ..Item::new(ItemKind::Layer, &name, layer, paths) });
                continue;
            }
            // The log says what failed; it may be wanted longer than the rest, and so may the note on what was foreseen.
            let is_log = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "log" || ending == "failed");
            let (logs, remains): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_log);
            let both = [(ItemKind::Log, logs), (ItemKind::Remains, remains)].into_iter();
            let both = both.filter(|(_, paths)| !paths.is_empty());
            items.extend(both.map(|(kind, paths)| Item::new(kind, &name, String::new(), paths)));
        }
        let (uses, aside) = (cache.last_uses()?, aside(cache));
        let uses: BTreeMap<&str, f64> = uses.iter().map(|(digest, at)| (short(digest), *at)).collect();
        for item in &mut items {
            let used_unix_s = uses.get(item.name.as_str()).copied().unwrap_or(0.0);
            item.last_used_unix_s = item.made_unix_s()?.max(used_unix_s);
            item.bytes = item.paths.iter().map(|path| size_without(path, &BTreeSet::new())).sum::<Result<_, _>>()?;
            item.locked = aside.contains(&item.name) || is_locked(cache, &item.name);
        }
        let known: BTreeSet<&PathBuf> = items.iter().flat_map(|item| &item.paths).collect();
        let other_bytes = size_without(root, &known)?;
        Ok(Self { root: root.to_owned(), items, other_bytes })
    }

    /// The size of everything, in bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum::<u64>() + self.other_bytes
    }
}

impl Item {
    fn new(kind: ItemKind, name: &str, of: String, paths: Vec<PathBuf>) -> Self {
        let name = name.to_owned();
        Self { kind, name, of, bytes: 0, last_used_unix_s: 0.0, locked: false, wall_s: None, paths }
    }

    /// When it was made, or last changed, in seconds since 1970-01-01 UTC. The time of a prefix is what its script made of
    /// it; the record has the true one.
    fn made_unix_s(&self) -> Result<f64, Error> {
        if let Some(record) = self.paths.first().filter(|_| self.kind == ItemKind::Layer) {
            return Ok(fs::metadata(record).at("inspect", record)?.mtime() as f64);
        }
        let changed = self.paths.iter().filter_map(|path| fs::symlink_metadata(path).ok()?.modified().ok());
        Ok(changed.filter_map(|at| at.duration_since(UNIX_EPOCH).ok()).map(|at| at.as_secs_f64()).fold(0.0, f64::max))
    }
}

/// Whether this can be the name of a layer or source. Whatever has another name is none of ours.
fn is_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The files and folders of every name. Records come first, prefixes next.
fn by_name(root: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>, Error> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut folders: Vec<&str> = FOLDERS.iter().copied().filter(|folder| !NOT_BY_NAME.contains(folder)).collect();
    folders.sort_by_key(|folder| match *folder {
        "records" => 0,
        "builds" => 1,
        _ => 2,
    });
    for folder in folders {
        for path in entries(&root.join(folder))? {
            let name = file_name(&path);
            let name = name.split('.').next().unwrap_or_default().to_owned();
            if is_name(&name) {
                found.entry(name).or_default().push(path);
            }
        }
    }
    // A record is `<name>.json`; what a killed write of one left beside it is not what makes a layer visible.
    for paths in found.values_mut() {
        paths.sort_by_key(|path| u8::from(path.extension().is_none_or(|ending| ending != "json")));
    }
    Ok(found)
}

/// What is built on demand just now, under one lock for all of it on a host; see `on_demand.rs`.
pub(crate) fn aside(cache: &Cache) -> BTreeSet<String> {
    let notes = entries(&cache.paths.aside()).unwrap_or_default();
    let used = notes.iter().filter(|note| is_locked(cache, &aside_lock(&host_of(note))));
    used.map(|note| file_name(note)).collect()
}

/// How often a lock is asked for before it is somebody's. A process that another thread of ours is just starting holds what
/// we have open from its fork to its exec.
const ASKED: u32 = 20;

/// How long it is waited in between.
const STARTING: Duration = Duration::from_millis(10);

/// Takes a lock that nobody holds; none if somebody does.
pub(crate) fn lock_of(path: &Path) -> Result<Option<Lock>, Error> {
    for _ in 1..ASKED {
        match Lock::take(path) {
            Err(bakeoff_host::Error::Locked { .. }) => std::thread::sleep(STARTING),
            taken => return Ok(Some(taken?)),
        }
    }
    Ok(None)
}

/// Whether a process holds the lock of this name. A lock that was never taken is not made.
fn is_locked(cache: &Cache, name: &str) -> bool {
    let path = cache.paths.lock_of(name);
    path.exists() && matches!(lock_of(&path), Ok(None))
}

/// The size of a file, or of all that is below a folder, in bytes, but for what is known. A file of several names counts
/// once. What vanishes while we look was not there.
fn size_without(path: &Path, known: &BTreeSet<&PathBuf>) -> Result<u64, Error> {
    let mut seen = BTreeSet::new();
    let mut left = vec![path.to_owned()];
    let mut bytes = 0;
    while let Some(path) = left.pop() {
        if known.contains(&path) {
            continue;
        }
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            match entries(&path) {
                Ok(paths) => left.extend(paths),
                Err(_) if !path.exists() => {}
                Err(error) => return Err(error),
            }
        } else if meta.nlink() == 1 || seen.insert((meta.dev(), meta.ino())) {
            bytes += meta.len();
        }
    }
    Ok(bytes)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
