//! The commits from one to another, along first parents, as a study with a variant for each. For a search: which of them it
//! builds shows only later, so the lock file is written for those.

use super::options::{outside, script, tools};
use crate::study_file::lock::{Lock, Locked, quoted};
use crate::{Building, Cache, Chain, SourceFrom};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_model::digest::Digest;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::BASELINE;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

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

/// What is built and run at each commit of a repository of this machine.
#[derive(Debug, Clone)]
pub struct Subject {
    repository: PathBuf,
    /// A study, as yet without its commits, and the source and the layer that they are of.
    text: String,
    source: String,
    layer: String,
    /// What is known of its other sources.
    lock: Lock,
}

impl Subject {
    /// A command, which runs in the tree of each commit, built as `compare --git` does it.
    ///
    /// # Errors
    /// There is no repository.
    pub fn command(folder: &Path, build: Option<&str>, command: &str) -> Result<Self, CommandError> {
        let repository = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let inner = Cache::open(Cache::default_root()?)?.place_in_repository(&repository);
        let inner = inner.map_err(|stop| stop.with(outside))?;
        let tools: Vec<String> = tools(build).into_iter().map(quoted).collect();
        let place = inner.display().to_string().replace('\'', "'\\''");
        let run = format!("cd \"$PREFIX\"/'{place}' && {command}");
        let text = format!(
            "format = 1\nname = \"bisect\"\n\n[sources.{SOURCE}]\nunpack = false\n\n[[build]]\nname = \"{SOURCE}\"\nsource = \"{SOURCE}\"\n\
             tools = [{}]\nscript = {}\n\n[workloads.{SOURCE}]\nrun = {}\n",
            tools.join(", "),
            quoted(&script(build, &inner)),
            quoted(&run)
        );
        let (source, layer) = (SOURCE.to_owned(), SOURCE.to_owned());
        Ok(Self { repository, text, source, layer, lock: Lock::default() })
    }

    /// A study that builds from a Git repository; of this folder if one is named, else of the one that the study names.
    ///
    /// # Errors
    /// It has no such source or several, that is not on this machine, or the file cannot be read.
    pub fn study(folder: &StudyFolder, clone: Option<&Path>) -> Result<Self, CommandError> {
        let chain = Chain::of(&folder.study);
        let of_git = chain.sources.iter().filter_map(|source| Some((source, source.from.repository()?)));
        let [(source, url)] = of_git.collect::<Vec<_>>()[..] else {
            return Err(CommandError::usage("bisect needs a study with one source from a Git repository")
                .hint("write `git = \"DIR\"` in its [sources] section, or name a command instead of a study"));
        };
        let repository = clone.map_or_else(|| folder.dir.join(url), Path::to_owned);
        let Ok(repository) = repository.canonicalize() else {
            let error = format!("source {} is not a folder of this machine: {}", clean(&source.name), clean(url));
            return Err(CommandError::usage(error).hint("clone it, and name the clone with --repository"));
        };
        let layers = chain.layers.iter().find(|layer| layer.source.as_ref() == Some(&source.name));
        let layer = layers.map(|layer| layer.name.clone()).unwrap_or_default();
        if folder.study.build_factors.iter().any(|factor| factor.name == FACTOR) {
            let error = format!("the study has a factor `{FACTOR}`, and bisect adds one of that name");
            return Err(CommandError::usage(error).hint("give the study's factor another name"));
        }
        let text = fs::read_to_string(&folder.file).map_err(CommandError::usage)?;
        let known = fs::read_to_string(folder.file.with_extension("lock")).unwrap_or_default();
        // A lock file that is wrong has been complained of when the study was read.
        let lock = Building::parse_lock(&known).unwrap_or_default();
        Ok(Self { repository, text, source: source.name.clone(), layer, lock })
    }

    /// A digest of all that it says.
    pub fn digest(&self) -> String {
        let mut digest = Digest::of("subject");
        digest.field("text", self.text.as_bytes()).field("lock", self.lock.render().as_bytes());
        digest.hex()
    }
}

/// Commits of a repository, from the good one to the bad one.
pub struct Commits {
    cache: Cache,
    /// What is built and run.
    pub subject: Subject,
    /// In order.
    pub all: Vec<Commit>,
}

impl Commits {
    /// These revisions.
    ///
    /// # Errors
    /// There is no such revision.
    pub fn of(subject: Subject, revisions: &[&str]) -> Result<Self, CommandError> {
        let cache = Cache::open(Cache::default_root()?)?;
        let mut commits = Self { cache, subject, all: vec![] };
        for revision in revisions {
            commits.all.push(commits.commit(revision)?);
        }
        Ok(commits)
    }

    /// Those from `good` to `bad`.
    ///
    /// # Errors
    /// The same, or no path of first parents leads from one to the other.
    pub fn between(subject: Subject, good: &str, bad: &str) -> Result<Self, CommandError> {
        let mut commits = Self::of(subject, &[good, bad])?;
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
        let listed = commits.cache.first_parents(&commits.subject.repository, &[&range])?;
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
        let hash = self.cache.commit_of(&self.subject.repository, revision).map_err(|stop| stop.with(unknown))?;
        let said = self.cache.first_parents(&self.subject.repository, &["--max-count=1", &hash])?;
        let subject = said.into_iter().next().map(|[_, _, subject]| subject).unwrap_or_default();
        Ok(Commit { hash, subject })
    }

    fn is_ancestor(&self, older: &Commit, newer: &Commit) -> Result<bool, CommandError> {
        Ok(self.cache.is_ancestor(&self.subject.repository, [&older.hash, &newer.hash])?)
    }

    /// The name of a commit's variant.
    pub fn variant(&self, at: usize) -> String {
        if at == 0 { BASELINE.to_owned() } else { format!("{FACTOR}={}", self.level(at)) }
    }

    fn level(&self, at: usize) -> &str {
        let hash = &self.all[at].hash;
        hash.get(..NAME_DIGITS).unwrap_or(hash)
    }

    /// The study file of some commits: one variant for each, and nothing else varies. Another deciding metric if one is named.
    ///
    /// # Errors
    /// What is no TOML; a study that was read is.
    pub fn study(&self, commits: &BTreeSet<usize>, metric: Option<&str>) -> Result<String, CommandError> {
        let Subject { text, source, layer, repository, .. } = &self.subject;
        let mut study: DocumentMut = text.parse().map_err(CommandError::usage)?;
        let mut levels = Table::new();
        for at in commits {
            let revision = InlineTable::from_iter([(layer.as_str(), self.all[*at].hash.as_str())]);
            levels.insert(self.level(*at), value(InlineTable::from_iter([("revision", revision)])));
        }
        section(study.as_table_mut(), "build_factors", |factors| _ = factors.insert(FACTOR, Item::Table(levels)));
        section(study.as_table_mut(), "plan", |plan| _ = plan.insert("variants", value("one-at-a-time")));
        section(study.as_table_mut(), "sources", |sources| {
            section(sources, source, |source| {
                source.insert("git", value(repository.display().to_string()));
                source.remove("sha256");
            });
        });
        section(study.as_table_mut(), "decide", |decide| {
            section(decide, "baseline", |baseline| _ = baseline.insert(FACTOR, value(self.level(0))));
            if let Some(metric) = metric {
                decide.insert("metrics", value(Array::from_iter([metric])));
            }
        });
        Ok(study.to_string())
    }

    /// The lock file of these commits.
    ///
    /// # Errors
    /// The tree of one cannot be had.
    pub fn lock(&self, commits: &BTreeSet<usize>) -> Result<String, CommandError> {
        let Subject { repository, source, lock, .. } = &self.subject;
        let mut lock = lock.clone();
        for hash in commits.iter().map(|at| &self.all[*at].hash) {
            let failed = |found: crate::error::Failure| CommandError::new(Code::VariantFailed, found.why);
            let found = self.cache.pinned_revision(repository, hash, &|_| {}).map_err(|stop| stop.with(failed))?;
            let from = SourceFrom::git(&repository.display().to_string(), hash);
            let locked = Locked { from, sha256: found.sha256.unwrap_or_default(), commit: Some(hash.clone()) };
            lock.sources.insert(format!("{source}@{hash}"), locked);
        }
        Ok(lock.render())
    }
}

/// Changes a section of a study file, which is added if it is not there.
fn section(parent: &mut dyn TableLike, name: &str, change: impl FnOnce(&mut dyn TableLike)) {
    let section = parent.entry(name).or_insert(Item::Table(Table::new()));
    if let Some(section) = section.as_table_like_mut() {
        change(section);
    }
}
