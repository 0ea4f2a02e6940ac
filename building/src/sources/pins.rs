//! The SHA-256 that a source must have: the study's, or for a path that of what is there now. What a layer was named
//! by is remembered, so that nothing else is built under that name.

use super::built::Built;
use super::git;
use super::tree::{Without, content_sha256, part_sha256};
use crate::cache::Cache;
use crate::error::{At as _, Error};
use crate::nouns::{Source, SourceFrom};
use crate::request::Request;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// The SHA-256 that a source of the request must have.
pub(crate) fn pin(cache: &Cache, request: &Request<'_>, source: &Source) -> Result<String, Error> {
    let path = match &source.from {
        SourceFrom::Path(path) => path,
        SourceFrom::Worktree(url) => return worktree_pin(cache, request, source, url),
        _ => return source.sha256.clone().ok_or_else(|| Error::Unpinned { name: source.name.clone() }),
    };
    let refused = |why: String| Error::Source { name: source.name.clone(), why };
    let place =
        resolved(request.study_dir, path).map_err(|_| refused(format!("`{path}` does not exist; correct the path")))?;
    // Held while reading, so that nothing is read twice.
    let mut known = cache.pins.lock().unwrap_or_else(PoisonError::into_inner);
    let found = match known.get(&place) {
        Some(found) => found.clone(),
        None => {
            let built = built_before(cache, &place, request.own)?;
            let found = content_sha256(&place, &Without::of_study(request.own).and_built(&built.left_out))?.0;
            known.insert(place, found.clone());
            found
        }
    };
    match &source.sha256 {
        Some(expected) if *expected != found => Err(refused(format!(
            "`{path}` has SHA-256 {found}, but study.toml has {expected}; if the change is intended, put the new hash \
             into study.toml, or remove `sha256`"
        ))),
        _ => Ok(found),
    }
}

/// That of the files of a repository's working tree.
fn worktree_pin(cache: &Cache, request: &Request<'_>, source: &Source, url: &str) -> Result<String, Error> {
    let folder = git::folder_of(url, request.study_dir);
    // No path of a source is called so.
    let place = folder.join("\0worktree");
    let mut known = cache.pins.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&place) {
        return Ok(found.clone());
    }
    let refused = |why: String| Error::Source { name: source.name.clone(), why };
    let tree = git::worktree(cache, &folder, &Without::of_study(request.own)).map_err(|stop| stop.with(refused))?;
    let (found, _) = part_sha256(&tree.folder, &tree.paths)?;
    known.insert(place, found.clone());
    Ok(found)
}

/// What an earlier build left in a folder of this machine; nothing in a file.
pub(super) fn built_before(cache: &Cache, place: &Path, own: &[PathBuf]) -> Result<Built, Error> {
    if !place.is_dir() {
        return Ok(Built::default());
    }
    Built::of(place, &git::tracked(cache, place)?, &Without::of_study(own))
}

/// Where a path of the study is, links followed.
pub(super) fn resolved(study_dir: &Path, path: &str) -> Result<PathBuf, Error> {
    let place = study_dir.join(path);
    std::fs::canonicalize(&place).at("find", &place)
}
