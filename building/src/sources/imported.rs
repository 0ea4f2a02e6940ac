//! Sources that came in a parcel: taken into the cache by their hash, like any other, and never otherwise.

use super::Sources;
use super::tree::{Without, content_sha256};
use crate::cache::Cache;
use crate::error::{At, Error};
use crate::files::{entries, fresh_folder, wipe};
use crate::request::Request;
use crate::unpack::Limits;
use std::fs;
use std::path::Path;

impl Cache {
    /// Takes what came as a source into the cache, if it is what its hash says: `path` is the file itself or, if `is_tree`,
    /// a tar of the folder that a cache kept it in. Says whether the cache has it now.
    ///
    /// # Errors
    /// Any [`Error`]; that it is not what its hash says is none of them.
    pub fn import_source(&self, path: &Path, sha256: &str, is_tree: bool) -> Result<bool, Error> {
        let sources = Sources::new(self, Request::nothing(self.root()), &|_| {});
        let _lock = self.lock(sha256, |_| {})?;
        if sources.accepted(sha256)?.is_some() {
            return Ok(true);
        }
        let work = self.paths.work_of(sha256);
        let arrived = work.join("download");
        fresh_folder(&arrived)?;
        if is_tree {
            if Limits::default().unpack(path, &arrived).is_err() {
                wipe(&work)?;
                return Ok(false);
            }
        } else {
            let target = arrived.join(path.file_name().unwrap_or_default());
            fs::copy(path, &target).at("copy the source to", &target)?;
        }
        let accepted = match &entries(&arrived)?[..] {
            [only] if content_sha256(only, &Without::default())?.0 == sha256 => {
                sources.keep(only, sha256, &work).map(|_| true)?
            }
            _ => false,
        };
        wipe(&work)?;
        Ok(accepted)
    }
}
