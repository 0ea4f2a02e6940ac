//! Where a source is brought to, by whom, and within which limits. What is run there, and how often, is known to the
//! origins.

use super::built::Built;
use crate::cache::Cache;
use crate::error::{Error, Stop};
use crate::event::{BuildEvent, Notify};
use crate::files::entries;
use crate::request::Request;
use crate::shell::{Environment, Shell, complaint};
use std::path::{Path, PathBuf};

/// How long bringing a source may take, and how large a file may become meanwhile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) seconds: f64,
    pub(super) bytes: u64,
}

impl Default for Most {
    /// Far above what a source is; nothing was measured for them.
    fn default() -> Self {
        Self { seconds: 2.0 * 3600.0, bytes: 32 << 30 }
    }
}

/// What was brought.
pub(super) struct Loaded {
    /// A file, or a folder that counts by its content.
    pub(super) path: PathBuf,
    /// Of a Git repository: the whole name of the commit.
    pub(super) commit: Option<String>,
}

/// Where something is brought to, and by whom.
pub(super) struct Site<'a> {
    pub(super) cache: &'a Cache,
    pub(super) notify: Notify<'a>,
    pub(super) request: Request<'a>,
    /// The name of the source.
    pub(super) name: &'a str,
    pub(super) shell: &'a mut Shell,
    /// Kept for the user to look at after a failure.
    pub(super) work: &'a Path,
    /// Empty; within the work folder.
    pub(super) download: &'a Path,
    pub(super) most: Most,
}

impl Site<'_> {
    /// A failure to bring it, with the last lines of the log.
    pub(super) fn refused<T>(&self, why: &str) -> Result<T, Stop> {
        Err(self.shell.failure(format!("source `{}`: {why}", self.name), self.work)?.into())
    }

    /// What was had, or that failure.
    pub(super) fn had<T>(&self, result: Result<T, Stop<String>>) -> Result<T, Stop> {
        match result {
            Ok(had) => Ok(had),
            Err(Stop::Failure(why)) => self.refused(&why),
            Err(Stop::Error(error)) => Err(error.into()),
        }
    }

    /// Reports what of a folder was left out because an earlier build left it there, and what stays although it did.
    pub(super) fn report_built(&self, folder: &Path, built: &Built) -> Result<(), Error> {
        let below = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).to_owned();
        let left_out: Vec<PathBuf> = built.left_out.iter().map(below).collect();
        for (what, paths) in [("left out", &left_out), ("without a source", &built.kept)] {
            paths.iter().try_for_each(|path| self.shell.note(&format!("built before, {what}: {}", path.display())))?;
        }
        if !(left_out.is_empty() && built.kept.is_empty()) {
            let (source, kept) = (self.name.to_owned(), built.kept.clone());
            (self.notify)(BuildEvent::BuiltBefore { source, left_out, kept });
        }
        Ok(())
    }

    /// Runs a script in the study's folder, with this environment, these variables and `$DOWNLOAD`.
    pub(super) fn execute(
        &mut self,
        script: &str,
        mut env: Environment,
        variables: &[(&str, &str)],
    ) -> Result<bakeoff_host::Ended, Error> {
        self.shell.note(script.trim())?;
        env.insert("DOWNLOAD".to_owned(), self.download.display().to_string());
        env.extend(variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        self.shell.timeout_s = Some(self.most.seconds);
        // In units of 512 bytes (POSIX).
        let limited = format!("ulimit -f {}\n{script}", self.most.bytes / 512);
        self.shell.execute(&["sh", "-e", "-c", &limited], self.request.study_dir, &env)
    }

    /// What is wrong with an end; none if it succeeded. What fails with a file that has reached its limit has failed
    /// for that.
    pub(super) fn complaint(&self, end: &bakeoff_host::End) -> Option<String> {
        const REMEDY: &str = "download the source yourself, and set `path` to the copy";
        let is_full = |path: &Path| path.metadata().is_ok_and(|about| about.len() / 512 >= self.most.bytes / 512);
        match complaint(end)? {
            _ if *end == bakeoff_host::End::TimedOut => {
                Some(format!("did not end within {} s and was killed; {REMEDY}", self.most.seconds))
            }
            _ if entries(self.download).is_ok_and(|files| files.iter().any(|file| is_full(file))) => {
                Some(format!("was stopped at {} MiB, the size limit for downloads; {REMEDY}", self.most.bytes >> 20))
            }
            other => Some(other),
        }
    }
}

/// Our own environment. Who fetches may need proxies, keys and a home folder.
pub(super) fn environment() -> Environment {
    std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect()
}
