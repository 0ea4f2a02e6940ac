//! Which revisions of which repository are compared, and how each is built: options, and the study that they amount to.
//! Nothing is built here.

use crate::error::Failure;
use crate::{BuildEvent, Cache, Chain, Layer, Source, SourceFrom, Spec};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_host::search_path;
use bakeoff_model::kept::Kept;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{FactorLine, is_baseline_again};
use bakeoff_model::study::{Levels, Study};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Revisions of a Git repository, in place of several commands. Options of `compare` that they cannot honour conflict.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Compare revisions of a Git repository: a branch, a tag, a commit, HEAD~1, or `worktree` for the current files.
    /// Repeat the option for each revision; the first one is the baseline
    ///
    /// Give one COMMAND. It runs in the tree of each revision, so `./prog input` runs that revision's program on that
    /// revision's input. `$PREFIX` is the top of the tree.
    #[arg(long = "git", value_name = "REVISION", conflicts_with_all = ["names", "cwd", "baseline", "reference", "save", "saved"])]
    pub(super) revisions: Vec<String>,
    /// With --git: the shell command that builds a revision in a copy of its tree; the cache keeps the result
    #[arg(long, value_name = "COMMAND", requires = "revisions")]
    pub(super) build: Option<String>,
    /// With --git: a folder in the repository [default: the current folder]
    #[arg(long, value_name = "DIR", requires = "revisions")]
    repository: Option<PathBuf>,
    /// Run every revision or command, even if several are the same program
    #[arg(long)]
    pub(super) anyway: bool,
}

/// What the options amount to.
pub(super) struct Revisions {
    /// The folder below the top in which is built and executed: where the user is.
    pub(super) inner: PathBuf,
    /// A variant for each of them.
    pub(super) variants: Vec<Variant>,
    /// What builds are compared with.
    pub(super) factor: FactorLine,
    sources: Vec<Source>,
    layer: Layer,
}

/// The only layer, and the only factor.
const LAYER: &str = "program";
const FACTOR: &str = "commit";

/// Programs whose identity goes into the name of a build, where they are there.
pub(super) const TOOLS: [&str; 8] = ["cc", "c++", "ld", "make", "cargo", "rustc", "go", "javac"];

impl Options {
    /// Finds out what each revision is now.
    pub(super) fn find(&self, cache: &Cache, command: &str, quiet: bool) -> Result<Revisions, CommandError> {
        if let [only] = &self.revisions[..] {
            let error = format!("--git {}: a comparison needs two revisions", clean(only));
            return Err(CommandError::usage(error)
                .hint("repeat the option for the other revision; --git worktree stands for the current files"));
        }
        let here = self.repository.clone().unwrap_or_else(|| PathBuf::from("."));
        let here = here.canonicalize().unwrap_or(here);
        let inner = cache.place_in_repository(&here).map_err(|stop| stop.with(outside))?;
        let report: &(dyn Fn(BuildEvent) + Sync) = if quiet { &|_| {} } else { &BuildEvent::tell };
        let mut found: Vec<(String, Source)> = vec![];
        for revision in &self.revisions {
            let source = cache.pinned_revision(&here, revision, report).map_err(|stop| stop.with(not_found))?;
            let name = display_name(revision, &source);
            let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
            let mut unused =
                numbered.filter(|name| !is_baseline_again(name) && found.iter().all(|(known, _)| known != name));
            let name = unused.next().unwrap_or(name);
            found.push((name.clone(), Source { name, ..source }));
        }
        let variant = |(name, _): &(String, Source)| Variant {
            name: name.clone(),
            levels: Levels::from([(FACTOR.to_owned(), name.clone())]),
            run: Some(command.to_owned()),
            spec: Kept::new(Spec { sources: BTreeMap::from([(LAYER.to_owned(), name.clone())]), ..Spec::default() }),
            ..Variant::default()
        };
        let variants: Vec<Variant> = found.iter().map(variant).collect();
        let factor = FactorLine {
            name: FACTOR.to_owned(),
            levels: found.iter().map(|(name, _)| (name.clone(), BTreeMap::new())).collect(),
            takes_sources: true,
            ..FactorLine::default()
        };
        let layer = self.layer(&found[0].0, &inner);
        Ok(Revisions { inner, variants, factor, sources: found.into_iter().map(|(_, source)| source).collect(), layer })
    }

    /// The tree is copied to where it stays, and built there: what is built may know its own path.
    fn layer(&self, source: &str, inner: &Path) -> Layer {
        Layer {
            name: LAYER.to_owned(),
            source: Some(source.to_owned()),
            script: script(self.build.as_deref(), inner),
            tools: tools(self.build.as_deref()).into_iter().map(str::to_owned).collect(),
            ..Layer::default()
        }
    }
}

impl Revisions {
    /// The study that would say the same. Its folder is one that nobody else uses.
    pub(super) fn study(&self, plan: &Plan, dir: &Path) -> StudyFolder {
        let study = Study {
            name: plan.study.clone(),
            question: None,
            build_factors: vec![],
            run_factors: vec![],
            excludes: vec![],
            recipe: Some(Arc::new(Chain { sources: self.sources.clone(), layers: vec![self.layer.clone()] })),
            workloads: plan.workloads.clone(),
            services: vec![],
            conditions: plan.conditions.clone(),
            plans: vec![],
            decide: plan.decide.clone(),
            sections: BTreeMap::new(),
            sections_of_trials: BTreeSet::new(),
        };
        StudyFolder { dir: dir.to_owned(), file: dir.join("study.toml"), own: vec![], study }
    }
}

/// As it was typed, with the commit where that says more.
fn display_name(revision: &str, source: &Source) -> String {
    match &source.from {
        SourceFrom::Git { revision: commit, .. } if !commit.starts_with(revision) => {
            format!("{revision} ({})", commit.get(..7).unwrap_or(commit))
        }
        SourceFrom::Git { revision: commit, .. } if revision.len() > 12 => {
            commit.get(..12).unwrap_or(commit).to_owned()
        }
        _ => revision.to_owned(),
    }
}

/// What copies a tree to where it stays and builds it there, in the folder below its top that the user is in.
pub(super) fn script(build: Option<&str>, inner: &Path) -> String {
    let copied = "cp -a ./. \"$PREFIX\"/\n";
    let place = inner.display().to_string().replace('\'', "'\\''");
    match build {
        Some(build) => format!("{copied}cd \"$PREFIX\"/'{place}'\n{build}\n"),
        None => copied.to_owned(),
    }
}

/// The tools that a build may use.
pub(super) fn tools(build: Option<&str>) -> BTreeSet<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &&str| build.is_some() && search_path::find(tool, &path, Path::new(".")).is_some();
    TOOLS.into_iter().filter(is_there).collect()
}

pub(super) fn outside(why: String) -> CommandError {
    let error = CommandError::usage(clean(&why));
    let has_git = search_path::find("git", std::env::var_os("PATH").unwrap_or_default(), Path::new(".")).is_some();
    if has_git { error.hint("name another repository with --repository DIR") } else { error }
}

fn not_found(found: Failure) -> CommandError {
    let mut text = format!("error: {}\n", clean(&found.why));
    found.tail.iter().for_each(|line| text.push_str(&format!("    {}\n", clean(line))));
    found.log.iter().for_each(|log| text.push_str(&format!("hint: the full log is in {}\n", log.display())));
    CommandError::text(Code::Usage, text)
}
