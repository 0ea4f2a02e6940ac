//! Where the source is had from, and where its study will be: a folder gets the study into itself, anything else a new folder
//! in the current one. It fetches nothing by itself: that is done by the crate `builds`, by hash.

use bakeoff_builds::{Cache, KeptSource, Limits, find_source, kept_source, place_in_repository, unpack_archive};
use bakeoff_command::{Code, CommandError};
use bakeoff_model::study::{Source, SourceFrom};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A source and the place of its study.
pub(crate) struct Origin {
    /// What it is called, as a study may be called.
    pub(crate) name: String,
    /// The folder that the study is written into.
    pub(crate) study_dir: PathBuf,
    /// Keys of the source in the study file.
    pub(crate) keys: Vec<(&'static str, String)>,
    /// The source itself, to look at.
    pub(crate) tree: PathBuf,
    /// Where it was unpacked to, if it had to be.
    _unpacked: Option<TempDir>,
}

/// Finds what the user means.
///
/// # Errors
/// If there is nothing, or it cannot be fetched.
pub(crate) fn resolve(cache: &Cache, what: &str) -> Result<Origin, CommandError> {
    let path = Path::new(what);
    if let Some(package) = what.strip_prefix("debian:") {
        return debian(cache, package);
    }
    if path.is_dir() {
        return of_folder(cache, path);
    }
    if path.is_file() {
        return of_archive(path);
    }
    if is_archive_name(what) && what.contains("://") {
        let name = stem(what.rsplit('/').next().unwrap_or(what));
        return fetched(cache, &name, SourceFrom::Url(what.to_owned()), vec![("url", what.to_owned())]);
    }
    if what.contains("://") || what.starts_with("git@") || what.ends_with(".git") {
        let last = what.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(what);
        let from = SourceFrom::git(what, "HEAD");
        return fetched(cache, last.trim_end_matches(".git"), from, vec![("git", what.to_owned())]);
    }
    Err(CommandError::usage(format!("there is no file or folder `{what}`"))
        .hint("name a folder with source code, a Git URL, an archive, or a Debian source package as debian:lua5.4"))
}

fn of_folder(cache: &Cache, path: &Path) -> Result<Origin, CommandError> {
    let dir = path.canonicalize().map_err(CommandError::usage)?;
    let name = study_name(&dir.file_name().unwrap_or_default().to_string_lossy());
    // What a repository ignores was built, or is of no use to a build.
    let is_top = place_in_repository(cache, &dir)?.is_ok_and(|place| place.as_os_str().is_empty());
    let keys = match is_top && dir.join(".git").exists() {
        true => vec![("git", ".".to_owned()), ("revision", "worktree".to_owned())],
        false => vec![("path", ".".to_owned())],
    };
    Ok(Origin { name, study_dir: dir.clone(), keys, tree: dir, _unpacked: None })
}

fn of_archive(path: &Path) -> Result<Origin, CommandError> {
    let file = path.canonicalize().map_err(CommandError::usage)?;
    let name = study_name(&stem(&file.file_name().unwrap_or_default().to_string_lossy()));
    let (tree, unpacked) = unpack(&file)?;
    let study_dir = std::path::absolute(&name).map_err(CommandError::usage)?;
    let keys = vec![("path", file.display().to_string())];
    Ok(Origin { name, study_dir, keys, tree, _unpacked: Some(unpacked) })
}

/// What `apt-get source` leaves, unpacked and patched.
fn debian(cache: &Cache, package: &str) -> Result<Origin, CommandError> {
    let is_package = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    if package.is_empty() || !package.chars().all(is_package) {
        return Err(CommandError::usage(format!("`{package}` is not the name of a Debian package")));
    }
    let fetch = format!("cd \"$DOWNLOAD\" && apt-get -qq source {package} && find . -maxdepth 1 -type f -delete");
    fetched(cache, package, SourceFrom::Fetch(fetch.clone()), vec![("fetch", fetch)])
}

/// A source that is fetched now, and accepted by its hash from now on.
fn fetched(
    cache: &Cache,
    name: &str,
    from: SourceFrom,
    mut keys: Vec<(&'static str, String)>,
) -> Result<Origin, CommandError> {
    let name = study_name(name);
    let here = std::env::current_dir().map_err(CommandError::usage)?;
    let source = Source { name: name.clone(), from, sha256: None, unpack: true, disk_bytes: None };
    let found = find_source(cache, &here, &source, &|_| {})?.map_err(|not| {
        let said = not.tail.iter().map(|line| format!("    {line}\n")).collect::<String>();
        CommandError::text(Code::VariantFailed, format!("error: {}\n{said}", not.why))
    })?;
    keys.extend(found.commit.map(|commit| ("revision", commit)));
    keys.push(("sha256", found.sha256.clone()));
    let (tree, unpacked) = match kept_source(cache.root(), &found.sha256) {
        Some(KeptSource::File(file)) => unpack(&file).map(|(tree, unpacked)| (tree, Some(unpacked)))?,
        Some(KeptSource::Folder(folder)) => (folder.join("tree"), None),
        None => return Err(CommandError::text(Code::Internal, "error: the cache lost the source\n".to_owned())),
    };
    Ok(Origin { study_dir: here.join(&name), name, keys, tree, _unpacked: unpacked })
}

/// Unpacks an archive to a folder that is gone when nobody needs it; what its only folder holds, if it has only one.
fn unpack(file: &Path) -> Result<(PathBuf, TempDir), CommandError> {
    let folder = tempfile::tempdir().map_err(CommandError::usage)?;
    let into = folder.path().join("tree");
    unpack_archive(file, &into, &Limits::default()).map_err(CommandError::usage)?;
    let inside: Vec<PathBuf> = into.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let tree = match &inside[..] {
        [only] if only.is_dir() => only.clone(),
        _ => into,
    };
    Ok((tree, folder))
}

fn is_archive_name(text: &str) -> bool {
    [".tar", ".tgz", ".tbz2", ".txz", ".zip"].iter().any(|end| text.ends_with(end)) || text.contains(".tar.")
}

/// The name of an archive without what says how it is packed.
fn stem(name: &str) -> String {
    let name = name.split_once(".tar").map_or(name, |(stem, _)| stem);
    let ends = [".tgz", ".tbz2", ".txz", ".zip", ".orig"];
    ends.iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name)).to_owned()
}

/// A name as a study and a source may have it.
pub(crate) fn study_name(text: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() || "_-+".contains(c) { c } else { '-' };
    let name: String = text.chars().map(sign).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "program".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_archives_and_studies() {
        for (file, expect) in [
            ("lua5.4_5.4.4.orig.tar.gz", "lua5-4_5-4-4"),
            ("zopfli-1.0.3.tgz", "zopfli-1-0-3"),
            ("x.zip", "x"),
            ("...", "program"),
        ] {
            assert_eq!(study_name(&stem(file)), expect, "{file}");
        }
    }
}
