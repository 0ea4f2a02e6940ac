//! Where shards run: what a run asks of a scheduler or of machines. Only files say what a shard has done.

use crate::order::Order;
use crate::run_folder::RunFolder;
use bakeoff_command::CommandError;
use serde::Serialize;
use std::time::Duration;

/// A job that waits or runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Job {
    /// Its shard; none if it builds.
    pub(crate) shard: Option<u32>,
    #[serde(flatten)]
    pub(crate) state: JobState,
    /// The machine that it runs on.
    pub(crate) node: Option<String>,
    /// When it began to wait or to run, as the scheduler words it.
    pub(crate) since: String,
}

/// What a scheduler says of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum JobState {
    Waiting {
        /// In the scheduler's words.
        reason: String,
        /// What to do about it, if it will never run by itself.
        remedy: Option<&'static str>,
    },
    Running,
}

/// A question that had no answer: what it was about may be as it was.
#[derive(Debug)]
pub(crate) struct CannotAsk(pub(crate) String);

impl From<CommandError> for CannotAsk {
    fn from(error: CommandError) -> Self {
        Self(error.render().trim_end().to_owned())
    }
}

/// Where shards run.
pub(crate) trait Site {
    /// The time from a submission to the first question about it.
    fn pause(&self) -> Duration;

    /// How many passes one job has time for, if each takes that many seconds.
    fn passes_of_a_job(&self, _pass_s: Option<f64>) -> u32 {
        u32::MAX
    }

    /// The scripts that do everything by hand.
    fn scripts(&self, run: &RunFolder, order: &Order) -> Result<String, CommandError>;

    /// Brings everything there, and fails if the request is impossible.
    fn send(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError>;

    /// Has shards run, or the variants built if it gets none.
    fn submit(&self, run: &RunFolder, order: &Order, shards: Option<&[u32]>) -> Result<(), CommandError>;

    /// The jobs of the run that wait or run.
    fn jobs(&self, run: &RunFolder, order: &Order) -> Result<Vec<Job>, CannotAsk>;

    /// Brings what was done here, as far as it has come.
    fn fetch(&self, _run: &RunFolder, _order: &Order) -> Result<(), CannotAsk> {
        Ok(())
    }

    /// What the user should know about shards that came back without having ended: machines that take no jobs, say.
    fn note(&self) -> Option<String> {
        None
    }

    /// Ends all jobs of the run.
    fn cancel(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError>;
}
