//! The files of a source, wherever in its folders they are.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

/// The files in a folder and those within, relative to it, folder by folder: no deeper than this, and not in folders that are
/// left out.
pub(crate) fn files(top: &Path, deepest: usize, is_left_out: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut all, mut folders) = (vec![], vec![(PathBuf::new(), deepest)]);
    while let Some((folder, deeper)) = folders.pop() {
        let entries = fs::read_dir(top.join(&folder)).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let (mut inner, mut own): (Vec<_>, Vec<_>) = entries.partition(is_folder);
        own.sort_by_key(fs::DirEntry::file_name);
        all.extend(own.iter().map(|entry| folder.join(entry.file_name())));
        // What is pushed last comes first.
        inner.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
        inner.retain(|entry| deeper > 0 && !is_left_out(&entry.path()));
        folders.extend(inner.iter().map(|entry| (folder.join(entry.file_name()), deeper - 1)));
    }
    all
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}
