//! What makes the trials of a journal comparable, part by part, so that a later command can say which part is
//! another one now. The identity of a plan is one digest of the same; it names a journal, and this explains it.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How the key of a variant begins.
pub const VARIANT_KEY: &str = "the variant ";

/// The parts. Builds are not among them: they stand with the variants ([`super::VariantLine::build`]).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Basis {
    /// A digest of each key of the study, by its name there.
    pub keys: BTreeMap<String, String>,
    /// A digest of each file of the study that trials depend on, as it was before the first session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Files that were among those until a trial changed them: nothing depends on them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub written: BTreeSet<String>,
    /// What was seen of other files that trials read, by their paths: a digest, `absent`, or [`CHANGED`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, String>,
}

/// Stands in [`Basis::seen`] for a file that was changed while trials ran: no later state of it is the same.
pub const CHANGED: &str = "changed";

/// A part that is another one now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A key of the study was changed.
    Key(String),
    /// A key of the study came.
    NewKey(String),
    /// A key of the study went.
    NoKey(String),
    /// A file was changed.
    File(String),
    /// A file is no longer there.
    NoFile(String),
    /// What a variant runs is another build.
    Build(String),
    /// A variant that had trials of its own shares the row of another one, which is the same program.
    Shared(String, String),
    /// A variant that shared a row has trials of its own.
    Apart(String),
}

impl Basis {
    /// Takes a file out of what trials depend on; false if it was not in it.
    pub fn mark_written(&mut self, file: &str) -> bool {
        let known = self.files.remove(file).is_some();
        known && self.written.insert(file.to_owned())
    }

    /// Which keys and files are other ones now.
    pub(super) fn changes(&self, now: &Self) -> Vec<Change> {
        // A file that was not there before the first session is made by trials: they did without it.
        let new = now.keys.keys().filter(|name| !self.keys.contains_key(*name)).cloned().map(Change::NewKey);
        let keys = differing(&self.keys, &now.keys, Change::NoKey, Change::Key).chain(new);
        let files = differing(&self.files, &now.files, Change::NoFile, Change::File);
        let is_other = |(path, state): &(&String, &String)| now.seen.get(*path).is_some_and(|now| now != *state);
        let seen = self.seen.iter().filter(is_other).map(|(path, _)| Change::File(path.clone()));
        keys.chain(files).chain(seen).collect()
    }
}

/// Each entry that is missing now, or has another digest.
fn differing<'a>(
    then: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
    missing: fn(String) -> Change,
    other: fn(String) -> Change,
) -> impl Iterator<Item = Change> + 'a {
    then.iter().filter_map(move |(name, digest)| match now.get(name) {
        None => Some(missing(name.clone())),
        Some(digest_now) => (digest_now != digest).then(|| other(name.clone())),
    })
}
