//! The working tree of a repository, as it is now: its files, tracked or not, but for those that are ignored, in the order of
//! their paths. They are copied as they are on the disk.

use super::super::bring::{Loaded, Site};
use super::super::built::Built;
use super::super::tree::{Without, copy_part};
use super::ask::ask;
use super::folder::{Folder, folder_of};
use crate::cache::Cache;
use crate::error::{Error, Stop};
use bakeoff_model::study::STATE_FOLDER;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// Repositories within repositories are followed so deep.
const DEEPEST: usize = 32;

/// The files of a working tree.
pub(in crate::sources) struct Tree {
    /// Its top.
    pub(in crate::sources) folder: PathBuf,
    /// Its files and links, relative to the top, sorted; and the folders of submodules that are empty.
    pub(in crate::sources) paths: Vec<PathBuf>,
    /// What an earlier build left there.
    built: Built,
}

/// The working tree that a folder belongs to, without that; or why there is none.
pub(in crate::sources) fn worktree(cache: &Cache, path: &Path, without: &Without<'_>) -> Result<Tree, Stop<String>> {
    let folder = Folder::of(cache, path)?;
    let top = ask(cache, &folder.path, &["rev-parse", "--path-format=absolute", "--show-toplevel"])?;
    let Some(top) = top.lines().first().filter(|_| top.is_answer).map(PathBuf::from) else {
        let shown = path.display();
        let why = format!("the repository `{shown}` has no working tree; name a branch, tag or commit");
        return Err(Stop::Failure(why));
    };
    let mut paths = BTreeSet::new();
    list(cache, &top, Path::new(""), &ALL, &mut paths, DEEPEST)?;
    let mut known = BTreeMap::new();
    paths.retain(|path| {
        let above = path.ancestors().filter(|above| *above != Path::new(""));
        !above.into_iter().any(|part| *known.entry(part.to_owned()).or_insert_with(|| without.has(&top.join(part))))
    });
    let built = Built::of_paths(&top, &paths, &tracked(cache, &top)?)?;
    paths.retain(|path| !built.left_out.contains(&top.join(path)));
    Ok(Tree { folder: top, paths: paths.into_iter().collect(), built })
}

/// The files that the repository of a folder tracks, relative to the folder; none where there is no repository.
pub(in crate::sources) fn tracked(cache: &Cache, folder: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let mut paths = BTreeSet::new();
    if super::folder::no_git().is_none() && folder.ancestors().any(|above| above.join(".git").exists()) {
        // What cannot be listed is nobody's list.
        Stop::or_none(list(cache, folder, Path::new(""), &ALL[..3], &mut paths, DEEPEST))?;
    }
    Ok(paths)
}

/// How Git is asked for all files that it does not ignore; the first words ask for those that it tracks.
const ALL: [&str; 5] = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];

/// Adds the files of the repository in `inner`, and of those within it.
fn list(
    cache: &Cache,
    top: &Path,
    inner: &Path,
    words: &[&str],
    paths: &mut BTreeSet<PathBuf>,
    deeper: usize,
) -> Result<(), Stop<String>> {
    let folder = top.join(inner);
    let answer = ask(cache, &folder, words)?;
    if !answer.is_answer || deeper == 0 {
        let why = if answer.is_answer { "its submodules are nested too deeply" } else { answer.err.as_str() };
        return Err(Stop::Failure(format!("git cannot list the files of `{}`: {why}", folder.display())));
    }
    let mut folders = BTreeMap::new();
    for name in answer.out.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let path = Path::new(OsStr::from_bytes(name));
        if !is_inside(path) || !has_real_folders(&folder, path, &mut folders) {
            continue;
        }
        let (place, path) = (folder.join(path), inner.join(path));
        match fs::symlink_metadata(&place) {
            // It was removed, and git knows it still.
            Err(_) => {}
            Ok(about) if about.is_dir() && place.join(".git").exists() => {
                list(cache, top, &path, words, paths, deeper - 1)?;
            }
            Ok(_) => drop(paths.insert(path)),
        }
    }
    Ok(())
}

/// Whether a path stays below its folder, and is neither a repository's own nor a study's journals.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| match part {
        Component::Normal(name) => name != ".git" && name != STATE_FOLDER,
        _ => false,
    })
}

/// Whether all folders of a path are folders: git knows a file still whose folder has become a link to another one.
fn has_real_folders(top: &Path, path: &Path, known: &mut BTreeMap<PathBuf, bool>) -> bool {
    path.ancestors().skip(1).filter(|above| *above != Path::new("")).all(|above| {
        let is_folder = || fs::symlink_metadata(top.join(above)).is_ok_and(|about| about.is_dir());
        *known.entry(above.to_owned()).or_insert_with(is_folder)
    })
}

/// Copies the files of a working tree.
pub(in crate::sources) fn load_worktree(site: &mut Site<'_>, url: &str) -> Result<Loaded, Stop> {
    let folder = folder_of(url, site.request.study_dir);
    let tree = site.had(worktree(site.cache, &folder, &Without::of_study(site.request.own)))?;
    copy_part(&tree.folder, &tree.paths, site.download)?;
    site.report_built(&tree.folder, &tree.built)?;
    Ok(Loaded { path: site.download.to_owned(), commit: None })
}
