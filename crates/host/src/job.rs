//! What a launcher runs at once, and what comes of it: several processes of a trial, a service that goes on until
//! it is asked to end, or a load whose copies are started again and again. Types only.

use crate::command::{Command, Ended};
use bakeoff_model::marks::Chunk;
use bakeoff_model::metric::Measurements;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a launcher runs at once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Job {
    /// One command for each process. A launcher that gets the same one again, not an equal one, need not prepare it again.
    pub commands: Vec<Arc<Command>>,
    /// Set for a load: whenever one has ended, its command is started again, until the job is stopped.
    pub rounds: Option<Rounds>,
    /// Whether each process gets a pipe for marks. Those of a load get a descriptor that is read by nobody.
    pub marks: bool,
    /// What the processes are confined to, all of them together.
    pub limits: Limits,
}

/// How the copies of a load are started again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// Seconds from one start of a copy to its next one, where copies take turns: of two, the second begins half of it
    /// after the first. None if a copy is started again as soon as it has ended.
    pub pace_s: Option<f64>,
}

/// What processes are confined to; without a value, the part stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// The processors that they may use.
    pub cpus: Option<Vec<u32>>,
    /// Their real-time priority (SCHED_FIFO, 1 to 99).
    pub realtime: Option<u32>,
    /// Whether addresses are randomised (personality(2), ADDR_NO_RANDOMIZE).
    pub aslr: Option<bool>,
    /// The most memory of all of them, in bytes.
    pub memory_bytes: Option<u64>,
    /// The most processors' time that they may use, per time.
    pub cpu_limit: Option<f64>,
    /// What takes longer is killed, in seconds.
    pub timeout_s: Option<f64>,
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobEnded {
    /// When the first process was launched, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// The same by CLOCK_MONOTONIC, in seconds: marks that tell their own time tell it by that clock.
    pub started_monotonic_s: f64,
    /// One for each command, in their order; of a load, the last of each.
    pub processes: Vec<Ended>,
    /// Of the job as a whole: `wall` from the first launch to the last end, sums and peaks over the processes, and
    /// what the probes say. For a single process, its own are among them.
    pub measurements: Measurements,
    /// How many processes outlived the main ones and were killed.
    pub leftovers: u32,
    /// What a load achieved.
    pub rounds: Option<Achieved>,
    /// What each process marked, as it came.
    pub marks: Vec<Vec<Chunk>>,
    /// Bytes of marks beyond what is kept of one process; they were read and thrown away.
    pub marks_lost_bytes: u64,
    /// Parts of the limits that a process had to go without, by their names in [`Limits`], and why.
    pub without: Vec<(String, String)>,
}

/// What a load has achieved so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Achieved {
    /// Copies that are running.
    pub alive: u32,
    /// Copies that have ended and exited 0.
    pub ended: u64,
    /// Copies that have ended otherwise.
    pub failed: u64,
    /// Which of the commands, from 0, was the first to fail.
    pub first_failed: Option<usize>,
    /// CPU time of those that have ended, in seconds.
    pub cpu_s: f64,
    /// Time since the load began, in seconds.
    pub seconds: f64,
}
