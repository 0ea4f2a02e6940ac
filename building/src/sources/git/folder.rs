//! Repositories of this machine: where one is, where its objects are, and which commit a revision is there. Nothing of
//! it is run, and nothing is written into it.

use super::ask::ask;
use crate::cache::Cache;
use crate::error::{Error, Stop};
use crate::tools::find;
use std::path::{Path, PathBuf};

/// A repository of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder {
    /// A folder of its working tree; of a bare repository, itself.
    pub(super) path: PathBuf,
    /// Where its objects are.
    pub(super) objects: PathBuf,
    /// What all its working trees have in common.
    pub(super) common: PathBuf,
    /// How its objects are called: `sha1`.
    pub(super) format: String,
    /// Whether it lacks the past.
    is_shallow: bool,
}

/// Where a repository is had from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RepositoryPlace {
    /// A folder of this machine.
    Folder(PathBuf),
    /// An address, or a file that Git can fetch from.
    Address(String),
}

/// The folder that a study names as a repository: relative to its own.
pub(in crate::sources) fn folder_of(url: &str, study_dir: &Path) -> PathBuf {
    let path = study_dir.join(url.strip_prefix("file://").unwrap_or(url));
    path.canonicalize().unwrap_or(path)
}

/// The commit that a revision of a repository of this machine is at this moment; or why there is none.
pub(in crate::sources) fn commit_of(cache: &Cache, repository: &Path, revision: &str) -> Result<String, Stop<String>> {
    Folder::of(cache, repository)?.commit(cache, revision)
}

/// Where a folder lies in its repository, from the top; or why it is in none.
pub(in crate::sources) fn place_in(cache: &Cache, path: &Path) -> Result<PathBuf, Stop<String>> {
    let folder = Folder::of(cache, path)?;
    let answer = ask(cache, &folder.path, &["rev-parse", "--show-prefix"])?;
    Ok(answer.lines().first().map(PathBuf::from).unwrap_or_default())
}

/// Whether one commit is an ancestor of another one.
pub(in crate::sources) fn is_ancestor(cache: &Cache, repository: &Path, commits: [&str; 2]) -> Result<bool, Error> {
    Ok(ask(cache, repository, &["merge-base", "--is-ancestor", commits[0], commits[1]])?.is_answer)
}

/// The commits of a range along first parents, the oldest one first: each with its first parent, and the first line of its
/// message.
pub(in crate::sources) fn first_parents(
    cache: &Cache,
    repository: &Path,
    range: &[&str],
) -> Result<Vec<[String; 3]>, Error> {
    let words = ["rev-list", "--first-parent", "--reverse", "--format=%H%x09%P%x09%s"];
    let answer = ask(cache, repository, &[&words[..], range].concat())?;
    let read = |line: String| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let (hash, parents, subject) = (parts.next()?, parts.next()?, parts.next()?);
        Some([hash, parents.split(' ').next().unwrap_or_default().to_owned(), subject])
    };
    Ok(answer.lines().into_iter().filter_map(read).collect())
}

impl RepositoryPlace {
    pub(super) fn of(url: &str, study_dir: &Path) -> Self {
        let path = folder_of(url, study_dir);
        let is_of_host = url.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
        match path.is_dir() || !url.starts_with("file:") && !is_of_host && !path.is_file() {
            true => Self::Folder(path),
            false => Self::Address(url.to_owned()),
        }
    }
}

/// Why Git cannot be asked at all, if that is so.
pub(super) fn no_git() -> Option<&'static str> {
    let is_there = find("git", &std::env::var_os("PATH").unwrap_or_default()).is_some();
    (!is_there).then_some("`git` is not on PATH; install it (on Debian: apt-get install git)")
}

impl Folder {
    /// The repository that a folder belongs to; or why there is none.
    pub(super) fn of(cache: &Cache, path: &Path) -> Result<Self, Stop<String>> {
        let shown = path.display();
        if let Some(why) = no_git() {
            return Err(Stop::Failure(why.to_owned()));
        }
        if !path.is_dir() {
            let why = format!("the folder `{shown}` does not exist; give the path or the address of a Git repository");
            return Err(Stop::Failure(why));
        }
        let questions =
            ["--git-path", "objects", "--git-common-dir", "--show-object-format", "--is-shallow-repository"];
        let words: Vec<&str> = ["rev-parse", "--path-format=absolute"].into_iter().chain(questions).collect();
        let answer = ask(cache, path, &words)?;
        Err(Stop::Failure(match (answer.is_answer, &answer.lines()[..]) {
            (true, [objects, common, format, is_shallow]) => {
                return Ok(Self {
                    path: path.to_owned(),
                    objects: PathBuf::from(objects),
                    common: PathBuf::from(common),
                    format: format.clone(),
                    is_shallow: is_shallow == "true",
                });
            }
            _ if answer.err.contains("dubious ownership") => format!(
                "`{shown}` belongs to another user, so Git refuses to read it; if you trust it, run `git config \
                 --global --add safe.directory {shown}`"
            ),
            _ if answer.err.contains("not a git repository") => {
                format!("`{shown}` is not in a Git repository; name one, or create one with `git init`")
            }
            _ => format!("git cannot read the repository `{shown}`: {}", in_one_line(&answer.err)),
        }))
    }

    /// The objects of a submodule of this repository that is not in its working tree.
    pub(super) fn module(&self, name: &str) -> Option<Self> {
        // A name is a part of a path, and comes with the repository.
        let is_plain = !name.is_empty() && !name.starts_with('/') && !name.split('/').any(|part| part == "..");
        let path = self.common.join("modules").join(name);
        let objects = path.join("objects");
        (is_plain && objects.is_dir()).then(|| Self { common: path.clone(), path, objects, ..self.clone() })
    }

    /// Where it was cloned from, as it says itself.
    pub(super) fn address(&self, cache: &Cache) -> Result<Option<String>, Error> {
        let answer = ask(cache, &self.path, &["config", "--get", "remote.origin.url"])?;
        Ok(answer.lines().first().filter(|_| answer.is_answer).cloned())
    }

    /// The commit that a revision is at this moment; or why it is none.
    pub(super) fn commit(&self, cache: &Cache, revision: &str) -> Result<String, Stop<String>> {
        if revision.starts_with('-') {
            return Err(Stop::Failure(format!("`{revision}` is not a revision: it begins with `-`")));
        }
        // Of an abbreviation, the commit is meant; but what is looked for by its message ends with the text.
        let parse = |text: &str| ask(cache, &self.path, &["rev-parse", "--verify", text]);
        let mut answer = parse(&format!("{revision}^{{commit}}"))?;
        if !answer.is_answer
            && let Some(object) =
                Some(parse(revision)?).filter(|other| other.is_answer).and_then(|other| other.lines().pop())
        {
            answer = parse(&format!("{object}^{{commit}}"))?;
        }
        let shown = self.path.display();
        // What excludes commits begins with `^`.
        if let (true, [commit]) = (answer.is_answer, &answer.lines()[..])
            && !commit.starts_with('^')
        {
            return Ok(commit.clone());
        }
        Err(Stop::Failure(if revision.contains("..") || revision.starts_with('^') {
            format!("`{revision}` is a range of commits; name one commit, or compare both ends: --git OLD --git NEW")
        } else if ask(cache, &self.path, &["cat-file", "-e", revision])?.is_answer {
            format!("`{revision}` in the repository `{shown}` is not a commit; name a branch, tag or commit")
        } else if self.is_shallow {
            format!(
                "the repository `{shown}`, a shallow clone, has no `{revision}`; fetch older commits with `git -C \
                    {shown} fetch --unshallow --tags`, or in CI, check out the full history"
            )
        } else if answer.err.contains("ambiguous") && answer.err.contains("short") {
            format!("`{revision}` matches several commits in the repository `{shown}`; give more digits")
        } else {
            format!(
                "the repository `{shown}` has no `{revision}`; `git -C {shown} log --oneline --all` lists its \
                 commits, and `git -C {shown} fetch` fetches new ones"
            )
        }))
    }
}

/// The last line of what Git said, without what it puts before it.
fn in_one_line(said: &str) -> &str {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("git gave no reason");
    line.trim().trim_start_matches("fatal: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_a_folder_or_an_address() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("bundle"), "").unwrap();
        let address = |url: &str| RepositoryPlace::Address(url.to_owned());
        let check =
            |url: &str, expect: RepositoryPlace| assert_eq!(RepositoryPlace::of(url, dir.path()), expect, "{url}");
        let here = dir.path().canonicalize().unwrap();
        check(".", RepositoryPlace::Folder(here.clone()));
        check(&format!("file://{}", here.display()), RepositoryPlace::Folder(here.clone()));
        check("absent", RepositoryPlace::Folder(dir.path().join("absent")));
        for url in ["https://example.org/x.git", "git@example.org:x.git", "file:///absent", "ext::sh -c true", "bundle"]
        {
            check(url, address(url));
        }
    }
}
