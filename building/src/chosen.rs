//! Files of a prefix that a study names by patterns. The callers know what they are good for.

use crate::Building;
use crate::error::{At, Error};
use crate::files::entries;
use bakeoff_model::pattern::fits;
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
        let is_folder = fs::symlink_metadata(&entry).at("inspect", &entry)?.is_dir();
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

/// Whether a path, given by its parts, fits: `*` stands for any characters of one part, `**` for any number of parts.
fn fits_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) if fits_path(rest, path) => true,
        (["**", ..], [_, below @ ..]) => fits_path(pattern, below),
        ([first, rest @ ..], [name, below @ ..]) => fits(first, name) && fits_path(rest, below),
        _ => false,
    }
}

/// Whether anything below this folder can be one that the pattern means.
fn may_fit_below(pattern: &[&str], folder: &[&str]) -> bool {
    match (pattern, folder) {
        (["**", ..], _) => true,
        (_, []) => !pattern.is_empty(),
        ([first, rest @ ..], [name, below @ ..]) => fits(first, name) && may_fit_below(rest, below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn chosen_files_have_sizes() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path();
        fs::create_dir_all(prefix.join("lib/deep")).unwrap();
        fs::create_dir(prefix.join("bin")).unwrap();
        fs::write(prefix.join("bin/tool"), "four").unwrap();
        fs::write(prefix.join("lib/deep/libx.so.1"), "fivee").unwrap();
        symlink("libx.so.1", prefix.join("lib/deep/libx.so")).unwrap();
        symlink("nowhere", prefix.join("lib/deep/gone.so")).unwrap();
        let check = |patterns: &[&str], expect: &[(&str, u64)]| {
            let found = Building::files_meant(prefix, patterns).unwrap();
            let found: Vec<(&str, u64)> = found.iter().map(|(path, about)| (path.as_str(), about.len())).collect();
            assert_eq!(found, expect);
        };
        check(&[], &[]);
        check(&["bin/tool", "bin/other"], &[("bin/tool", 4)]);
        check(&["**/*.so"], &[("lib/deep/libx.so", 5)]);
        check(&["lib/*/*", "bin/*"], &[("bin/tool", 4), ("lib/deep/libx.so", 5), ("lib/deep/libx.so.1", 5)]);
        check(&["lib"], &[]);
    }

    #[test]
    fn two_stars_stand_for_folders() {
        let parts = |text: &'static str| text.split('/').collect::<Vec<_>>();
        let check = |pattern, path, expect| {
            assert_eq!(fits_path(&parts(pattern), &parts(path)), expect, "{pattern} {path}");
        };
        check("bin/perl", "bin/perl", true);
        check("bin/*", "bin/perl", true);
        check("bin/*", "bin/deep/perl", false);
        check("**/*.so", "libperl.so", true);
        check("lib/**/*.so", "lib/a/b/libperl.so", true);
        check("lib/**/*.so", "bin/a.so", false);
        check("lib/**", "lib/a/b", true);

        let below = |pattern, path, expect| {
            assert_eq!(may_fit_below(&parts(pattern), &parts(path)), expect, "{pattern} {path}");
        };
        below("lib/**/*.so", "lib", true);
        below("lib/**/*.so", "lib/a/b", true);
        below("lib/**/*.so", "bin", false);
        below("bin/*", "bin", true);
        below("bin/*", "bin/deep", false);
        below("bin", "bin", false);
    }
}
