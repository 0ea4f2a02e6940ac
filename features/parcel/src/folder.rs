//! The files of a study's folder that go into a parcel: all that are not hidden. It reads no content.

use super::error::{At, Error};
use std::fs;
use std::path::{Path, PathBuf};

/// More files than this, or more bytes, are not a study's folder but something that a study was put into.
const FILES_MAX: usize = 20_000;
const BYTES_MAX: u64 = 4 << 30;

/// Every file of a study's folder by its name below it, with slashes, sorted. What begins with a dot is left out, and
/// with it `.bakeoff` and `.git`. A link to a file of the same folder, or of the Git repository around it, counts as
/// that file.
///
/// # Errors
/// [`Error::Strange`] for what cannot be a part of a study: devices and their like, links that lead elsewhere or to
/// folders, names that are no text, and more than a study can be.
pub fn files_of_study(dir: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let home = fs::canonicalize(dir).at("resolve", dir)?;
    let mut found = vec![];
    let mut bytes = 0;
    let mut left = vec![(String::new(), home.clone())];
    while let Some((prefix, folder)) = left.pop() {
        for entry in fs::read_dir(&folder).at("list", &folder)? {
            let path = entry.at("list", &folder)?.path();
            let strange = |why: &str| Error::Strange { path: path.clone(), why: why.to_owned() };
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(name) = name else { return Err(strange("has a name that is not UTF-8 text; rename it")) };
            if name.starts_with('.') {
                continue;
            }
            let name = format!("{prefix}{name}");
            if let Some(complaint) = super::name::complaint(&format!("study/{name}")) {
                return Err(strange(&format!("cannot be packed: its path {complaint}; rename or move it")));
            }
            let mut meta = fs::symlink_metadata(&path).at("inspect", &path)?;
            if meta.is_symlink() {
                let target = fs::canonicalize(&path).at("resolve", &path)?;
                if !target.is_file() || !may_follow(&home, &target) {
                    return Err(strange(
                        "is a link that does not point to a file in the study's folder or its Git repository; replace \
                            it with a copy",
                    ));
                }
                meta = fs::metadata(&path).at("inspect", &path)?;
            }
            if meta.is_dir() {
                left.push((format!("{name}/"), path));
                continue;
            }
            if !meta.is_file() {
                return Err(strange("is not a file or folder; remove it, or move it elsewhere"));
            }
            bytes += meta.len();
            found.push((name, path));
            if found.len() > FILES_MAX || bytes > BYTES_MAX {
                return Err(Error::Strange { path: home, why: too_much() });
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a link may bring this file into a parcel: a study of somebody else must not pack any file that it points to.
/// What is hidden in the repository, such as `.git`, stays there.
fn may_follow(home: &Path, target: &Path) -> bool {
    let repository = home.ancestors().find(|above| above.join(".git").exists());
    let inside = repository.and_then(|repository| target.strip_prefix(repository).ok());
    let is_hidden = |path: &Path| path.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
    target.starts_with(home) || inside.is_some_and(|path| !is_hidden(path))
}

fn too_much() -> String {
    let gib = BYTES_MAX >> 30;
    format!(
        "exceeds the limit of {FILES_MAX} files or {gib} GiB for a study; move unrelated files out of it, or into a \
            folder whose name begins with a dot"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(dir: &Path) -> Result<Vec<String>, String> {
        let files = files_of_study(dir).map_err(|error| error.to_string())?;
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn everything_that_is_not_hidden_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("study");
        fs::create_dir_all(dir.join("patches")).unwrap();
        fs::create_dir_all(dir.join(".git")).unwrap();
        for name in ["study.toml", "patches/b.patch", "patches/.swp", ".git/HEAD", "patches.txt"] {
            fs::write(dir.join(name), "x").unwrap();
        }
        symlink("patches/b.patch", dir.join("link")).unwrap();
        assert_eq!(names(&dir).unwrap(), ["link", "patches.txt", "patches/b.patch", "study.toml"]);
    }

    #[test]
    fn a_link_to_a_file_of_the_repository_counts_as_that_file() {
        let folder = tempfile::tempdir().unwrap();
        let (studies, git) = (folder.path().join("studies"), folder.path().join(".git"));
        let dir = studies.join("one");
        fs::create_dir_all(&dir).unwrap();
        fs::write(studies.join("fetch.sh"), "").unwrap();
        symlink("../fetch.sh", dir.join("fetch.sh")).unwrap();
        let said = names(&dir).unwrap_err();
        assert!(said.contains("fetch.sh` is a link") && said.contains("replace it with a copy"), "{said}");
        fs::create_dir(&git).unwrap();
        assert_eq!(names(&dir).unwrap(), ["fetch.sh"]);
        fs::write(git.join("config"), "").unwrap();
        symlink("../../.git/config", dir.join("config")).unwrap();
        let said = names(&dir).unwrap_err();
        assert!(said.contains("config` is a link"), "{said}");
    }

    #[test]
    fn what_is_strange_is_named() {
        let check = |make: &dyn Fn(&Path), expect: &str| {
            let folder = tempfile::tempdir().unwrap();
            make(folder.path());
            let said = names(folder.path()).unwrap_err();
            assert!(said.contains(expect), "{said}");
        };
        check(&|dir| symlink("/etc/hostname", dir.join("out")).unwrap(), "out` is a link");
        check(&|dir| symlink(".", dir.join("self")).unwrap(), "self` is a link");
        check(
            &|dir| drop(std::os::unix::net::UnixListener::bind(dir.join("s")).unwrap()),
            "s` is not a file or folder",
        );
        check(&|dir| fs::write(dir.join("a\nb"), "").unwrap(), "a control character or a backslash");
    }
}
