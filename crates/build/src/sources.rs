//! Sources: any command may fetch them, their SHA-256 alone admits them. An admitted file is kept in the cache and
//! fetched no more. What is inside a source is the business of [`crate::unpack`].

use crate::cache::{Cache, entries, fresh_folder, wipe};
use crate::error::{At, Error, Failure};
use crate::shell::{Environment, Shell, Stop, complaint};
use crate::{BuildEvent, Notify};
use bakeoff_model::digest::hex;
use bakeoff_model::study::{Source, SourceFrom};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The accepted file, or why there is none.
type Answer = Result<PathBuf, Failure>;

/// The sources of a study, each fetched at most once per command and only when a layer asks for it.
pub(crate) struct Sources<'a> {
    cache: &'a Cache,
    study_dir: &'a Path,
    notify: Notify<'a>,
    known: Vec<(&'a Source, Mutex<Option<Answer>>)>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(cache: &'a Cache, study_dir: &'a Path, sources: &'a [Source], notify: Notify<'a>) -> Self {
        let known = sources.iter().map(|source| (source, Mutex::default())).collect();
        Self { cache, study_dir, notify, known }
    }

    /// The accepted file of the source at that place in the list. Who asks while another thread fetches it waits.
    pub(crate) fn obtain(&self, index: usize) -> Result<PathBuf, Stop> {
        let (source, known) = &self.known[index];
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match known.take() {
            Some(answer) => answer,
            None => match self.cached_or_fetched(source) {
                Ok(path) => Ok(path),
                Err(Stop::Failure(failure)) => Err(failure),
                Err(error) => return Err(error),
            },
        };
        *known = Some(answer.clone());
        Ok(answer?)
    }

    fn cached_or_fetched(&self, source: &Source) -> Result<PathBuf, Stop> {
        let pin = &pin(self.study_dir, source)?;
        if let Some(file) = self.accepted(pin)? {
            return Ok(file);
        }
        let what = || format!("source `{}`", source.name);
        let waiting = |process| (self.notify)(BuildEvent::Waiting { what: what(), process });
        let lock = self.cache.lock(pin, waiting)?;
        if let Some(file) = self.accepted(pin)? {
            return Ok(file);
        }
        (self.notify)(BuildEvent::Fetching { source: source.name.clone() });
        let mut shell = Shell::start(&lock, self.cache.log_of(pin))?;
        let (file, bytes) = self.fetch(source, pin, &mut shell)?;
        (self.notify)(BuildEvent::Fetched { source: source.name.clone(), bytes });
        Ok(file)
    }

    /// The file in the cache, if it still is what was accepted.
    fn accepted(&self, pin: &str) -> Result<Option<PathBuf>, Error> {
        let folder = self.cache.source_folder(pin);
        if !folder.is_dir() {
            return Ok(None);
        }
        let [file] = &entries(&folder)?[..] else { return Ok(None) };
        Ok((sha256_of(file)?.0 == pin).then(|| file.clone()))
    }

    /// Executes the study's command, and accepts the file that it leaves. Returns where the file is now, and its size
    /// in bytes.
    fn fetch(&self, source: &Source, pin: &str, shell: &mut Shell) -> Result<(PathBuf, u64), Stop> {
        let work = self.cache.work_of(pin);
        let download = work.join("download");
        fresh_folder(&work)?;
        fresh_folder(&download)?;
        let name = &source.name;
        let refused = |shell: &Shell, why: String| -> Result<_, Stop> { Err(shell.failure(why, &work)?.into()) };

        let SourceFrom::Fetch(command) = &source.from else {
            return refused(shell, format!("source `{name}`: only `fetch` is known here"));
        };
        shell.note(&format!("fetching source `{name}`\n{command}"))?;
        // Not the empty environment of a build: who fetches may need proxies, keys and a home folder.
        let mut env: Environment =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        env.insert("DOWNLOAD".to_owned(), download.display().to_string());
        let ended = shell.execute(&["sh", "-e", "-c", command], self.study_dir, &env)?;
        if let Some(complaint) = complaint(&ended.end) {
            return refused(shell, format!("source `{name}`: the fetch command {complaint}"));
        }
        let files = entries(&download)?;
        let file = match &files[..] {
            [file] if file.is_file() && !file.is_symlink() => file,
            [] => return refused(shell, format!("source `{name}`: the fetch command left nothing in $DOWNLOAD")),
            [_] => return refused(shell, format!("source `{name}`: what is in $DOWNLOAD is no regular file")),
            _ => {
                let why =
                    format!("source `{name}`: the fetch command left {} files in $DOWNLOAD, not one", files.len());
                return refused(shell, why);
            }
        };
        let file_name = file.file_name().unwrap_or_default();
        let (found, bytes) = sha256_of(file)?;
        if found != pin {
            let why = format!(
                "source `{name}`: {} has SHA-256 {found}, expected {}; if upstream changed on purpose, put the new \
                 sum into study.toml",
                file_name.display(),
                pin
            );
            return refused(shell, why);
        }
        let folder = self.cache.source_folder(pin);
        wipe(&folder)?;
        fs::rename(&download, &folder).at("move the accepted source to", &folder)?;
        wipe(&work)?;
        Ok((folder.join(file_name), bytes))
    }
}

/// The SHA-256 that a source must have.
pub(crate) fn pin(_study_dir: &Path, source: &Source) -> Result<String, Error> {
    source.sha256.clone().ok_or_else(|| Error::Unpinned { name: source.name.clone() })
}

/// The SHA-256 of a file, and its size in bytes.
pub(crate) fn sha256_of(path: &Path) -> Result<(String, u64), Error> {
    let mut file = File::open(path).at("read", path)?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut buffer).at("read", path)?;
        if n == 0 {
            return Ok((hex(&sha256.finalize()), bytes));
        }
        sha256.update(&buffer[..n]);
        bytes += n as u64;
    }
}
