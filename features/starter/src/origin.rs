//! Where the source is had from, and where its study will be: a folder gets the study into itself, anything else a new folder
//! in the current one. The crate `builds` fetches it, by hash; the commands that it runs are written here.

use bakeoff_building::{Cache, KeptSource, Limits, Source, SourceFrom};
use bakeoff_command::{Code, CommandError};
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
    if let Some(name) = what.strip_prefix("crate:") {
        return krate(cache, name);
    }
    if let Some(module) = what.strip_prefix("go:") {
        return go_module(cache, module);
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
    Err(CommandError::usage(format!("there is no file or folder `{what}`")).hint(
        "name a folder with source code, a Git URL, an archive, a Debian source package (debian:lua5.4), a crate \
         (crate:hexyl), or a Go module (go:example.org/prog)",
    ))
}

fn of_folder(cache: &Cache, path: &Path) -> Result<Origin, CommandError> {
    let dir = path.canonicalize().map_err(CommandError::usage)?;
    let name = study_name(&stem(&dir.file_name().unwrap_or_default().to_string_lossy()));
    // What a repository ignores was built, or is of no use to a build.
    let is_top = cache.is_top_of_repository(&dir)?;
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

/// What `apt-get source` leaves, unpacked and patched. The study gets the script that asks for it.
fn debian(cache: &Cache, package: &str) -> Result<Origin, CommandError> {
    const SCRIPT: &str = "debian-source.sh";
    is_name(package, "Debian package name")?;
    let study_dir = std::path::absolute(study_name(package)).map_err(CommandError::usage)?;
    let is_new = !study_dir.exists();
    let script = study_dir.join(SCRIPT);
    let written =
        std::fs::create_dir_all(&study_dir).and_then(|()| std::fs::write(&script, include_str!("debian-source.sh")));
    written.map_err(|error| CommandError::unwritten(&format!("cannot write {}", script.display()), &error))?;
    let found = by_command(cache, package, format!("sh {SCRIPT} {package}"));
    if found.is_err() && is_new {
        // Nothing is left of what came to nothing.
        let _ = std::fs::remove_file(&script).and_then(|()| std::fs::remove_dir(&study_dir));
    }
    found
}

/// A crate, with the version that it turned out to be if none is said.
fn krate(cache: &Cache, what: &str) -> Result<Origin, CommandError> {
    let (name, version) = what.split_once('@').map_or((what, None), |(name, version)| (name, Some(version)));
    is_name(name, "crate name")?;
    version.map_or(Ok(()), |version| is_name(version, "version"))?;
    // To say something about a crate, Cargo loads it, and nothing else.
    let fetch = |version: &str, found: &str| {
        format!(
            "cd \"$DOWNLOAD\" && {found} && set -- \"${{CARGO_HOME:-$HOME/.cargo}}\"/registry/src/*/{name}-{version} \
             && cp -R \"$1\" source && rm -f source/.cargo-ok"
        )
    };
    let fetch_version = |version: &str| fetch(version, &format!("cargo info -q {name}@{version} > /dev/null"));
    if let Some(version) = version {
        return by_command(cache, name, fetch_version(version));
    }
    let newest = format!("version=$(cargo info -q {name} | sed -n 's/^version: \\([^ ]*\\).*/\\1/p')");
    let mut origin = by_command(cache, name, fetch("$version", &newest))?;
    let manifest = std::fs::read_to_string(origin.tree.join("Cargo.toml")).unwrap_or_default();
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    if let (Some(version), Some((_, command))) = (version, origin.keys.iter_mut().find(|(key, _)| *key == "fetch")) {
        *command = fetch_version(version);
    }
    Ok(origin)
}

/// A Go module, as it is published.
fn go_module(cache: &Cache, what: &str) -> Result<Origin, CommandError> {
    let (module, version) = what.split_once('@').unwrap_or((what, "latest"));
    module.split('/').try_for_each(|part| is_name(part, "part of a Go module path"))?;
    is_name(version, "version")?;
    let fetch = format!(
        "cd \"$DOWNLOAD\" && dir=$(go mod download -json {module}@{version} | sed -n 's/^.*\"Dir\": \
         \"\\(.*\\)\".*/\\1/p') && cp -R \"$dir\" source && chmod -R u+w source"
    );
    // The last part may only be a major version: example.org/prog/v4.
    let is_version = |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let name = module.rsplit('/').find(|part| !is_version(part)).unwrap_or(module);
    by_command(cache, name, fetch)
}

/// Whether a text can stand in a command as it is.
fn is_name(text: &str, what: &str) -> Result<(), CommandError> {
    let sign = |c: char| c.is_ascii_alphanumeric() || "+-._~".contains(c);
    if text.is_empty() || text.starts_with('-') || !text.chars().all(sign) {
        return Err(CommandError::usage(format!("`{text}` is not a valid {what}")));
    }
    Ok(())
}

fn by_command(cache: &Cache, name: &str, command: String) -> Result<Origin, CommandError> {
    fetched(cache, name, SourceFrom::Fetch(command.clone()), vec![("fetch", command)])
}

/// A source that is fetched now, and accepted by its hash from now on.
fn fetched(
    cache: &Cache,
    name: &str,
    from: SourceFrom,
    mut keys: Vec<(&'static str, String)>,
) -> Result<Origin, CommandError> {
    let name = study_name(name);
    let study_dir = std::path::absolute(&name).map_err(CommandError::usage)?;
    let here =
        if study_dir.is_dir() { study_dir.clone() } else { std::env::current_dir().map_err(CommandError::usage)? };
    let source = Source { name: name.clone(), from, sha256: None, unpack: true, disk_bytes: None };
    let found = cache.find_source(&here, &source, &|_| {}).map_err(|stop| {
        stop.with(|not| {
            let said = not.tail.iter().map(|line| format!("    {line}\n")).collect::<String>();
            CommandError::text(Code::VariantFailed, format!("error: {}\n{said}", not.why))
        })
    })?;
    keys.extend(found.commit.map(|commit| ("revision", commit)));
    keys.push(("sha256", found.sha256.clone()));
    let (tree, unpacked) = match Cache::kept_source(cache.root(), &found.sha256) {
        Some(KeptSource::File(file)) => unpack(&file).map(|(tree, unpacked)| (tree, Some(unpacked)))?,
        Some(KeptSource::Folder(folder)) => (folder.join("tree"), None),
        None => {
            return Err(CommandError::text(
                Code::Internal,
                "error: the source is no longer in the cache; run the command again\n".to_owned(),
            ));
        }
    };
    Ok(Origin { study_dir, name, keys, tree, _unpacked: unpacked })
}

/// Unpacks an archive to a folder that is gone when nobody needs it; what its only folder holds, if it has only one.
fn unpack(file: &Path) -> Result<(PathBuf, TempDir), CommandError> {
    let folder = tempfile::tempdir().map_err(CommandError::usage)?;
    let into = folder.path().join("tree");
    Limits::default().unpack(file, &into).map_err(CommandError::usage)?;
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

/// The name of an archive without what says how it is packed, and which version it is.
fn stem(name: &str) -> String {
    let name = name.split_once(".tar").map_or(name, |(stem, _)| stem);
    let ends = [".tgz", ".tbz2", ".txz", ".zip", ".orig"];
    let name = ends.iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name));
    let is_version = |rest: &str| rest.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let cut = name.match_indices(['-', '_']).find(|&(at, _)| at > 0 && is_version(&name[at + 1..]));
    cut.map_or(name, |(at, _)| &name[..at]).to_owned()
}

/// A folder as one would type it here.
pub(crate) fn shown(dir: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    match dir.strip_prefix(&here) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => dir.display().to_string(),
    }
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
            ("lua5.4_5.4.4.orig.tar.gz", "lua5-4"),
            ("zopfli-1.0.3.tgz", "zopfli"),
            ("7zip-v22.tar.xz", "7zip"),
            ("ninja-build_1.11.1.orig.tar.gz", "ninja-build"),
            ("x.zip", "x"),
            ("...", "program"),
        ] {
            assert_eq!(study_name(&stem(file)), expect, "{file}");
        }
    }
}
