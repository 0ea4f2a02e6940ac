//! What a cache keeps of layers and sources, as files that can be copied. Digests come from journals, which can come from
//! anybody: whatever is no digest names no file.

use crate::Cache;
use crate::files::{entries, is_sha256, read_json};
use crate::paths::{Paths, short};
use crate::wrappers::CallSummary;
use std::path::{Path, PathBuf};

/// A source as a cache keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptSource {
    /// One file.
    File(PathBuf),
    /// A folder, with whatever it holds.
    Folder(PathBuf),
}

impl Cache {
    /// The first 32 digits of a digest, by which everything of its layer is named; none if it is no digest.
    pub fn short_name(digest: &str) -> Option<&str> {
        is_sha256(digest).then(|| short(digest))
    }

    /// The record, manifest and log of a layer, as far as the cache with that root has them: what each is called in a copy,
    /// and where it is.
    pub fn kept_of_layer(root: &Path, digest: &str) -> Vec<(&'static str, PathBuf)> {
        let Some(name) = Self::short_name(digest) else { return vec![] };
        let paths = Paths::below(root.to_owned());
        let files = [
            ("record.json", paths.record_of(name)),
            ("manifest", paths.manifest_of(name)),
            ("build.log", paths.log_of(name)),
        ];
        files.into_iter().filter(|(_, path)| path.is_file()).collect()
    }

    /// The prefix of a layer in the cache with that root; none if it is not whole.
    pub fn kept_prefix(root: &Path, digest: &str) -> Option<PathBuf> {
        let name = Self::short_name(digest)?;
        let paths = Paths::below(root.to_owned());
        let path = paths.prefix_of(name);
        (path.is_dir() && paths.record_of(name).is_file()).then_some(path)
    }

    /// The tree that a layer was built in, if it is still there: because it was to be kept, or because building it failed.
    pub fn kept_tree(&self, digest: &str) -> Option<PathBuf> {
        let tree = self.paths.tree_of(Self::short_name(digest)?);
        tree.is_dir().then_some(tree)
    }

    /// What the script of a layer compiled and linked; `None` if the cache does not know it.
    pub fn call_summary(&self, digest: &str) -> Option<CallSummary> {
        read_json(&self.paths.made_of(Self::short_name(digest)?))
    }

    /// What the cache with that root keeps of a source.
    pub fn kept_source(root: &Path, sha256: &str) -> Option<KeptSource> {
        if !is_sha256(sha256) {
            return None;
        }
        let folder = Paths::below(root.to_owned()).source_folder(sha256);
        match &entries(&folder).ok()?[..] {
            [file] if file.is_file() && !file.is_symlink() => Some(KeptSource::File(file.clone())),
            [only] if only.is_dir() => Some(KeptSource::Folder(folder)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_digest_names_nothing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("logs")).unwrap();
        let cache = Cache::open(root.path().to_owned()).unwrap();
        std::fs::write(root.path().join("secret.log"), "").unwrap();
        for digest in ["../secret", "", "..", &"A".repeat(64), &"a/".repeat(32), &"0".repeat(63)] {
            assert_eq!(Cache::kept_of_layer(root.path(), digest), [], "{digest}");
            assert_eq!(Cache::kept_prefix(root.path(), digest), None, "{digest}");
            assert_eq!(cache.kept_tree(digest), None, "{digest}");
            assert_eq!(Cache::kept_source(root.path(), digest), None, "{digest}");
        }
        std::fs::write(root.path().join(format!("logs/{}.log", "0".repeat(32))), "").unwrap();
        assert_eq!(Cache::kept_of_layer(root.path(), &"0".repeat(64)).len(), 1);
    }
}
