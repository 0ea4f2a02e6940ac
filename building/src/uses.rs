//! Which study used what of the cache, and when it last did: a small file for each study's folder. From it `gc` knows
//! which studies are in reach and how long ago a thing was used. Nothing here decides what may go.

use crate::cache::Cache;
use crate::error::{At, Error};
use crate::files::{read_json, wipe};
use crate::inputs::{Stage, stages};
use crate::request::Request;
use crate::sources;
use bakeoff_host::lock::Lock;
use bakeoff_model::digest::Digest;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of the file's format. A file of another one is as good as none.
const FORMAT: u32 = 1;

/// What builds need of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Needs {
    /// Digests of layers.
    pub(crate) layers: BTreeSet<String>,
    /// SHA-256 of sources.
    pub(crate) sources: BTreeSet<String>,
}

impl Needs {
    pub(crate) fn of(stages: &[Stage<'_>]) -> Self {
        let nodes = || stages.iter().flat_map(|stage| &stage.nodes);
        Self {
            layers: nodes().map(|node| node.digest.clone()).collect(),
            sources: nodes().filter_map(|node| node.source_pin.clone()).collect(),
        }
    }

    /// Adds what others need.
    pub(crate) fn extend(&mut self, other: Self) {
        self.layers.extend(other.layers);
        self.sources.extend(other.sources);
    }
}

/// All that the builds of a request need, whether the cache holds it or not. Nothing is started but tools, which are
/// asked for their versions.
pub(crate) fn needs(cache: &Cache, request: &Request<'_>) -> Result<Needs, Error> {
    let mut needs = Needs::of(&stages(cache, request)?);
    for source in request.sources {
        // One that no variant of this plan takes may be what the next plan takes.
        needs.sources.extend(sources::pin(cache, request, source).ok());
    }
    Ok(needs)
}

/// A study that has used this cache.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownStudy {
    /// Its folder, which may be gone by now.
    pub(crate) dir: PathBuf,
    /// All that it ever used and that the cache may still hold.
    pub(crate) used: Needs,
    /// When it last used any of it, in seconds since 1970-01-01 UTC.
    pub(crate) last_used_unix_s: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct UseFile {
    format: u32,
    study: PathBuf,
    /// When each layer was last used, by its digest.
    layers: BTreeMap<String, f64>,
    /// The same for sources, by their SHA-256.
    sources: BTreeMap<String, f64>,
}

impl Cache {
    /// Remembers that the study in a folder uses these things now.
    pub(crate) fn remember_use(&self, study_dir: &Path, needs: &Needs) -> Result<(), Error> {
        if needs.layers.is_empty() && needs.sources.is_empty() {
            return Ok(());
        }
        let study = fs::canonicalize(study_dir).at("resolve", study_dir)?;
        let path = self.use_file(&study);
        let _lock = self.lock_uses()?;
        let fresh = || UseFile { format: FORMAT, study, layers: BTreeMap::new(), sources: BTreeMap::new() };
        let mut file = read(&path).unwrap_or_else(fresh);
        let now = bakeoff_host::now_unix_s();
        file.layers.extend(needs.layers.iter().map(|digest| (digest.clone(), now)));
        file.sources.extend(needs.sources.iter().map(|sha256| (sha256.clone(), now)));
        self.write_uses(&path, &file)
    }

    /// Held while uses are written down, and while something is made invisible that nobody uses.
    pub(crate) fn lock_uses(&self) -> Result<Lock, Error> {
        self.lock("uses", |_| {})
    }

    /// The studies that have used this cache, by their folders.
    pub(crate) fn known_studies(&self) -> Result<Vec<KnownStudy>, Error> {
        let mut studies: Vec<KnownStudy> = self.use_files()?.into_iter().map(|(_, file)| known(file)).collect();
        studies.sort_by(|a, b| a.dir.cmp(&b.dir));
        Ok(studies)
    }

    /// When each thing was last used by any study: layers by digest, sources by SHA-256.
    pub(crate) fn last_uses(&self) -> Result<BTreeMap<String, f64>, Error> {
        let mut last = BTreeMap::new();
        for (_, file) in self.use_files()? {
            for (name, at) in file.layers.into_iter().chain(file.sources) {
                let known = last.entry(name).or_insert(at);
                *known = known.max(at);
            }
        }
        Ok(last)
    }

    /// Forgets the uses of what is no longer there, and studies that used nothing else. Every layer or source stays whose
    /// digest `is_there` accepts.
    pub(crate) fn forget_uses(&self, is_there: impl Fn(&str) -> bool) -> Result<(), Error> {
        let _lock = self.lock_uses()?;
        for (path, mut file) in self.use_files()? {
            let before = file.layers.len() + file.sources.len();
            file.layers.retain(|digest, _| is_there(digest));
            file.sources.retain(|sha256, _| is_there(sha256));
            match file.layers.len() + file.sources.len() {
                0 => wipe(&path)?,
                left if left < before => self.write_uses(&path, &file)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn use_file(&self, study: &Path) -> PathBuf {
        let name = Digest::of("study folder").field("path", study.as_os_str().as_encoded_bytes()).hex();
        self.paths.uses().join(format!("{}.json", crate::paths::short(&name)))
    }

    fn use_files(&self) -> Result<Vec<(PathBuf, UseFile)>, Error> {
        let paths = crate::files::entries(&self.paths.uses())?;
        let json = paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        Ok(json.filter_map(|path| Some((path.clone(), read(&path)?))).collect())
    }

    fn write_uses(&self, path: &Path, file: &UseFile) -> Result<(), Error> {
        let aside = path.with_extension("aside");
        let write = || {
            fs::write(&aside, serde_json::to_vec(file)?)?;
            fs::rename(&aside, path)
        };
        write().at("write", path)
    }
}

fn read(path: &Path) -> Option<UseFile> {
    let file: UseFile = read_json(path)?;
    (file.format == FORMAT).then_some(file)
}

fn known(file: UseFile) -> KnownStudy {
    let last_used_unix_s = file.layers.values().chain(file.sources.values()).copied().fold(0.0, f64::max);
    let used = Needs { layers: file.layers.into_keys().collect(), sources: file.sources.into_keys().collect() };
    KnownStudy { dir: file.study, used, last_used_unix_s }
}
