//! Sources: whatever brings them, their SHA-256 alone admits them: of the file, or of a folder's tree. What was
//! admitted is kept in the cache and fetched no more. [`crate::unpack`] looks into archives.

mod bring;
mod built;
mod git;
mod imported;
mod origins;
mod pins;
mod revised;
mod tree;

pub(crate) use pins::pin;
pub(crate) use tree::{copy, leads_out};

use crate::cache::Cache;
use crate::error::{At, Error, Failure, Stop};
use crate::event::{BuildEvent, Notify};
use crate::files::{entries, fresh_folder, wipe};
use crate::nouns::Source;
use crate::request::Request;
use crate::shell::Shell;
use bakeoff_host::lock::Lock;
use bakeoff_model::digest::Digest;
use bring::{Loaded, Most, Site};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tree::{Without, content_sha256};

/// What a kept folder is called.
const TREE: &str = "tree";

/// The accepted file or folder, or why there is none.
type Answer = Result<PathBuf, Failure>;

/// The sources of a study, each fetched at most once per command and only when a layer asks for it.
pub(crate) struct Sources<'a> {
    cache: &'a Cache,
    request: Request<'a>,
    notify: Notify<'a>,
    /// For each source of the request.
    known: Vec<Mutex<Option<Answer>>>,
}

/// What a source turned out to be whose hash nobody had said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSource {
    /// The SHA-256 of its file, or of its folder's tree.
    pub sha256: String,
    /// The size of all its files.
    pub bytes: u64,
    /// Of a Git repository: the whole name of the commit.
    pub commit: Option<String>,
}

impl Cache {
    /// Fetches a source whatever its hash is, keeps it in the cache, and says what it is: for `bakeoff lock`.
    pub fn find_source(&self, study_dir: &Path, source: &Source, on_event: Notify<'_>) -> Result<FoundSource, Stop> {
        Sources::new(self, Request::nothing(study_dir), on_event).find(source)
    }
}

impl<'a> Sources<'a> {
    pub(crate) fn new(cache: &'a Cache, request: Request<'a>, notify: Notify<'a>) -> Self {
        let known = request.sources.iter().map(|_| Mutex::default()).collect();
        Self { cache, request, notify, known }
    }

    /// What is to be laid out of the source at that place in the list: a file, to be unpacked if it is an archive; or
    /// a folder, to be copied. Who asks while another thread fetches it waits.
    pub(crate) fn obtain(&self, index: usize) -> Result<PathBuf, Stop> {
        let source = &self.request.sources[index];
        let mut known = self.known[index].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = &*known {
            return Ok(answer.clone()?);
        }
        let answer = match self.cached_or_fetched(source) {
            Ok(path) => Ok(to_lay_out(source, path)),
            Err(Stop::Failure(failure)) => Err(failure),
            Err(error) => return Err(error),
        };
        Ok(known.insert(answer).clone()?)
    }

    fn cached_or_fetched(&self, source: &Source) -> Result<PathBuf, Stop> {
        let pin = &pin(self.cache, &self.request, source)?;
        let work = self.cache.paths.work_of(pin);
        if let Some(path) = self.accepted(pin)? {
            // The process that accepted it may have been killed before this was gone.
            if work.exists() {
                let _lock = self.lock(source, pin)?;
                wipe(&work)?;
            }
            return Ok(path);
        }
        let lock = self.lock(source, pin)?;
        if let Some(path) = self.accepted(pin)? {
            return Ok(path);
        }
        let mut shell = Shell::start(&lock, self.cache.paths.log_of(pin))?;
        let loaded = self.load(source, &work, &mut shell)?;
        let (found, bytes) = content_sha256(&loaded.path, &Without::default())?;
        if found != *pin {
            return Err(shell.failure(unlike(source, &loaded.path, &found, pin), &work)?.into());
        }
        let path = self.keep(&loaded.path, &found, &work)?;
        (self.notify)(BuildEvent::Fetched { source: source.name.clone(), bytes, checked: source.sha256.is_some() });
        Ok(path)
    }

    fn find(&self, source: &Source) -> Result<FoundSource, Stop> {
        // What it is will be known when it is there; until then it is named by where it is had from.
        let origin = &Digest::of("origin").field("from", format!("{:?}", source.from).as_bytes()).hex();
        let lock = self.lock(source, origin)?;
        let work = self.cache.paths.work_of(origin);
        let mut shell = Shell::start(&lock, self.cache.paths.log_of(origin))?;
        let Loaded { path, commit } = self.load(source, &work, &mut shell)?;
        let (sha256, bytes) = content_sha256(&path, &Without::default())?;
        // Nobody who holds this lock waits for the other.
        let _lock = self.lock(source, &sha256)?;
        match self.accepted(&sha256)? {
            Some(_) => wipe(&work)?,
            None => drop(self.keep(&path, &sha256, &work)?),
        }
        Ok(FoundSource { sha256, bytes, commit })
    }

    fn lock(&self, source: &Source, name: &str) -> Result<Lock, Error> {
        let what = || format!("source `{}`", source.name);
        self.cache.lock(name, |process| (self.notify)(BuildEvent::Waiting { what: what(), process }))
    }

    /// What the cache holds under that hash, if it still is what was accepted.
    fn accepted(&self, pin: &str) -> Result<Option<PathBuf>, Error> {
        let folder = self.cache.paths.source_folder(pin);
        if !folder.is_dir() {
            return Ok(None);
        }
        let [path] = &entries(&folder)?[..] else { return Ok(None) };
        match content_sha256(path, &Without::default()) {
            Ok((found, _)) => Ok((found == pin).then(|| path.clone())),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // Damage can also make it unreadable.
            Err(_) => Ok(None),
        }
    }

    /// Brings a source into a fresh folder within `work`.
    fn load(&self, source: &Source, work: &Path, shell: &mut Shell) -> Result<Loaded, Stop> {
        (self.notify)(BuildEvent::Fetching { source: source.name.clone() });
        let download = work.join("download");
        fresh_folder(work)?;
        fresh_folder(&download)?;
        let (cache, notify, request) = (self.cache, self.notify, self.request);
        let (name, most) = (&source.name, Most::default());
        let mut site = Site { cache, notify, request, name, shell, work, download: &download, most };
        origins::load(&mut site, &source.from)
    }

    /// Moves what was accepted to its place in the cache, whole or not at all.
    fn keep(&self, path: &Path, sha256: &str, work: &Path) -> Result<PathBuf, Error> {
        let kept = work.join("kept");
        fresh_folder(&kept)?;
        let is_folder = path.is_dir();
        let name = match path.file_name() {
            Some(name) if !is_folder => name,
            _ => TREE.as_ref(),
        };
        if is_folder {
            // Who is not root can move no folder that is read-only.
            fs::set_permissions(path, Permissions::from_mode(0o755)).at("set the permissions of", path)?;
        }
        let inner = kept.join(name);
        fs::rename(path, &inner).at("move the accepted source to", &inner)?;
        let folder = self.cache.paths.source_folder(sha256);
        wipe(&folder)?;
        fs::rename(&kept, &folder).at("move the accepted source to", &folder)?;
        wipe(work)?;
        Ok(folder.join(name))
    }
}

/// An archive that is not to be unpacked is laid out as the folder that it is kept in, which holds nothing else.
fn to_lay_out(source: &Source, path: PathBuf) -> PathBuf {
    match path.parent() {
        Some(folder) if !source.unpack && path.is_file() => folder.to_owned(),
        _ => path,
    }
}

/// That a source is not the one that was expected, and the remedy.
fn unlike(source: &Source, path: &Path, found: &str, pin: &str) -> String {
    let name = &source.name;
    if source.from.is_as_it_is_now() {
        return format!(
            "source `{name}` changed while Bakeoff copied it: it had SHA-256 {pin}, but the copy has {found}; run the \
             command again when nothing is writing to the source"
        );
    }
    let file = match path.is_dir() {
        true => "the folder's tree".into(),
        false => path.file_name().unwrap_or_default().to_string_lossy(),
    };
    format!(
        "source `{name}`: {file} has SHA-256 {found}, but {pin} was expected; if the change is intended, update the \
            hash: edit study.toml, or run `bakeoff lock STUDY --update={name}` for a hash in study.lock"
    )
}
