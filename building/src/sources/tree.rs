//! Folders as content: the hash of one, and copies of one. What a folder is accepted for is decided in
//! [`super`].

use crate::error::{At, Error};
use crate::files::{entries, hashed, sha256_of};
use bakeoff_host::interrupt;
use bakeoff_model::digest::hex;
use bakeoff_model::study::STATE_FOLDER;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// What Git keeps of a repository: a folder or, of a submodule, a file.
const REPOSITORY: &str = ".git";

/// How the file begins by which programs mark a folder of what they can make again, as Cargo does its `target` (Bryan Ford,
/// Cache Directory Tagging Specification, 2004).
const CACHE: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// The hash of a folder's content, and the bytes of all its files together.
///
/// It is the SHA-256 of the line `bakeoff tree 1\n` and of one record for everything below the folder, however deep, in
/// the order of their paths, compared byte by byte. A path is relative to the folder, with `/` between its names. A
/// record is
///
/// - one byte for the kind: `d` a folder, `f` a file, `x` a file that its owner may run, `l` a symbolic link;
/// - the length of the path in bytes, as eight bytes, the lowest first;
/// - the path;
/// - the SHA-256, 32 bytes, of the file's content or of the link's target; of a folder 32 zeros.
///
/// So empty folders count. Times, owners, other permissions, extended attributes and the name of the folder itself do
/// not, nor does whether two files are one, nor folders called `.bakeoff`, nor what is left out. Links are not followed,
/// unless they lead out of a folder of this machine: such a link is what it leads to, in the hash and in a copy.
fn tree_sha256(folder: &Path, without: &Without<'_>) -> Result<(String, u64), Error> {
    sha256_of_paths(folder, list(folder, Path::new(""), without)?, without.of_machine)
}

/// The same of some of a folder's content: these paths, which are relative to it, and the folders that they are in. No link
/// is followed.
pub(super) fn part_sha256(folder: &Path, paths: &[PathBuf]) -> Result<(String, u64), Error> {
    sha256_of_paths(folder, with_folders(paths).into_iter().collect(), false)
}

/// All files and links below a folder that count, relative to it.
pub(super) fn all_files(folder: &Path, without: &Without<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut paths = list(folder, Path::new(""), without)?;
    paths.retain(|path| !folder.join(path).is_dir() || folder.join(path).is_symlink());
    Ok(paths)
}

/// Where a link leads that leaves its folder, or does in a copy; none for any other, and for one that leads nowhere.
pub(crate) fn leads_out(folder: &Path, link: &Path) -> Option<PathBuf> {
    let text = fs::read_link(link).ok()?;
    let is_below_link = || link.parent().is_some_and(|above| links_on(folder, above) > 0);
    let (real, target) = folder.canonicalize().ok().zip(link.canonicalize().ok())?;
    (text.is_absolute() || !target.starts_with(real) || is_below_link()).then_some(target)
}

/// What is at a place. If that is a link out of the folder to a file or a folder, and `follows`, what is there.
fn about(folder: &Path, place: &Path, follows: bool) -> Result<Metadata, Error> {
    let own = fs::symlink_metadata(place).at("inspect", place)?;
    let Some(target) = leads_out(folder, place).filter(|_| own.is_symlink() && follows) else { return Ok(own) };
    let there = fs::metadata(&target).at("inspect", &target)?;
    let refuse = |why: &str| {
        let source = io::Error::other(format!("it is a link to `{}`: {why}", target.display()));
        Err(Error::File { doing: "copy", path: place.to_owned(), source })
    };
    let above = place.parent().and_then(|above| above.canonicalize().ok());
    match there.is_dir() {
        true if above.is_some_and(|above| above.starts_with(&target)) => {
            refuse("that folder contains the link; remove the link, or name that folder as the source")
        }
        true if links_on(folder, place) > MOST_LINKS => {
            refuse("the links form a cycle; copy the files that the build needs into the source")
        }
        true => Ok(there),
        false => Ok(if there.is_file() { there } else { own }),
    }
}

/// No more links may follow each other on the way out of a source.
const MOST_LINKS: usize = 4;

fn links_on(folder: &Path, place: &Path) -> usize {
    place.ancestors().take_while(|above| *above != folder).filter(|above| above.is_symlink()).count()
}

/// Paths with all folders above them, each once and before what is in it.
fn with_folders(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let above = |path: &PathBuf| path.ancestors().filter(|path| *path != Path::new("")).map(Path::to_owned).collect();
    paths.iter().flat_map::<Vec<PathBuf>, _>(above).collect()
}

fn sha256_of_paths(folder: &Path, mut paths: Vec<PathBuf>, follows: bool) -> Result<(String, u64), Error> {
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    let records: Vec<(u8, Vec<u8>, u64)> =
        paths.par_iter().map(|path| record(folder, &folder.join(path), follows)).collect::<Result<_, _>>()?;

    let mut sha256 = Sha256::new();
    sha256.update("bakeoff tree 1\n");
    let mut bytes = 0;
    for (path, (kind, content, size_bytes)) in paths.iter().zip(records) {
        let path = path.as_os_str().as_bytes();
        sha256.update([kind]);
        sha256.update((path.len() as u64).to_le_bytes());
        sha256.update(path);
        sha256.update(content);
        bytes += size_bytes;
    }
    Ok((hex(&sha256.finalize()), bytes))
}

/// What of a folder is left out, besides journals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Without<'a> {
    /// These files, absolute.
    own: &'a [PathBuf],
    /// What Git keeps of a repository, and folders that are marked as caches, wherever they are in the folder.
    of_machine: bool,
    /// What an earlier build left, absolute.
    built: Option<&'a BTreeSet<PathBuf>>,
}

impl<'a> Without<'a> {
    /// What is left out of a folder that may surround a study with these files of its own: each commit, and each edit of the
    /// study, would else be another source, and all would be built again. What was built there before would be taken for
    /// built again.
    pub(super) fn of_study(own: &'a [PathBuf]) -> Self {
        Self { own, of_machine: true, built: None }
    }

    /// The same, and what an earlier build left there.
    pub(super) fn and_built(self, built: &'a BTreeSet<PathBuf>) -> Self {
        Self { built: Some(built), ..self }
    }

    /// Whether this is left out.
    pub(super) fn has(&self, place: &Path) -> bool {
        let is_repository = || place.file_name() == Some(REPOSITORY.as_ref());
        self.own.iter().any(|own| own == place)
            || self.built.is_some_and(|built| built.contains(place))
            || (self.of_machine && (is_repository() || is_cache(place)))
    }
}

/// Whether a folder is marked as a cache.
fn is_cache(folder: &Path) -> bool {
    let (name, signature) = CACHE;
    let mut start = vec![0; signature.len()];
    File::open(folder.join(name)).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == signature
}

/// What counts of a folder: not the journals of a study in it, or each run would change the source that it builds.
fn content(folder: &Path, without: &Without<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut all = entries(folder)?;
    all.retain(|entry| entry.file_name() != Some(STATE_FOLDER.as_ref()) && !without.has(entry));
    Ok(all)
}

/// All paths below a folder that count, relative to it.
fn list(folder: &Path, inner: &Path, without: &Without<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut paths = vec![];
    for place in content(&folder.join(inner), without)? {
        let path = inner.join(place.file_name().unwrap_or_default());
        let is_folder = about(folder, &place, without.of_machine)?.is_dir();
        let below = if is_folder { list(folder, &path, without)? } else { vec![] };
        paths.push(path);
        paths.extend(below);
    }
    Ok(paths)
}

/// Kind, hash of the content, and size in bytes.
fn record(folder: &Path, place: &Path, follows: bool) -> Result<(u8, Vec<u8>, u64), Error> {
    if interrupt::count() > 0 {
        return Err(Error::Interrupted);
    }
    let meta = about(folder, place, follows)?;
    if meta.is_dir() {
        return Ok((b'd', vec![0; 32], 0));
    }
    if meta.is_symlink() {
        let target = fs::read_link(place).at("read the link", place)?;
        return Ok((b'l', Sha256::digest(target.as_os_str().as_bytes()).to_vec(), 0));
    }
    if !meta.is_file() {
        return Err(special(place));
    }
    let kind = if meta.permissions().mode() & 0o100 != 0 { b'x' } else { b'f' };
    let (sha256, bytes) = hashed(place)?;
    Ok((kind, sha256.to_vec(), bytes))
}

fn special(place: &Path) -> Error {
    let source = io::Error::other("it is a device, a pipe or a socket");
    Error::File { doing: "copy", path: place.to_owned(), source }
}

/// The SHA-256 that what is left of a file or folder is accepted by, and its size in bytes.
pub(super) fn content_sha256(path: &Path, without: &Without<'_>) -> Result<(String, u64), Error> {
    if fs::symlink_metadata(path).at("inspect", path)?.is_dir() { tree_sha256(path, without) } else { sha256_of(path) }
}

/// Copies some of a folder's content, as for [`part_sha256`], into a folder that is there.
pub(super) fn copy_part(from: &Path, paths: &[PathBuf], to: &Path) -> Result<(), Error> {
    for path in with_folders(paths) {
        let (place, target) = (from.join(&path), to.join(&path));
        if fs::symlink_metadata(&place).at("inspect", &place)?.is_dir() {
            fs::create_dir(&target).at("create the folder", &target)?;
        } else {
            copy(&place, &target)?;
        }
    }
    Ok(())
}

/// Copies a file, or a folder with all in it that counts: content, whether it is executable, times and links.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    copy_without(from, to, &Without::default())
}

/// Copies the same without some of it.
pub(super) fn copy_without(from: &Path, to: &Path, without: &Without<'_>) -> Result<(), Error> {
    copy_below(from, from, to, without)
}

/// Copies something in a folder.
fn copy_below(folder: &Path, from: &Path, to: &Path, without: &Without<'_>) -> Result<(), Error> {
    if interrupt::count() > 0 {
        return Err(Error::Interrupted);
    }
    let meta = about(folder, from, without.of_machine)?;
    if meta.is_symlink() {
        let target = fs::read_link(from).at("read the link", from)?;
        return symlink(target, to).at("create the link", to);
    }
    if meta.is_dir() {
        fs::create_dir(to).at("create the folder", to)?;
        for entry in content(from, without)? {
            copy_below(folder, &entry, &to.join(entry.file_name().unwrap_or_default()), without)?;
        }
    } else if meta.is_file() {
        fs::copy(from, to).at("copy the source to", to)?;
        let mode = if meta.permissions().mode() & 0o100 != 0 { 0o755 } else { 0o644 };
        fs::set_permissions(to, Permissions::from_mode(mode)).at("set the permissions of", to)?;
    } else {
        return Err(special(from));
    }
    let keep_time = || File::open(to)?.set_times(FileTimes::new().set_modified(meta.modified()?));
    keep_time().at("set the time of", to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_sha256(folder: &Path) -> Result<(String, u64), Error> {
        super::tree_sha256(folder, &Without::default())
    }

    /// A folder with one of everything, and the name that sorts before a folder's content although it is longer.
    fn everything(folder: &Path) {
        fs::create_dir_all(folder.join("a/empty")).unwrap();
        fs::write(folder.join("a/file"), "content").unwrap();
        fs::write(folder.join("a.b"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join("a.b"), Permissions::from_mode(0o755)).unwrap();
        symlink("a/file", folder.join("link")).unwrap();
    }

    #[test]
    fn the_hash_of_a_tree_is_the_one_it_always_was() {
        let folder = tempfile::tempdir().unwrap();
        everything(folder.path());
        // Made independently: the definition above in ten lines of Python.
        let expect = "4425985852dee0fa3d6864529e32b6b46802ebefecd39f9211ef36a3f38b9a96";
        assert_eq!(tree_sha256(folder.path()).unwrap(), (expect.to_owned(), 17));
    }

    #[test]
    fn everything_that_a_build_can_see_changes_the_hash_and_nothing_else_does() {
        let hash = |change: &dyn Fn(&Path)| {
            let folder = tempfile::tempdir().unwrap();
            everything(folder.path());
            change(folder.path());
            tree_sha256(folder.path()).unwrap().0
        };
        let same = hash(&|_| {});
        let mode = |path: PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        assert_eq!(same, hash(&|f| mode(f.join("a.b"), 0o4711)), "only the owner's executable bit counts");
        let old = std::time::SystemTime::UNIX_EPOCH;
        assert_eq!(same, hash(&|f| File::open(f.join("a/file")).unwrap().set_modified(old).unwrap()));
        let changes: [&dyn Fn(&Path); 7] = [
            &|f| fs::write(f.join("a/file"), "Content").unwrap(),
            &|f| mode(f.join("a.b"), 0o644),
            &|f| fs::rename(f.join("a.b"), f.join("a.c")).unwrap(),
            &|f| fs::remove_dir(f.join("a/empty")).unwrap(),
            &|f| fs::write(f.join("a/more"), "").unwrap(),
            &|f| {
                fs::remove_file(f.join("link")).unwrap();
                symlink("a/empty", f.join("link")).unwrap();
            },
            &|f| {
                fs::remove_file(f.join("link")).unwrap();
                fs::write(f.join("link"), "a/file").unwrap();
            },
        ];
        let mut hashes: Vec<String> = changes.iter().map(|change| hash(change)).collect();
        hashes.push(same);
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), changes.len() + 1);
    }

    #[test]
    fn journals_of_a_study_in_the_folder_are_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        everything(&from);
        let before = tree_sha256(&from).unwrap();
        fs::create_dir(from.join("a/.bakeoff")).unwrap();
        fs::write(from.join("a/.bakeoff/default.jsonl"), "{}").unwrap();
        assert_eq!(tree_sha256(&from).unwrap(), before);
        copy(&from, &to).unwrap();
        assert!(to.join("a/file").exists() && !to.join("a/.bakeoff").exists());
    }

    #[test]
    fn a_study_in_the_folder_and_its_repository_are_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        everything(&from);
        let before = tree_sha256(&from).unwrap();
        fs::create_dir_all(from.join(".git/refs")).unwrap();
        fs::write(from.join("a/.git"), "gitdir: ../.git/modules/a\n").unwrap();
        fs::write(from.join("study.toml"), "format = 1\n").unwrap();
        fs::write(from.join("a/study.toml"), "another's").unwrap();
        let own = [from.join("study.toml")];
        let without = Without::of_study(&own);
        let left = content_sha256(&from, &without).unwrap();
        assert!(left != before && left != tree_sha256(&from).unwrap());
        copy_without(&from, &to, &without).unwrap();
        assert_eq!(tree_sha256(&to).unwrap(), left, "a copy is what was hashed");
        assert!(to.join("a/study.toml").exists() && !to.join("study.toml").exists());
        fs::remove_file(from.join("a/study.toml")).unwrap();
        assert_eq!(content_sha256(&from, &without).unwrap(), before);
    }

    #[test]
    fn what_is_marked_as_a_cache_is_no_part_of_a_folder_around_a_study() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        everything(&from);
        let (before, without) = (tree_sha256(&from).unwrap(), Without::of_study(&[]));
        fs::create_dir_all(from.join("target/release")).unwrap();
        fs::write(from.join("target/CACHEDIR.TAG"), "Signature: of another kind, of the same length as that").unwrap();
        fs::write(from.join("target/release/old"), "stale").unwrap();
        assert_ne!(content_sha256(&from, &without).unwrap(), before);
        let tag =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag created by cargo.\n";
        fs::write(from.join("target/CACHEDIR.TAG"), tag).unwrap();
        assert_eq!(content_sha256(&from, &without).unwrap(), before);
        copy_without(&from, &to, &without).unwrap();
        assert!(to.join("a/file").exists() && !to.join("target").exists());
    }

    #[test]
    fn a_copy_has_the_hash_and_the_times_of_what_was_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        everything(&from);
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        File::open(from.join("a/file")).unwrap().set_modified(time).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(tree_sha256(&from).unwrap(), tree_sha256(&to).unwrap());
        assert_eq!(fs::metadata(to.join("a/file")).unwrap().modified().unwrap(), time);
    }

    #[test]
    fn what_is_neither_file_nor_folder_nor_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let error = tree_sha256(folder.path()).unwrap_err();
        assert!(error.to_string().contains("socket`"), "{error}");
        assert!(copy(folder.path(), &folder.path().join("to")).is_err());
    }
}
