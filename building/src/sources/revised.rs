//! Revisions of a repository of this machine as sources, for those who have no lock file: which commit each is now, and the
//! hash of its tree, which the cache remembers by the commit.

use super::{FoundSource, git};
use crate::cache::Cache;
use crate::error::{Error, Failure, Stop};
use crate::event::Notify;
use crate::files::{read_json, write_json};
use crate::nouns::{Source, SourceFrom};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a commit is laid out. What changes that must change this, or hashes of before would be believed.
const SCHEME: &str = "1";

impl Cache {
    /// The commit that a source's revision is at this moment; none where that is known only to an address, or to nobody.
    pub(crate) fn commit_now(&self, study_dir: &Path, source: &Source) -> Result<Option<String>, Error> {
        let SourceFrom::Git { url, revision } = &source.from else { return Ok(None) };
        let folder = git::folder_of(url, study_dir);
        if folder.is_dir() { Stop::or_none(git::commit_of(self, &folder, revision)) } else { Ok(None) }
    }

    /// Whether a folder of this machine is the top of a Git repository.
    ///
    /// # Errors
    /// Any [`Error`]; that it is in none is no error.
    pub fn is_top_of_repository(&self, folder: &Path) -> Result<bool, Error> {
        Ok(Stop::or_none(git::place_in(self, folder))?.is_some_and(|place| place.as_os_str().is_empty()))
    }

    /// Where a folder of this machine lies in its Git repository, from the top; or why it is in none.
    pub(crate) fn place_in_repository(&self, folder: &Path) -> Result<PathBuf, Stop<String>> {
        git::place_in(self, folder)
    }

    /// The commit that a revision is at this moment; or why there is none.
    pub(crate) fn commit_of(&self, repository: &Path, revision: &str) -> Result<String, Stop<String>> {
        git::commit_of(self, repository, revision)
    }

    /// Whether one commit is an ancestor of another one.
    pub(crate) fn is_ancestor(&self, repository: &Path, commits: [&str; 2]) -> Result<bool, Error> {
        git::is_ancestor(self, repository, commits)
    }

    /// The commits of a range along first parents, the oldest one first: each with its first parent, and the first line of
    /// its message.
    pub(crate) fn first_parents(&self, repository: &Path, range: &[&str]) -> Result<Vec<[String; 3]>, Error> {
        git::first_parents(self, repository, range)
    }

    /// A revision as a source: of a commit with its hash, and with the commit in place of the revision. The working tree counts
    /// as it is when it is built. Or why it is not to be had.
    pub(crate) fn pinned_revision(
        &self,
        repository: &Path,
        revision: &str,
        on_event: Notify<'_>,
    ) -> Result<Source, Stop> {
        let url = repository.display().to_string();
        let mut source = Source {
            name: revision.to_owned(),
            from: SourceFrom::git(&url, revision),
            sha256: None,
            unpack: false,
            disk_bytes: None,
        };
        if matches!(source.from, SourceFrom::Worktree(_)) {
            return Ok(source);
        }
        let refused = |why| Stop::Failure(Failure::without_log(why));
        let commit = git::commit_of(self, repository, revision).map_err(|stop| stop.with(refused))?;
        source.from = SourceFrom::git(&url, &commit);
        let key = format!("{SCHEME} {commit}");
        let file = self.paths.commits();
        let known = || -> BTreeMap<String, String> { read_json(&file).unwrap_or_default() };
        source.sha256 = known().remove(&key);
        if source.sha256.is_none() {
            let FoundSource { sha256, .. } = self.find_source(repository, &source, on_event)?;
            let _lock = self.lock("commits", |_| {})?;
            // Another process may have learned of others meanwhile.
            let mut known = known();
            known.insert(key, sha256.clone());
            write_json(&file, &known)?;
            source.sha256 = Some(sha256);
        }
        Ok(source)
    }
}
