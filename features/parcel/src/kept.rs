//! What a cache keeps of layers and sources, under the names that it has in a parcel.

use super::name::complaint;
use bakeoff_building::{Cache, KeptSource};
use std::path::{Path, PathBuf};

/// The record, manifest and log of a layer, as far as the cache with that root has them: the name of each in a parcel,
/// and where it is.
pub(crate) fn files_of_layer(root: &Path, digest: &str) -> Vec<(String, PathBuf)> {
    let name = Cache::short_name(digest).unwrap_or_default();
    let files = Cache::kept_of_layer(root, digest).into_iter();
    files.map(|(file, path)| (format!("layers/{name}/{file}"), path)).collect()
}

/// The prefix of a layer in the cache with that root: its name in a parcel, and where it is; none if it is not whole.
pub(crate) fn prefix_of_layer(root: &Path, digest: &str) -> Option<(String, PathBuf)> {
    let name = Cache::short_name(digest)?;
    Some((format!("prefixes/{name}.tar"), Cache::kept_prefix(root, digest)?))
}

/// What the cache with that root keeps of a source: a file as itself, anything else as one tar of its folder. The name
/// in a parcel, where it is, and whether it is a folder.
pub(crate) fn source_of(root: &Path, sha256: &str) -> Option<(String, PathBuf, bool)> {
    let folder = |folder: PathBuf| Some((format!("sources/{sha256}.tar"), folder, true));
    match Cache::kept_source(root, sha256)? {
        KeptSource::Folder(path) => folder(path),
        KeptSource::File(file) => {
            let name = format!("sources/{sha256}/{}", file.file_name()?.to_str().unwrap_or_default());
            match complaint(&name) {
                None => Some((name, file, false)),
                Some(_) => folder(file.parent()?.to_owned()),
            }
        }
    }
}
