//! Files of a prefix that a study names by patterns. The callers know what they are good for.

use crate::Building;
use crate::error::{At, Error};
use crate::files::entries;
use bakeoff_model::pattern::{fits_path, may_fit_below};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;

impl Building {
    /// All files that any of the patterns means, by path below the prefix. A link stands for the file that it leads to.
    ///
    /// # Errors
    /// Any [`Error`] of a folder that cannot be listed.
    pub fn files_meant(prefix: &Path, patterns: &[&str]) -> Result<BTreeMap<String, Metadata>, Error> {
        let patterns: Vec<Vec<&str>> = patterns.iter().map(|pattern| pattern.split('/').collect()).collect();
        let mut found = BTreeMap::new();
        if !patterns.is_empty() {
            below(prefix, &mut vec![], &patterns, &mut found)?;
        }
        Ok(found)
    }
}

fn below(
    folder: &Path,
    path: &mut Vec<String>,
    patterns: &[Vec<&str>],
    found: &mut BTreeMap<String, Metadata>,
) -> Result<(), Error> {
    for entry in entries(folder)? {
        path.push(entry.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let is_folder = fs::symlink_metadata(&entry).at("look at", &entry)?.is_dir();
        if is_folder && patterns.iter().any(|pattern| may_fit_below(pattern, &names)) {
            below(&entry, path, patterns, found)?;
        } else if !is_folder && patterns.iter().any(|pattern| fits_path(pattern, &names)) {
            // A link that leads nowhere is no file.
            if let Some(about) = fs::metadata(&entry).ok().filter(Metadata::is_file) {
                found.insert(path.join("/"), about);
            }
        }
        path.pop();
    }
    Ok(())
}
