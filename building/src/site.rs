//! Where a layer is built: its folders, its environment and what stands between its processes and the machine. What is
//! run there is known to its users.

use crate::error::{Error, Failure, Stop};
use crate::shell::{Environment, Shell, basic_environment};
use crate::trained::one_line;
use crate::wrappers::Around;
use bakeoff_host::Ended;
use bakeoff_model::metric::Measurements;
use std::path::{Path, PathBuf};

/// How the variables of the compiler wrapper begin.
const OURS: &str = "BAKEOFF_";

/// Where a layer is built, and what its processes are given.
pub(crate) struct Site {
    /// `$PREFIX`.
    pub(crate) prefix: PathBuf,
    /// Holds all that is needed to build it, and is gone afterwards.
    pub(crate) work: PathBuf,
    /// Where its script starts.
    pub(crate) tree: PathBuf,
    /// The whole environment of its processes.
    pub(crate) env: Environment,
    /// What stands between them and the machine.
    pub(crate) around: Around,
}

impl Site {
    /// Runs a command of the study's, confined where that is possible.
    pub(crate) fn execute(&self, shell: &mut Shell, argv: &[&str]) -> Result<Ended, Error> {
        self.execute_in(shell, argv, &self.env)
    }

    fn execute_in(&self, shell: &mut Shell, argv: &[&str], env: &Environment) -> Result<Ended, Error> {
        let command = self.around.command(argv);
        shell.execute(&command.iter().map(String::as_str).collect::<Vec<_>>(), &self.tree, env)
    }

    /// Performs a link again, by the linker itself, in that folder; what it prints goes to that file.
    pub(crate) fn relink(&self, shell: &mut Shell, argv: &[String], dir: &Path, out: &Path) -> Result<Ended, Error> {
        // What is confined is looked up on PATH, so a shell runs the path.
        let out = out.display().to_string();
        let words = ["sh", "-c", "exec \"$@\" > \"$0\"", &out].into_iter().chain(argv.iter().map(String::as_str));
        let command = self.around.command(&words.collect::<Vec<_>>());
        shell.execute(&command.iter().map(String::as_str).collect::<Vec<_>>(), dir, &self.plain_env())
    }

    /// Runs the training of a level on what was installed: what it cost.
    pub(crate) fn train(&self, shell: &mut Shell, command: &str) -> Result<Measurements, Stop> {
        shell.note(&format!("training: {command}"))?;
        let ended = self.execute_in(shell, &["sh", "-e", "-c", command], &self.plain_env())?;
        if ended.leftovers > 0 {
            let left = ended.leftovers;
            shell.note(&format!(
                "processes that outlived the training and were killed, so they wrote no profile: {left}"
            ))?;
        }
        match shell.complaint(&ended.end) {
            Some(why) => Err(self.failure(shell, format!("the training {why}: {}", one_line(command)))?.into()),
            None => Ok(ended.measurements),
        }
    }

    /// The environment without what is for compilers.
    pub(crate) fn plain_env(&self) -> Environment {
        let kept = self.env.iter().filter(|(name, _)| !name.starts_with(OURS));
        let mut env: Environment = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        env.extend(basic_environment());
        env
    }

    /// The failure of such a command.
    pub(crate) fn failure(&self, shell: &Shell, why: String) -> Result<Failure, Error> {
        Ok(self.around.explain(shell.failure(why, &self.work)?))
    }
}
