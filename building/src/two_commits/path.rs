//! The commits from one to another, along first parents, as a study with a variant for each. For a search: which of them it
//! builds shows only later, so the lock file is written for those.

use super::options::{outside, script, tools};
use crate::study_file::lock::{Lock, Locked, quoted};
use crate::{Cache, SourceFrom};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::BASELINE;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const SOURCE: &str = "program";
const FACTOR: &str = "commit";
/// Digits of a commit in a level's name, and on screens.
const NAME_DIGITS: usize = 12;
const SHORT_DIGITS: usize = 7;

/// A commit, with the first line of its message.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its whole name.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// `1f2e3d4`
    pub fn short(&self) -> &str {
        self.hash.get(..SHORT_DIGITS).unwrap_or(&self.hash)
    }
}

/// Commits of a repository of this machine, from the good one to the bad one.
pub struct Commits {
    cache: Cache,
    repository: PathBuf,
    inner: PathBuf,
    /// In order.
    pub all: Vec<Commit>,
}

impl Commits {
    /// These revisions.
    ///
    /// # Errors
    /// There is no repository, or no such revision.
    pub fn of(folder: &Path, revisions: &[&str]) -> Result<Self, CommandError> {
        let cache = Cache::open(Cache::default_root()?)?;
        let repository = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let inner = cache.place_in_repository(&repository).map_err(|stop| stop.with(outside))?;
        let mut commits = Self { cache, repository, inner, all: vec![] };
        for revision in revisions {
            commits.all.push(commits.commit(revision)?);
        }
        Ok(commits)
    }

    /// Those from `good` to `bad`.
    ///
    /// # Errors
    /// The same, or no path of first parents leads from one to the other.
    pub fn between(folder: &Path, good: &str, bad: &str) -> Result<Self, CommandError> {
        let mut commits = Self::of(folder, &[good, bad])?;
        let last = commits.all.remove(1);
        let shown = clean(&format!("{good} ({}) … {bad} ({})", commits.all[0].short(), last.short()));
        if last.hash == commits.all[0].hash {
            let error = format!("{shown}: good and bad are the same commit");
            return Err(CommandError::usage(error).hint("name an older commit with --good, or a newer one with --bad"));
        }
        let is_after = commits.is_ancestor(&commits.all[0], &last)?;
        let is_before = !is_after && commits.is_ancestor(&last, &commits.all[0])?;
        if !is_after {
            let error = CommandError::usage(format!("{shown}: the good commit is not an ancestor of the bad one"));
            let base = format!("git merge-base {} {}", commits.all[0].short(), last.short());
            return Err(error.hint(match is_before {
                true => {
                    "swap --good and --bad; if the older one is slower, bisect finds what made it faster".to_owned()
                }
                false => format!("name a common ancestor with --good; `{base}` prints one"),
            }));
        }
        let range = format!("{}..{}", commits.all[0].hash, last.hash);
        let listed = commits.cache.first_parents(&commits.repository, &[&range])?;
        let parent = listed.first().map_or("", |[_, parent, _]| parent.as_str()).to_owned();
        if parent != commits.all[0].hash {
            let error = format!("{shown}: the good commit is not on the path of first parents of the bad one");
            let parent = parent.get(..NAME_DIGITS).unwrap_or(&parent);
            return Err(CommandError::usage(error)
                .hint(format!("name {parent}, where that path leaves the good commit's history, with --good")));
        }
        commits.all.extend(listed.into_iter().map(|[hash, _, subject]| Commit { hash, subject }));
        Ok(commits)
    }

    fn commit(&self, revision: &str) -> Result<Commit, CommandError> {
        let unknown = |why: String| CommandError::usage(clean(&why));
        let hash = self.cache.commit_of(&self.repository, revision).map_err(|stop| stop.with(unknown))?;
        let said = self.cache.first_parents(&self.repository, &["--max-count=1", &hash])?;
        let subject = said.into_iter().next().map(|[_, _, subject]| subject).unwrap_or_default();
        Ok(Commit { hash, subject })
    }

    fn is_ancestor(&self, older: &Commit, newer: &Commit) -> Result<bool, CommandError> {
        Ok(self.cache.is_ancestor(&self.repository, [&older.hash, &newer.hash])?)
    }

    /// The name of a commit's variant.
    pub fn variant(&self, at: usize) -> String {
        if at == 0 { BASELINE.to_owned() } else { format!("{FACTOR}={}", self.level(at)) }
    }

    fn level(&self, at: usize) -> &str {
        let hash = &self.all[at].hash;
        hash.get(..NAME_DIGITS).unwrap_or(hash)
    }

    /// The study file: each commit is built as `compare --git` does it, and the command runs in its tree.
    pub fn study(&self, build: Option<&str>, command: &str, metric: &str) -> String {
        let mut text = format!("format = 1\nname = \"bisect\"\n\n[sources.{SOURCE}]\ngit = {}\n\n", self.address());
        let _ = writeln!(text, "[build_factors.{FACTOR}]");
        for (at, commit) in self.all.iter().enumerate() {
            let _ = writeln!(text, "{} = {{ revision = {} }}", quoted(self.level(at)), quoted(&commit.hash));
        }
        let script = script(build, &self.inner);
        let tools: Vec<String> = tools(build).into_iter().map(quoted).collect();
        let _ = writeln!(text, "\n[[build]]\nname = \"{SOURCE}\"\nsource = \"{SOURCE}\"");
        let _ = writeln!(text, "tools = [{}]\nscript = {}", tools.join(", "), quoted(&script));
        let place = self.inner.display().to_string().replace('\'', "'\\''");
        let run = format!("cd \"$PREFIX\"/'{place}' && {command}");
        let _ = writeln!(text, "\n[workloads.{SOURCE}]\nrun = {}", quoted(&run));
        let _ = writeln!(text, "\n[plan]\nvariants = \"all\"\n\n[decide]\nmetrics = [{}]", quoted(metric));
        let _ = writeln!(text, "baseline = {{ {FACTOR} = {} }}", quoted(self.level(0)));
        text
    }

    fn address(&self) -> String {
        quoted(&self.repository.display().to_string())
    }

    /// The lock file of these commits.
    ///
    /// # Errors
    /// The tree of one cannot be had.
    pub fn lock(&self, commits: &BTreeSet<usize>) -> Result<String, CommandError> {
        let mut lock = Lock::default();
        for hash in commits.iter().map(|at| &self.all[*at].hash) {
            let failed = |found: crate::error::Failure| CommandError::new(Code::VariantFailed, found.why);
            let source =
                self.cache.pinned_revision(&self.repository, hash, &|_| {}).map_err(|stop| stop.with(failed))?;
            let from = SourceFrom::git(&self.repository.display().to_string(), hash);
            let locked = Locked { from, sha256: source.sha256.unwrap_or_default(), commit: Some(hash.clone()) };
            lock.sources.insert(format!("{SOURCE}@{hash}"), locked);
        }
        Ok(lock.render())
    }

    /// Where the user is in the repository, from the top.
    pub fn inner(&self) -> &Path {
        &self.inner
    }
}
