//! Where a layer is built: its folders, its environment and what stands between its processes and the machine. What is
//! run there is known to its users.

use crate::error::{Error, Failure};
use crate::shell::{Environment, Shell};
use crate::wrappers::Around;
use bakeoff_host::Ended;
use std::path::PathBuf;

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
        let command = self.around.command(argv);
        shell.execute(&command.iter().map(String::as_str).collect::<Vec<_>>(), &self.tree, &self.env)
    }

    /// The failure of such a command.
    pub(crate) fn failure(&self, shell: &Shell, why: String) -> Result<Failure, Error> {
        Ok(self.around.explain(shell.failure(why, &self.work)?))
    }
}
