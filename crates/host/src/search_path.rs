//! Looks programs up on a search path (`PATH`), as execvp(3) does. It starts nothing, and knows no shell's built-in commands.

use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The first file of that name that we may run. Folders of the search path that are not absolute begin in `dir`.
pub fn find(name: impl AsRef<OsStr>, search_path: impl AsRef<OsStr>, dir: &Path) -> Option<PathBuf> {
    let name = name.as_ref();
    if name.is_empty() {
        return None;
    }
    std::env::split_paths(search_path.as_ref())
        .map(|folder| dir.join(folder).join(name))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_first_file_that_may_be_executed_is_found() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        for (file, mode) in [("a/data", 0o644), ("a/p", 0o644), ("b/p", 0o755), ("c/p", 0o755)] {
            fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
            fs::write(dir.join(file), "#!/bin/sh\n").unwrap();
            fs::set_permissions(dir.join(file), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(dir.join("a/b")).unwrap();
        let absolute = dir.join("c").display().to_string();
        assert_eq!(find("p", "nowhere:a:b:c", dir), Some(dir.join("b/p")));
        assert_eq!(find("p", format!("a:{absolute}:b"), dir), Some(dir.join("c/p")));
        for name in ["data", "b", "q", ""] {
            assert_eq!(find(name, "a:b", dir), None, "{name}");
        }
        assert_eq!(find("p", "", &dir.join("b")), Some(dir.join("b/p")), "an empty search path is the folder itself");
    }
}
