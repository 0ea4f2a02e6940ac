//! Calls of Slurm's commands: without the options of the caller's environment, with a time limit.

use crate::calls::{Limit, Said, call};
use crate::site::CannotAsk;
use bakeoff_command::{Code, CommandError};
use bakeoff_model::plain::clean;
use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// While slurmctld is away, Slurm's commands try for some seconds by themselves; a call that takes longer than this hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// Variables that are options of Slurm's commands. They would win over what a job script says.
const OPTIONS: &[&str] = &["SBATCH_", "SLURM_", "SQUEUE_", "SCANCEL_", "SINFO_", "SCONTROL_", "SALLOC_", "SRUN_"];
/// Variables that say how to reach Slurm, not what to ask.
const KEPT: &[&str] = &["SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT"];

impl From<CannotAsk> for CommandError {
    fn from(error: CannotAsk) -> Self {
        Self::new(Code::Internal, error.0).hint(
            "jobs that were submitted go on; run the same command again, on a host where `squeue` works (nothing is lost)",
        )
    }
}

/// The environment of calls.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    variables: Vec<(OsString, OsString)>,
    limit: Duration,
}

/// Whether a variable is an option of Slurm's commands.
fn is_option(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    OPTIONS.iter().any(|prefix| name.starts_with(prefix)) && !KEPT.contains(&&*name)
}

impl Calls {
    /// Calls with these variables, but for those that are options.
    pub(super) fn with(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables = variables.into_iter().filter(|(name, _)| !is_option(name)).collect();
        Self { variables, limit: LIMIT }
    }

    /// A variable of theirs.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// What a command prints.
    pub(super) fn ask(&self, program: &str, words: &[&str]) -> Result<String, CannotAsk> {
        let said = self.call(program, words)?;
        match said.status.filter(|status| !status.success()) {
            None => Ok(said.text()),
            Some(status) if said.err.is_empty() => Err(no_answer(program, words, &status.to_string())),
            Some(status) => Err(no_answer(program, words, &format!("{status}: {}", said.err))),
        }
    }

    /// The same, whatever its exit code is.
    pub(super) fn call(&self, program: &str, words: &[&str]) -> Result<Said, CannotAsk> {
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(self.variables.iter().cloned()).stdin(Stdio::null());
        let why = match call(&mut command, Limit { time: self.limit, heeds_interrupts: false }) {
            Ok(said) if said.status.is_some() => return Ok(said),
            Ok(_) => format!("no answer in {} s", self.limit.as_secs()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "it is not installed here".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(no_answer(program, words, &why))
    }
}

/// That of a call that ended without an answer, and why. It says nothing about jobs: they may wait, run, or have ended.
pub(super) fn no_answer(program: &str, words: &[&str], why: &str) -> CannotAsk {
    let call = shell_words::join(std::iter::once(program).chain(words.iter().copied()));
    CannotAsk(format!("cannot ask Slurm: `{}`: {why}", clean(&call)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    fn calls() -> Calls {
        let set = |name: &str, value: &str| (name.into(), value.into());
        let path = std::env::var("PATH").unwrap_or_default();
        Calls::with([
            set("PATH", &path),
            set("SBATCH_PARTITION", "x"),
            set("SLURM_JOB_ID", "7"),
            set("SQUEUE_FORMAT", "%i"),
            set("SLURM_CONF", "/c"),
        ])
    }

    #[test]
    fn options_of_the_environment_do_not_reach_a_call() {
        let out = calls().ask("env", &[]).unwrap();
        assert!(out.contains("SLURM_CONF=/c") && out.contains("LC_ALL=C"), "{out}");
        assert!(!out.contains("SBATCH_") && !out.contains("SLURM_JOB_ID") && !out.contains("SQUEUE_"), "{out}");
    }

    #[test]
    fn a_call_that_gives_no_answer_says_why() {
        let why = |calls: &Calls, script: &str| calls.ask("sh", &["-c", script]).unwrap_err().0;
        assert!(why(&calls(), "echo one >&2; echo two >&2; exit 3").ends_with("`: exit status: 3: one; two"));
        let hurried = Calls { limit: Duration::ZERO, ..calls() };
        assert!(why(&hurried, "cat < /dev/zero > /dev/null").contains("no answer in 0 s"));
        let error = calls().ask("no-such-sbatch", &["a b"]).unwrap_err().0;
        assert_eq!(error, "cannot ask Slurm: `no-such-sbatch 'a b'`: it is not installed here");
    }
}
