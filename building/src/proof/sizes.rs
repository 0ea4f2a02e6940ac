//! Sizes of the files of a prefix that a study wants reported. They come from the file system each time, so that
//! a study may choose other files without building anything again.

use crate::Building;
use crate::error::Error;
use std::collections::BTreeMap;
use std::path::Path;

/// The sizes in bytes of all files that any of the patterns means, by path below the prefix. A link counts with the
/// size of the file that it leads to. That a pattern means no file is no failure: variants install different files.
pub(super) fn sizes(prefix: &Path, patterns: &[&String]) -> Result<BTreeMap<String, u64>, Error> {
    let patterns: Vec<&str> = patterns.iter().map(|pattern| pattern.as_str()).collect();
    Ok(Building::files_meant(prefix, &patterns)?.into_iter().map(|(path, about)| (path, about.len())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
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
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let found = sizes(prefix, &patterns.iter().collect::<Vec<_>>()).unwrap();
            assert_eq!(found, expect.iter().map(|(path, size)| ((*path).to_owned(), *size)).collect());
        };
        check(&[], &[]);
        check(&["bin/tool", "bin/other"], &[("bin/tool", 4)]);
        check(&["**/*.so"], &[("lib/deep/libx.so", 5)]);
        check(&["lib/*/*", "bin/*"], &[("bin/tool", 4), ("lib/deep/libx.so", 5), ("lib/deep/libx.so.1", 5)]);
        check(&["lib"], &[]);
    }
}
