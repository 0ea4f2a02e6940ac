//! Revisions of a repository of this machine as sources, for those who have no lock file: which commit each is now, and the
//! hash of its tree, which the cache remembers by the commit.

use super::{Found, NotFound, git};
use crate::cache::Cache;
use crate::error::{At as _, Error};
use crate::event::Notify;
use crate::files::write_whole;
use crate::nouns::{Source, SourceFrom};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// How a commit is laid out. What changes that must change this, or hashes of before would be believed.
const SCHEME: &str = "1";

impl Cache {
    /// The commit that a source's revision is at this moment; none where that is known only to an address, or to nobody.
    ///
    /// # Errors
    /// Any [`Error`].
    pub(crate) fn commit_now(&self, study_dir: &Path, source: &Source) -> Result<Option<String>, Error> {
        let SourceFrom::Git { url, revision } = &source.from else { return Ok(None) };
        let folder = git::folder_of(url, study_dir);
        if folder.is_dir() { Ok(git::commit_of(self, &folder, revision)?.ok()) } else { Ok(None) }
    }

    /// Where a folder of this machine lies in its Git repository, from the top; or why it is in none.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn place_in_repository(&self, folder: &Path) -> Result<Result<PathBuf, String>, Error> {
        git::place_in(self, folder)
    }

    /// A revision as a source: of a commit with its hash, and with the commit in place of the revision. The working tree counts
    /// as it is when it is built. Or why it is not to be had.
    ///
    /// # Errors
    /// Any [`Error`].
    pub(crate) fn pinned_revision(
        &self,
        repository: &Path,
        revision: &str,
        on_event: Notify<'_>,
    ) -> Result<Result<Source, NotFound>, Error> {
        let url = repository.display().to_string();
        let mut source = Source {
            name: revision.to_owned(),
            from: SourceFrom::git(&url, revision),
            sha256: None,
            unpack: false,
            disk_bytes: None,
        };
        if matches!(source.from, SourceFrom::Worktree(_)) {
            return Ok(Ok(source));
        }
        let commit = match git::commit_of(self, repository, revision)? {
            Ok(commit) => commit,
            Err(why) => return Ok(Err(NotFound { why, tail: vec![], log: None })),
        };
        source.from = SourceFrom::git(&url, &commit);
        let key = format!("{SCHEME} {commit}");
        let file = self.paths.commits();
        let known = || -> BTreeMap<String, String> {
            fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
        };
        source.sha256 = known().remove(&key);
        if source.sha256.is_none() {
            let sha256 = match self.find_source(repository, &source, on_event)? {
                Ok(Found { sha256, .. }) => sha256,
                Err(not_found) => return Ok(Err(not_found)),
            };
            let _lock = self.lock("commits", |_| {})?;
            // Another process may have learned of others meanwhile.
            let mut known = known();
            known.insert(key, sha256.clone());
            let text = serde_json::to_vec_pretty(&known).map_err(io::Error::from).at("write", &file)?;
            write_whole(&file, &text)?;
            source.sha256 = Some(sha256);
        }
        Ok(Ok(source))
    }
}
