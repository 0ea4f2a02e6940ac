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
mod start;
mod sys;
mod tally;
mod used;
mod watch;
mod watcher;

use crate::command::Command;
use crate::launcher::find;
pub use calls::name_of;
pub use census::{Calls, Census, Children, Mapped, Opened};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
pub(crate) use sys::die_of;
pub use used::Used;
use watch::End;
pub use watcher::Watcher;

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
}

/// What a tracer reports, or a [`Watcher`] that sees an `S`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceReport<S = Census> {
    /// What the command did.
    Seen(S),
    /// The files that it used.
    Used(Used),
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
    let order = read(order)?;
    let (report, end) = trace(&order)?;
    conclude(&order, &report, end)
}

/// The same with a watcher in place of the tracer. `watcher_of` gets the process that is about to become the command's program,
/// and says in one line if that cannot be watched.
///
/// # Errors
/// As [`execute`].
pub fn execute_watched<W: Watcher>(
    order: &Path,
    watcher_of: impl FnOnce(u32, &Order) -> Result<W, String>,
) -> io::Result<i32> {
    let order = read(order)?;
    let (report, end) = watch_with(&order, |pid| watcher_of(pid, &order))?;
    conclude(&order, &report, end)
}

fn read(order: &Path) -> io::Result<Order> {
    Ok(serde_json::from_slice(&std::fs::read(order)?)?)
}

/// Writes the report, and ends as the command did.
fn conclude<S: Serialize>(order: &Order, report: &TraceReport<S>, end: End) -> io::Result<i32> {
    std::fs::write(&order.output, serde_json::to_vec(report)?)?;
    match end {
        End::Exited(code) => Ok(code),
        End::Signalled(signal) => Ok(sys::die_of(signal)),
    }
}

fn command_of(order: &Order) -> io::Result<Command> {
    let mut env = order.env.clone();
    env.extend(std::env::var(MARKS).ok().map(|value| (MARKS.to_owned(), value)));
    let nothing = PathBuf::new();
    let dir = std::env::current_dir()?;
    Ok(Command { argv: order.argv.clone(), dir, env, stdin: None, stdout: nothing.clone(), stderr: nothing })
}

fn not_started<S>(what: String, why: String) -> (TraceReport<S>, End) {
    (TraceReport::NotStarted { what, why }, End::Exited(sys::NOTHING))
}

fn trace(order: &Order) -> io::Result<(TraceReport, End)> {
    let command = command_of(order)?;
    let program = match find(&command) {
        Ok(program) => program,
        Err((what, why)) => return Ok(not_started(what, why)),
    };
    let begun = match start::start(&program, &command, order.files)? {
        start::Start::Begun(begun) => begun,
        start::Start::Refused(refused) => {
            let why = format!("ptrace(2): {refused}");
            return Ok((TraceReport::Refused { why }, End::Exited(sys::NOTHING)));
        }
    };
    let (tally, end) = watch::watch(begun.pid, &program, order.during.as_deref(), order.files)?;
    match begun.refused_by_exec() {
        Some(error) => Ok(not_started(program.display().to_string(), error.to_string())),
        None if order.files => Ok((TraceReport::Used(tally.into_used()), end)),
        None => Ok((TraceReport::Seen(tally.into_census()), end)),
    }
}

fn watch_with<W: Watcher>(
    order: &Order,
    watcher_of: impl FnOnce(u32) -> Result<W, String>,
) -> io::Result<(TraceReport<W::Seen>, End)> {
    let command = command_of(order)?;
    let program = match find(&command) {
        Ok(program) => program,
        Err((what, why)) => return Ok(not_started(what, why)),
    };
    let watched = watcher::watch(&program, &command, order.during.as_deref(), watcher_of)?;
    match watched.not_started {
        Some(error) => Ok(not_started(program.display().to_string(), error.to_string())),
        None => Ok((watched.seen.map_or_else(|why| TraceReport::Refused { why }, TraceReport::Seen), watched.end)),
    }
}
