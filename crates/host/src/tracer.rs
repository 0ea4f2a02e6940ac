//! The tracer: runs one command under ptrace(2), stopped at every system call, and writes down which calls it made,
//! which files were mapped when its processes ended, and which paths it looked for. It is a process of its own, launched
//! in place of the command that it runs. It takes no time of anything, and judges nothing.
//!
//! # What is counted
//! A call counts when it is made, whether or not it returns: strace -c counts those that return, so that `exit_group` is
//! missing there. It counts as an error if it returned one, also one by which the kernel only says that the call is to be
//! made again. The first call is the `execve` of the command itself. Nothing before it is seen, so that neither our own
//! start nor our parent's is in the numbers. If only some of the time is wanted, the caller
//! makes a file at its beginning and removes it at its end: a service outlasts the trial that it is watched for.
//!
//! # Signals
//! The command has a process group of its own, as it has where nothing is traced, and a caller that wants to stop it signals
//! our group. So those signals by which programs are asked to end are handed on to its group, and do not end us.
//!
//! # How it ends
//! As the command did: with the same exit code, or killed by the same signal. What outlives the command's main process
//! dies with us, as it does where nothing is traced.

mod calls;
mod census;
mod kernel;
mod start;
mod sys;
mod tally;
mod used;
mod watch;

use crate::census::Report;
use crate::command::Command;
use crate::launcher::find;
use crate::sampler::Samples;
pub(crate) use calls::name_of;
pub use census::{Calls, Census, Children, Mapped, Opened};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
pub(crate) use sys::die_of;
pub use used::Used;
use watch::End;

/// The environment variable that the launcher adds to every command of a job that marks.
const MARKS: &str = "BAKEOFF_MARKS";

/// A tracer's orders, in a file: the command's environment may name libraries that would change the tracer too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Order {
    /// The program and its arguments; it is looked for as the launcher does.
    pub argv: Vec<String>,
    /// Its environment; the descriptor for marks is added.
    pub env: BTreeMap<String, String>,
    /// Takes what was found: a [`TraceReport`] as JSON.
    pub output: PathBuf,
    /// Report activity while this file exists, plus everything done by processes started meanwhile. None: everything.
    #[serde(default)]
    pub during: Option<PathBuf>,
    /// Report which files are used, and nothing else: only calls that name files stop the command.
    #[serde(default)]
    pub files: bool,
    /// Report what the [census](crate::census) sees, with times: nothing is stopped, and nothing else here is used.
    #[serde(default)]
    pub kernel: bool,
    /// Report what the [sampler](crate::sampler) finds, with a sample each time this number of ns has
    /// passed: nothing is stopped either.
    #[serde(default)]
    pub samples_ns: Option<u64>,
}

/// What a tracer reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceReport {
    /// What the command did.
    Seen(Census),
    /// The files that it used.
    Used(Used),
    /// What the census saw of it.
    Watched(Report),
    /// Where its user time is.
    Sampled(Samples),
    /// The command could not be started.
    NotStarted {
        /// What is at fault.
        what: String,
        /// The system's word for it.
        why: String,
    },
    /// Nothing may be traced here.
    Refused {
        /// The system's word for it.
        why: String,
    },
}

/// Does what the order in this file asks for, in the folder where we are, and returns the exit code that we should end
/// with; if the command was killed by a signal, it does not return but ends by the same one.
///
/// # Errors
/// If the order cannot be read, nothing can be started, or what was found cannot be written.
pub fn execute(order: &Path) -> io::Result<i32> {
    let order: Order = serde_json::from_slice(&std::fs::read(order)?)?;
    let (report, end) = trace(&order)?;
    std::fs::write(&order.output, serde_json::to_vec(&report)?)?;
    match end {
        End::Exited(code) => Ok(code),
        End::Signalled(signal) => Ok(sys::die_of(signal)),
    }
}

fn trace(order: &Order) -> io::Result<(TraceReport, End)> {
    let mut env = order.env.clone();
    env.extend(std::env::var(MARKS).ok().map(|value| (MARKS.to_owned(), value)));
    let nothing = PathBuf::new();
    let here = std::env::current_dir()?;
    let command =
        Command { argv: order.argv.clone(), dir: here, env, stdin: None, stdout: nothing.clone(), stderr: nothing };
    let not_started =
        |what: String, why: String| Ok((TraceReport::NotStarted { what, why }, End::Exited(sys::NOTHING)));
    let program = match find(&command) {
        Ok(program) => program,
        Err((what, why)) => return not_started(what, why),
    };
    let watched = match order.samples_ns {
        Some(period_ns) => Some(kernel::sample(&program, &command, period_ns)?.map(TraceReport::Sampled)),
        None if order.kernel => {
            Some(kernel::watch(&program, &command, order.during.as_deref())?.map(TraceReport::Watched))
        }
        None => None,
    };
    if let Some(kernel::Watched { seen, end, not_started: refused }) = watched {
        return match refused {
            Some(error) => not_started(program.display().to_string(), error.to_string()),
            None => Ok((seen.unwrap_or_else(|why| TraceReport::Refused { why }), end)),
        };
    }
    let begun = match start::start(&program, &command, order.files)? {
        start::Start::Begun(begun) => begun,
        start::Start::Refused(refused) => {
            let why = format!("ptrace(2): {refused}");
            return Ok((TraceReport::Refused { why }, End::Exited(sys::NOTHING)));
        }
    };
    let (tally, end) = watch::watch(begun.pid, &program, order.during.as_deref(), order.files)?;
    match begun.refused_by_exec() {
        Some(error) => not_started(program.display().to_string(), error.to_string()),
        None if order.files => Ok((TraceReport::Used(tally.into_used()), end)),
        None => Ok((TraceReport::Seen(tally.into_census()), end)),
    }
}
