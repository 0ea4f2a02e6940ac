//! Where a bisection keeps its files: the studies with a variant for each commit, and what its blocks leave.

use super::args::Args;
use crate::blocks::{LOCK, NAME_DIGITS, unwritten};
use bakeoff_building::Commits;
use bakeoff_command::target::replace;
use bakeoff_command::{CommandError, user_state};
use bakeoff_host::lock::Lock;
use bakeoff_model::digest::Digest;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Below the user's state: a folder for each search.
pub(super) const FOLDER: &str = "bisect";
/// The metric that counts.
pub(super) const COUNT: &str = "instructions";

/// Where a search keeps its files.
pub(super) struct Files {
    pub(super) name: String,
    pub(super) dir: PathBuf,
    /// Where the studies are that it writes: next to the user's one, because they name its files.
    studies: PathBuf,
}

impl Files {
    /// The same commits, command or study, and seed are the same search, whatever its budget.
    pub(super) fn of(args: &Args, commits: &Commits) -> Result<Self, CommandError> {
        let mut digest = Digest::of("bisect");
        commits.all.iter().for_each(|commit| _ = digest.field("commit", commit.hash.as_bytes()));
        digest.field("subject", commits.subject.digest().as_bytes());
        digest.field("seed", &args.seed.to_le_bytes());
        digest.field("truth", args.simulate.as_deref().unwrap_or_default().as_bytes());
        let name = digest.hex()[..NAME_DIGITS].to_owned();
        let state = user_state::folder().ok_or_else(|| {
            CommandError::usage("there is no folder for the files of the search")
                .hint("set BAKEOFF_STATE to an absolute path")
        })?;
        let dir = state.join(FOLDER).join(&name);
        let studies = match args.study().map(std::path::absolute).transpose().map_err(CommandError::usage)? {
            Some(study) if study.is_dir() => study,
            Some(file) => file.parent().map(Path::to_owned).unwrap_or_default(),
            None => dir.clone(),
        };
        Ok(Self { studies, dir, name })
    }

    /// Writes a file of the search, or one with an absolute path.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), CommandError> {
        let path = self.dir.join(path);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        replace(&path, text.as_bytes()).map_err(unwritten("write", &path))
    }

    /// What was written before; none if it was not.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        fs::read(self.dir.join(name)).ok().and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// Writes down the study of some commits; it decides by this metric if one is named.
    pub(super) fn study(
        &self,
        args: &Args,
        commits: &Commits,
        some: &BTreeSet<usize>,
        metric: Option<&str>,
    ) -> Result<PathBuf, CommandError> {
        let path = self.study_path(metric);
        if args.simulate.is_none() {
            self.write(&path.with_extension("lock"), &commits.lock(some)?)?;
        }
        self.write(&path, &commits.study(some, metric)?)?;
        Ok(path)
    }

    /// Where that is.
    pub(super) fn study_path(&self, metric: Option<&str>) -> PathBuf {
        self.studies.join(format!(".bisect-{}-{}.toml", self.name, metric.unwrap_or("study")))
    }

    /// Removes its studies, which are written again when needed, and those of killed searches, whose locks nobody holds.
    pub(super) fn clear(&self) {
        for path in fs::read_dir(&self.studies).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(search) = name.strip_prefix(".bisect-").and_then(|name| name.get(..NAME_DIGITS)) else { continue };
            let lock = self.dir.with_file_name(search).join(LOCK);
            let held = if lock.is_file() { Lock::take(&lock).ok() } else { None };
            if search == self.name || held.is_some() {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// A truth of commits as one of the variants of some: a commit changes all later ones.
pub(super) fn planted(truth: &str, commits: &Commits, some: &BTreeSet<usize>) -> String {
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
    let effects = some.iter().filter(|at| **at > 0 && ratios[**at] != 1.0);
    items.extend(effects.map(|at| format!("{}:{}", commits.variant(*at), ratios[*at])));
    items.join(",")
}
