//! What a cache keeps of layers and sources, as files that can be packed. Digests come from journals, which can come from
//! anybody: whatever is no digest names no file.

use crate::files::entries;
use crate::paths::short;
use std::path::{Path, PathBuf};

/// Whether this is a SHA-256 in lower-case hexadecimal digits, and so cannot lead anywhere.
fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The first 32 digits of a digest, by which everything of its layer is named; none if it is no digest.
pub fn short_name(digest: &str) -> Option<&str> {
    is_digest(digest).then(|| short(digest))
}

/// The record, manifest and log of a layer, as far as the cache with that root has them: the name of each in a parcel,
/// and where it is.
pub fn files_of_layer(root: &Path, digest: &str) -> Vec<(String, PathBuf)> {
    let Some(name) = short_name(digest) else { return vec![] };
    let files = [
        ("record.json", root.join("records").join(format!("{name}.json"))),
        ("manifest", root.join("manifests").join(name)),
        ("build.log", root.join("logs").join(format!("{name}.log"))),
    ];
    let there = files.into_iter().filter(|(_, path)| path.is_file());
    there.map(|(file, path)| (format!("layers/{name}/{file}"), path)).collect()
}

/// The prefix of a layer in the cache with that root: its name in a parcel, and where it is; none if it is not whole.
pub fn prefix_of_layer(root: &Path, digest: &str) -> Option<(String, PathBuf)> {
    let name = short_name(digest)?;
    let path = root.join("builds").join(name);
    let whole = path.is_dir() && root.join("records").join(format!("{name}.json")).is_file();
    whole.then(|| (format!("prefixes/{name}.tar"), path))
}

/// What the cache with that root keeps of a source: a file as itself, anything else as one tar of its folder. The name
/// in a parcel, where it is, and whether it is a folder.
pub fn kept_source(root: &Path, sha256: &str) -> Option<(String, PathBuf, bool)> {
    if !is_digest(sha256) {
        return None;
    }
    let folder = root.join("sources").join(sha256);
    match &entries(&folder).ok()?[..] {
        [file] if file.is_file() && !file.is_symlink() => {
            let name = format!("sources/{sha256}/{}", file.file_name()?.to_str().unwrap_or_default());
            match super::name::complaint(&name) {
                None => Some((name, file.clone(), false)),
                Some(_) => Some((format!("sources/{sha256}.tar"), folder, true)),
            }
        }
        [only] if only.is_dir() => Some((format!("sources/{sha256}.tar"), folder, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_digest_names_nothing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("logs")).unwrap();
        std::fs::write(root.path().join("secret.log"), "").unwrap();
        for digest in ["../secret", "", "..", &"A".repeat(64), &"a/".repeat(32), &"0".repeat(63)] {
            assert_eq!(files_of_layer(root.path(), digest), [], "{digest}");
            assert_eq!(prefix_of_layer(root.path(), digest), None, "{digest}");
            assert_eq!(kept_source(root.path(), digest), None, "{digest}");
        }
        std::fs::write(root.path().join(format!("logs/{}.log", "0".repeat(32))), "").unwrap();
        assert_eq!(files_of_layer(root.path(), &"0".repeat(64)).len(), 1);
    }
}
