//! A commit becomes a folder: its objects are borrowed or fetched by a repository of ours, which lays it out with its
//! submodules. See the parent module for why.

use super::super::bring::{Loaded, Site};
use super::ask::{In, environment};
use super::folder::{Folder, RepositoryPlace, no_git};
use super::submodules::{Contents, Submodule, relative_address};
use crate::error::{At as _, Error, Stop};
use crate::event::BuildEvent;
use bakeoff_host::End;
use std::fs;
use std::path::{Path, PathBuf};

/// Makes a repository of ours that borrows the objects of another one, and looks for the commit in it.
const BORROW: &str = r#"
git init -q --template= --object-format="$FORMAT" "$GIT_DIR"
printf '%s\n' "$OBJECTS" > "$GIT_DIR/objects/info/alternates"
git cat-file -e "$REVISION^{commit}" || exit 66
"#;

/// Makes a repository of ours that fetches a revision, and writes down its commit. A tag, a branch or a whole commit is
/// had without its past where the other side allows it; whatever else Git understands needs all.
const FETCH: &str = r#"
git init -q --template= "$GIT_DIR"
if git fetch -q --no-tags --depth 1 -- "$URL" "$REVISION"; then
    commit=FETCH_HEAD
else
    git fetch -q --tags -- "$URL" '+refs/heads/*:refs/remotes/origin/*' || exit 65
    git fetch -q -- "$URL" '+HEAD:refs/remotes/origin/HEAD' || :
    commit=refs/remotes/origin/$REVISION
    git rev-parse -q --verify "$commit^{commit}" >&2 || commit=$REVISION
fi
git rev-parse --verify "$commit^{commit}" > "$COMMIT" || exit 66
"#;

/// How the scripts say that an address does not answer, and that it has no such revision.
const SILENT: i32 = 65;
const UNKNOWN: i32 = 66;

/// Lays a commit out, and writes down what is in it.
const LAY_OUT: &str = r#"
cd "$GIT_WORK_TREE"
git read-tree --reset -u "$REVISION"
git ls-tree -r -z --full-tree "$REVISION" > "$GIT_DIR/entries"
git ls-files -z | git check-attr -z --stdin filter > "$GIT_DIR/filters"
git config -z --blob "$REVISION:.gitmodules" --get-regexp '^submodule[.]' > "$GIT_DIR/modules" 2> "$GIT_DIR/said" || :
"#;

/// Submodules of submodules are followed so deep.
const DEEPEST: usize = 16;

/// Brings what a repository holds at a revision.
pub(in crate::sources) fn load(site: &mut Site<'_>, url: &str, revision: &str) -> Result<Loaded, Stop> {
    if url.starts_with('-') || revision.starts_with('-') {
        return site.refused("neither the repository nor the revision may begin with `-`");
    }
    if let Some(why) = no_git() {
        return site.refused(why);
    }
    let mut checkout = Checkout { site, number: 0 };
    let git_dir = checkout.next_repository();
    let (commit, origin) = match RepositoryPlace::of(url, checkout.site.request.study_dir) {
        RepositoryPlace::Folder(path) => {
            let folder = checkout.site.had(Folder::of(checkout.site.cache, &path))?;
            let commit = checkout.site.had(folder.commit(checkout.site.cache, revision))?;
            if !checkout.borrow(&git_dir, &folder, &commit)? {
                let why = format!(
                    "git cannot read commit {commit} in `{}`; run `git fsck` there for details",
                    path.display()
                );
                return checkout.site.refused(&why);
            }
            (commit, Origin::Folder(folder))
        }
        RepositoryPlace::Address(url) => {
            let fetched = checkout.fetch(&git_dir, &url, revision, In::Fetching);
            (checkout.site.had(fetched)?, Origin::Address(url))
        }
    };
    let target = checkout.site.download.to_owned();
    checkout.lay_out(&git_dir, &commit, &target, &origin, DEEPEST)?;
    Ok(Loaded { path: target, commit: Some(commit) })
}

/// Where the objects of a commit came from: where those of its submodules may be.
enum Origin {
    Folder(Folder),
    Address(String),
}

struct Checkout<'s, 'a> {
    site: &'s mut Site<'a>,
    /// How many repositories of ours there are.
    number: usize,
}

impl Checkout<'_, '_> {
    fn next_repository(&mut self) -> PathBuf {
        self.number += 1;
        self.site.work.join(format!("git-{}", self.number))
    }

    /// Runs a script in a repository of ours.
    fn execute(
        &mut self,
        script: &str,
        of: In,
        git_dir: &Path,
        variables: &[(&str, &str)],
    ) -> Result<bakeoff_host::Ended, Error> {
        let mut env = environment(of);
        env.insert("GIT_DIR".to_owned(), git_dir.display().to_string());
        self.site.execute(script, env, variables)
    }

    /// Whether a folder's repository has the commit.
    fn borrow(&mut self, git_dir: &Path, folder: &Folder, commit: &str) -> Result<bool, Stop> {
        let objects = folder.objects.display().to_string();
        let variables = [("FORMAT", folder.format.as_str()), ("OBJECTS", &objects), ("REVISION", commit)];
        let ended = self.execute(BORROW, In::Ours, git_dir, &variables)?;
        match self.site.complaint(&ended.end) {
            Some(_) if ended.end == End::Exited(UNKNOWN) => Ok(false),
            Some(complaint) => {
                self.site.refused(&format!("cannot read the repository `{}`: git {complaint}", folder.path.display()))
            }
            None => Ok(true),
        }
    }

    /// Fetches a revision, and returns its commit; or why it is not to be had.
    fn fetch(&mut self, git_dir: &Path, url: &str, revision: &str, of: In) -> Result<String, Stop<String>> {
        let file = git_dir.with_extension("commit");
        let commit = file.display().to_string();
        let ended = self.execute(FETCH, of, git_dir, &[("URL", url), ("REVISION", revision), ("COMMIT", &commit)])?;
        Err(Stop::Failure(match self.site.complaint(&ended.end) {
            _ if ended.end == End::Exited(SILENT) => {
                format!(
                    "git cannot fetch from {url}; run `git ls-remote {url}` to check that you can reach it and have \
                     access"
                )
            }
            _ if ended.end == End::Exited(UNKNOWN) => {
                format!("the repository {url} has no `{revision}`; `git ls-remote {url}` lists its branches and tags")
            }
            Some(complaint) => format!("cannot fetch revision `{revision}` of {url}: git {complaint}"),
            None => return Ok(fs::read_to_string(&file).at("read", &file)?.trim().to_owned()),
        }))
    }

    /// Lays out a commit with its submodules.
    fn lay_out(
        &mut self,
        git_dir: &Path,
        commit: &str,
        target: &Path,
        origin: &Origin,
        deeper: usize,
    ) -> Result<(), Stop> {
        let tree = target.display().to_string();
        let ended = self.execute(LAY_OUT, In::Ours, git_dir, &[("REVISION", commit), ("GIT_WORK_TREE", &tree)])?;
        if let Some(complaint) = self.site.complaint(&ended.end) {
            let why = match origin {
                Origin::Folder(folder) => format!(
                    "cannot check out commit {commit}: git {complaint}. Objects may be missing, as in a partial clone; \
                     run `git -C {} fsck` to list them, or use a full clone",
                    folder.path.display()
                ),
                Origin::Address(url) => format!("cannot check out commit {commit} of {url}: git {complaint}"),
            };
            return self.site.refused(&why);
        }
        let contents = Contents::read(git_dir)?;
        for (filter, files) in contents.filters {
            let source = self.site.name.to_owned();
            (self.site.notify)(BuildEvent::NotFiltered { source, filter, files });
        }
        for submodule in contents.submodules {
            if deeper == 0 {
                return self.site.refused(&format!("its submodules are nested more than {DEEPEST} levels deep"));
            }
            self.submodule(&submodule, target, origin, deeper - 1)?;
        }
        Ok(())
    }

    fn submodule(&mut self, submodule: &Submodule, target: &Path, origin: &Origin, deeper: usize) -> Result<(), Stop> {
        let target = target.join(&submodule.path);
        let shown = submodule.path.display();
        if let Origin::Folder(folder) = origin {
            let checked_out = folder.path.join(&submodule.path);
            let mut known: Vec<Folder> = folder.module(&submodule.name).into_iter().collect();
            if checked_out.join(".git").exists() {
                known.extend(Stop::or_none(Folder::of(self.site.cache, &checked_out))?);
            }
            for inner in known {
                let git_dir = self.next_repository();
                if self.borrow(&git_dir, &inner, &submodule.commit)? {
                    return self.lay_out(&git_dir, &submodule.commit, &target, &Origin::Folder(inner), deeper);
                }
            }
        }
        let base = match origin {
            Origin::Folder(folder) => folder.address(self.site.cache)?,
            Origin::Address(url) => Some(url.clone()),
        };
        let Some(url) = relative_address(base.as_deref(), &submodule.url) else {
            let why = match origin {
                Origin::Folder(folder) => format!(
                    "commit {} is not on this machine; run `git -C {} submodule update --init --recursive` to fetch it",
                    submodule.commit,
                    folder.path.display()
                ),
                Origin::Address(_) => "Bakeoff supports only http, https, ssh and git addresses".to_owned(),
            };
            let why = format!("its submodule `{shown}` points to `{}`, but {why}", submodule.url);
            return self.site.refused(&why);
        };
        let git_dir = self.next_repository();
        let fetched = self.fetch(&git_dir, &url, &submodule.commit, In::FetchingSubmodule);
        let of_it = |why| Stop::Failure(format!("its submodule `{shown}`: {why}"));
        let commit = self.site.had(fetched.map_err(|stop| stop.with(of_it)))?;
        self.lay_out(&git_dir, &commit, &target, &Origin::Address(url), deeper)
    }
}
