//! What features ask of a cache: each call leads to the file that knows.

use crate::commands::build::{build, tell};
use crate::error::Error;
use crate::event::BuildEvent;
use crate::kept::{self, KeptSource};
use crate::nouns::Source;
use crate::request::Request;
use crate::source_notes::source_note;
use crate::sources::{self, Found, NotFound};
use crate::study_file::lock::{self, Lock};
use crate::survey::{Wanted, survey};
use crate::unpack::{Limits, UnpackError, Unpacked, unpack_archive};
use crate::wrappers::Made;
use crate::{Building, Cache, chosen, schedule, wrapper};
use bakeoff_command::{CommandError, Order};
use bakeoff_model::problem::Problem;
use bakeoff_model::record::BuildLine;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Gets to know what happens.
type Report<'a> = &'a (dyn Fn(BuildEvent) + Sync);

impl Cache {
    /// The builds that a request amounts to, and what the cache holds of them.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn survey(&self, request: &Request<'_>) -> Result<Vec<Wanted>, Error> {
        survey(self, request)
    }

    /// Makes the builds that the cache does not hold.
    ///
    /// # Errors
    /// Any [`Error`]; a build that fails is none.
    pub fn build_all(&self, request: &Request<'_>, report: Report<'_>) -> Result<Vec<BuildLine>, Error> {
        schedule::build_all(self, request, report)
    }

    /// Brings a source into the cache, wherever it comes from.
    ///
    /// # Errors
    /// Any [`Error`]; a source that is not to be had is none.
    pub fn find_source(
        &self,
        dir: &Path,
        source: &Source,
        report: Report<'_>,
    ) -> Result<Result<Found, NotFound>, Error> {
        sources::find_source(self, dir, source, report)
    }

    /// Takes a file into the cache as the source of that hash; false if it is not what the hash says.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn import_source(&self, file: &Path, sha256: &str, is_tree: bool) -> Result<bool, Error> {
        sources::import_source(self, file, sha256, is_tree)
    }

    /// Where a folder is in its Git repository, or why it is in none.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn place_in_repository(&self, folder: &Path) -> Result<Result<PathBuf, String>, Error> {
        sources::place_in_repository(self, folder)
    }

    /// The name by which everything of a layer is kept; `None` if this is no digest.
    pub fn short_name(digest: &str) -> Option<&str> {
        kept::short_name(digest)
    }

    /// The record, manifest and log of a layer that the cache with that root has: the name of each in a copy, and its place.
    pub fn kept_of_layer(root: &Path, digest: &str) -> Vec<(&'static str, PathBuf)> {
        kept::kept_of_layer(root, digest)
    }

    /// The prefix of a layer in the cache with that root; `None` if it is not whole.
    pub fn kept_prefix(root: &Path, digest: &str) -> Option<PathBuf> {
        kept::kept_prefix(root, digest)
    }

    /// What the cache with that root keeps of a source.
    pub fn kept_source(root: &Path, sha256: &str) -> Option<KeptSource> {
        kept::kept_source(root, sha256)
    }

    /// The tree that a layer was built in, if it is still there.
    pub fn kept_tree(&self, digest: &str) -> Option<PathBuf> {
        kept::kept_tree(self.root(), digest)
    }

    /// What the script of a layer compiled and linked, if the cache knows it.
    pub fn made_by(&self, digest: &str) -> Option<Made> {
        kept::made_by(self.root(), digest)
    }

    /// A revision as a source, with its commit in place of the revision; or why it is not to be had.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn pinned_revision(
        &self,
        repository: &Path,
        named: (&str, &str),
        report: Report<'_>,
    ) -> Result<Result<Source, NotFound>, Error> {
        sources::pinned_revision(self, repository, named, report)
    }

    /// The files in which two builds differ; `None` if that cannot be known.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn differences(&self, builds: [&str; 2]) -> Result<Option<Vec<PathBuf>>, Error> {
        crate::proof::differences(self, builds)
    }

    /// Makes the builds of an order, and says on standard error what happens.
    ///
    /// # Errors
    /// Any [`Error`]; a build that fails is none.
    pub fn build(&self, order: &Order<'_>) -> Result<Vec<BuildLine>, CommandError> {
        build(self, order, false)
    }
}

impl BuildEvent {
    /// Says on standard error what happens.
    pub fn tell(self) {
        tell(self);
    }

    /// What it says of a source that is not what it seems.
    pub fn note(&self) -> Option<String> {
        source_note(self)
    }
}

impl Limits {
    /// Unpacks an archive into an empty folder.
    ///
    /// # Errors
    /// What the archive does that it must not.
    pub fn unpack(&self, archive: &Path, into: &Path) -> Result<Unpacked, UnpackError> {
        unpack_archive(archive, into, self)
    }
}

impl Building {
    /// The files of a prefix that patterns with `*` mean.
    ///
    /// # Errors
    /// Of a folder that cannot be listed.
    pub fn files_meant(prefix: &Path, patterns: &[&str]) -> Result<BTreeMap<String, Metadata>, Error> {
        chosen::files(prefix, patterns)
    }

    /// Whether a program of this name compiles or links.
    pub fn compiles_or_links(name: &[u8]) -> bool {
        wrapper::compiles_or_links(name)
    }

    /// A lock file.
    ///
    /// # Errors
    /// All that is wrong in it.
    pub fn parse_lock(text: &str) -> Result<Lock, Vec<Problem>> {
        lock::parse(text)
    }
}
