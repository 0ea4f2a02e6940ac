//! How a trial ended, and why it failed if it did. It is what was seen; whether a trial counts is [`super::Record`]'s.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use serde::{Deserialize, Serialize};

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did what it should; its measurements count.
    #[default]
    Ok,
    /// It did not; its measurements are kept but never compared.
    Failed(Failure),
    /// A rule that was fixed beforehand says that it does not count.
    Void(String),
}

/// Why a trial failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It exited with this code.
    Exit {
        /// The exit code; not 0.
        code: i32,
        /// Last lines of its standard error.
        stderr: Vec<String>,
    },
    /// It was killed by this signal.
    Signal { signal: i32, stderr: Vec<String> },
    /// Its standard output was not the expected one.
    WrongOutput {
        /// First line that differs, from 1.
        line: u64,
        /// That line as expected; none if more was printed than expected.
        expected: Option<String>,
        /// That line as printed; none if less was printed than expected.
        printed: Option<String>,
    },
    /// It took longer than it may, and was killed.
    TimedOut {
        /// How long it may take, in seconds.
        after_s: f64,
        stderr: Vec<String>,
    },
    /// It used more memory than the condition allows, and the kernel killed it.
    OutOfMemory { limit_bytes: u64, stderr: Vec<String> },
    /// What a trial needs or is judged by failed: a service, the load, the oracle.
    Surroundings {
        /// What: `service cache`, `load`, `oracle`.
        part: String,
        /// Why, in one line.
        why: String,
        /// Last lines of what it printed.
        tail: Vec<String>,
    },
    /// What it reported was not what the study says: a phase, a number of ops, a value.
    #[serde(rename = "told")]
    BadMarks {
        /// What was wrong, in one line.
        why: String,
    },
    /// Its harness reported nothing that can be compared: of the whole suite, or of one of its benchmarks.
    NoBenchmark { why: String },
    /// It could not be started.
    NotStarted {
        /// The command or file that could not be started.
        command: String,
        /// The system's word for it.
        why: String,
    },
}
