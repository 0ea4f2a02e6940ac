//! Where a bisection keeps its files: the studies with a variant for each commit, and what its blocks leave.

use super::args::Args;
use crate::blocks::Blocks;
use bakeoff_building::Commits;
use bakeoff_command::state::State;
use bakeoff_command::target::replace;
use bakeoff_command::{CommandError, user_state};
use bakeoff_host::interrupt;
use bakeoff_model::digest::Digest;
use bakeoff_model::metric::WALL;
use std::fs;
use std::path::PathBuf;

/// Below the user's state: a folder for each search.
pub(super) const FOLDER: &str = "bisect";
/// Digits of a search's name.
const NAME_DIGITS: usize = 12;

/// Where a search keeps its files.
pub(super) struct Files {
    pub(super) name: String,
    pub(super) dir: PathBuf,
}

impl Files {
    /// The same commits, command, build and seed are the same search, whatever its budget.
    pub(super) fn of(args: &Args, commits: &Commits) -> Result<Self, CommandError> {
        let mut digest = Digest::of("bisect");
        commits.all.iter().for_each(|commit| _ = digest.field("commit", commit.hash.as_bytes()));
        let build = args.build.as_deref();
        digest.field("command", args.command().as_bytes()).field("build", build.unwrap_or("(none)").as_bytes());
        digest.field("place", commits.inner().as_os_str().as_encoded_bytes());
        digest.field("seed", &args.seed.to_le_bytes());
        digest.field("truth", args.simulate.as_deref().unwrap_or_default().as_bytes());
        let name = digest.hex()[..NAME_DIGITS].to_owned();
        let state = user_state::folder().ok_or_else(|| {
            CommandError::usage("there is no folder for the files of the search")
                .hint("set BAKEOFF_STATE to an absolute path")
        })?;
        Ok(Self { dir: state.join(FOLDER).join(&name), name })
    }

    pub(super) fn lock(&self) -> Result<bakeoff_host::lock::Lock, CommandError> {
        interrupt::install()?;
        fs::create_dir_all(&self.dir)
            .map_err(|error| CommandError::unwritten(&format!("cannot create {}", self.dir.display()), &error))?;
        State::at(&self.dir.join("search.json")).lock()
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, CommandError> {
        let path = self.dir.join(name);
        let is_there = fs::read(&path).is_ok_and(|there| there == text.as_bytes());
        if !is_there {
            replace(&path, text.as_bytes())
                .map_err(|error| CommandError::unwritten(&format!("cannot write {}", path.display()), &error))?;
        }
        Ok(path)
    }

    /// The study that decides by this metric.
    pub(super) fn study(&self, args: &Args, commits: &Commits, metric: &str) -> Result<PathBuf, CommandError> {
        self.write(&format!("{metric}.toml"), &commits.study(args.build.as_deref(), &args.command(), metric))
    }

    pub(super) fn blocks(&self, args: &Args, commits: &Commits) -> Result<Blocks, CommandError> {
        let truth = args.simulate.as_deref().map(|truth| ["--simulate".to_owned(), planted(truth, commits)]);
        let words = truth.into_iter().flatten().collect();
        Blocks::open(&self.dir, &self.study(args, commits, WALL)?, words, args.simulate.is_none())
    }
}

/// A truth of commits as one of variants: a commit changes all later ones.
fn planted(truth: &str, commits: &Commits) -> String {
    let mut ratios = vec![1.0; commits.all.len()];
    let mut items: Vec<String> = vec![];
    for item in truth.split(',') {
        let named = item.rsplit_once(':').filter(|(name, _)| name.trim().len() > 3);
        let at = named.and_then(|(name, _)| commits.all.iter().position(|one| one.hash.starts_with(name.trim())));
        let ratio = named.and_then(|(_, ratio)| ratio.trim().parse::<f64>().ok());
        match at.zip(ratio) {
            Some((at, ratio)) => ratios[at..].iter_mut().for_each(|all| *all *= ratio),
            None => items.push(item.to_owned()),
        }
    }
    let effects = ratios.iter().enumerate().skip(1).filter(|(_, ratio)| **ratio != 1.0);
    items.extend(effects.map(|(at, ratio)| format!("{}:{ratio}", commits.variant(at))));
    items.join(",")
}
