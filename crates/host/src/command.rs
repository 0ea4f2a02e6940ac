//! One command that a launcher runs, and what became of it. Types only; nothing is launched here.

use crate::now_unix_s;
use bakeoff_model::metric::Measurements;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A command to run: nothing is inherited but what stands here, user and limits apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` of `env`; a relative one
    /// with a slash is relative to `dir`.
    pub argv: Vec<String>,
    /// Where it starts.
    pub dir: PathBuf,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Its standard input, opened for it alone; empty without.
    #[serde(default)]
    pub stdin: Option<PathBuf>,
    /// Takes its standard output; created, or emptied, but for an open file of [`crate::output::OutputFiles`].
    pub stdout: PathBuf,
    /// Takes its standard error; created, or emptied. If it equals `stdout`, both share one open file.
    pub stderr: PathBuf,
}

/// Which interrupt kills what is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The first one: for what can be repeated at little cost.
    FirstInterrupt,
    /// The second one: after the first, what is running may finish.
    SecondInterrupt,
}

impl Patience {
    /// How many interrupts it takes.
    pub(crate) fn limit(self) -> u32 {
        match self {
            Self::FirstInterrupt => 1,
            Self::SecondInterrupt => 2,
        }
    }
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// When it was launched, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// Elapsed time and everything that wait4 tells, by the names of [`bakeoff_model::metric`] and in its base
    /// units. Empty if the command was not started.
    pub measurements: Measurements,
    /// How many processes outlived the main one and were killed.
    pub leftovers: u32,
}

impl Ended {
    /// Nothing was started.
    pub(crate) fn never_began(end: End) -> Self {
        Self { end, started_unix_s: now_unix_s(), measurements: Measurements::new(), leftovers: 0 }
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Signalled(i32),
    /// It could not be started.
    NotStarted {
        /// The program, folder or file that is at fault.
        what: String,
        /// The system's word for it.
        why: String,
    },
    /// It was killed, or not even started, because of an interrupt.
    Interrupted,
    /// It took longer than [`crate::Limits::timeout_s`], and was killed.
    TimedOut,
    /// The kernel killed it because all of the job used more than [`crate::Limits::memory_bytes`].
    OutOfMemory,
}
