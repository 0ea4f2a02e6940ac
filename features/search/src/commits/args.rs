//! The options of `bakeoff bisect`.

use crate::budget::Budget;
use bakeoff_building::Subject;
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{CommandError, Registry};
use bakeoff_host::search_path;
use std::path::{Path, PathBuf};

/// Find the commit that changed the speed
///
/// Bakeoff builds and runs few of the commits between a good and a bad one, in common blocks with both. It proves its answer on
/// new blocks of the commit and its parent, and compares the two as `compare --git` does. It never touches your working tree,
/// and runs only the build and the command. Ctrl-C stops after the current trial; run the same command again to resume.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    only_here: crate::only_here::OnlyHere,
    /// The command to time, or a study that builds from a Git repository
    ///
    /// The command runs in the tree of each commit; several words are one command. Of a study, only the commit varies, and
    /// everything else is as in its baseline.
    #[arg(required = true, value_name = "COMMAND|STUDY")]
    pub(super) command: Vec<String>,
    /// A commit with the old speed
    #[arg(long, value_name = "REVISION")]
    pub(super) good: String,
    /// A commit with the new speed, later on the path of first parents [default: HEAD, except with --script]
    #[arg(long, value_name = "REVISION")]
    pub(super) bad: Option<String>,
    /// The shell command that builds a commit in a copy of its tree; the cache keeps the result
    #[arg(long, value_name = "COMMAND")]
    pub(super) build: Option<String>,
    /// A folder in the repository [default: the current folder, or the source of the study]
    #[arg(long, value_name = "DIR")]
    pub(super) repository: Option<PathBuf>,
    /// What the search may cost: a time (`90min`, `2h`), `'400 trials'` or `'30 builds'`
    ///
    /// If it ends first, the answer names the commits that are left. The same command with a larger budget resumes.
    #[arg(long, value_name = "WHAT", value_parser = Budget::parse)]
    pub(super) budget: Option<Budget>,
    /// Draw the order of the trials from this seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Print what the search will cost, and begin nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Answer for the commit that Git has checked out, with the exit codes of `git bisect run`
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    pub(super) script: bool,
    /// Rehearse the search: build and run nothing, but draw random durations according to TRUTH
    ///
    /// TRUTH is as for `run --simulate`. REVISION:1.03 makes this commit and all later ones take 3 % longer.
    #[arg(long, value_name = "TRUTH")]
    pub(super) simulate: Option<String>,
    /// Print one JSON object instead of the answer
    ///
    /// `ending` is `proved`, `not proved` or `not shown` (good and bad may be equally fast). `commit` and `parent` are the proved
    /// pair, with the `estimate` and `interval` of their difference as a fraction, and `share`, its part of the whole difference.
    /// `between` are the closest commits that are shown to differ, and `likely` those of which one is the first changed one.
    /// `prints_other` says that good and bad print different things.
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) json: bool,
    /// Write the comparison of the proved commit with its parent into this file, as a page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "dry_run", "script", "simulate"])]
    pub(super) html: Option<PathBuf>,
    /// Show no progress on standard error
    #[arg(long, short)]
    pub(super) quiet: bool,
}

impl Args {
    /// The command as one text for a shell.
    pub(super) fn command(&self) -> String {
        if let [only] = &self.command[..] { only.clone() } else { shell_words::join(&self.command) }
    }

    /// The study, if one was named: a folder is no command.
    pub(super) fn study(&self) -> Option<&Path> {
        let [only] = &self.command[..] else { return None };
        let path = Path::new(only);
        let is_study = path.join("study.toml").is_file() || only.ends_with(".toml") && path.is_file();
        is_study.then_some(path)
    }

    /// Whether the only word is neither a study nor a program. A path may be that of a program that only commits have.
    fn is_unknown(&self) -> bool {
        let [word] = &self.command[..] else { return false };
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "._+-/".contains(c));
        if !word.contains('/') {
            let path = std::env::var_os("PATH");
            return is_plain && path.is_none_or(|path| search_path::find(word, path, Path::new(".")).is_none());
        }
        let here = self.repository.as_deref().unwrap_or(Path::new("."));
        // HEAD is a file where a repository has no working tree.
        let is_seen = self.bad.as_ref().is_none_or(|bad| bad == "HEAD") && !here.join("HEAD").is_file();
        let is_missing = self.build.is_none() && is_seen && !here.join(word).is_file();
        is_plain && (is_missing || word.ends_with(".toml") || word.ends_with('/') || here.join(word).is_dir())
    }

    /// Whether commits are built.
    pub(super) fn builds(&self) -> bool {
        self.build.is_some() || self.study().is_some()
    }

    /// What is built and run at each commit.
    pub(super) fn subject(&self, features: &Registry) -> Result<Subject, CommandError> {
        let repository = self.repository.as_deref();
        match self.study() {
            Some(_) if self.html.is_some() => {
                Err(CommandError::usage("the commits of a study are not compared in the end")
                    .hint("leave out --html; the answer names both commits, which can be levels of the study"))
            }
            Some(_) if self.build.is_some() => Err(CommandError::usage("a study says itself how commits are built")
                .hint("leave out --build, or name a command instead of the study")),
            Some(study) => Subject::study(&StudyFolder::open(study, features)?, repository),
            None if self.simulate.is_none() && self.is_unknown() => {
                let error = format!("there is neither a study nor a program `{}`", self.command());
                Err(CommandError::usage(error)
                    .hint("name a folder with a study.toml, or a program such as ./prog; --build can build it"))
            }
            None => Subject::command(repository.unwrap_or(Path::new(".")), self.build.as_deref(), &self.command()),
        }
    }
}
