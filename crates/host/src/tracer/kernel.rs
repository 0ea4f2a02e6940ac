//! The census in the tracer's place: the command waits until the kernel watches it, and runs at its own speed from then on.
//! What is seen is the census's business; here the command is launched, and its end awaited.

use super::start;
use super::sys::{self, Pid};
use super::watch::End;
use crate::census::{Detail, Report, Roots, Watch};
use crate::command::Command;
use std::io;
use std::path::Path;

/// What came of it.
pub(super) struct Watched {
    /// What was seen, or why nothing was.
    pub(super) seen: Result<Report, String>,
    /// How the command ended.
    pub(super) end: End,
    /// Why it could not become its program, if it could not.
    pub(super) not_started: Option<io::Error>,
}

/// Runs the command while it is watched; where nothing may be watched, it is not run.
pub(super) fn watch(program: &Path, command: &Command) -> io::Result<Watched> {
    let waiting = start::prepare(program, command, false)?;
    let watch = match Watch::start(&Roots::Launched(waiting.pid.unsigned_abs()), Detail::Times) {
        Ok(watch) => watch,
        Err(refused) => {
            sys::kill(waiting.pid);
            let seen = Err(refused.to_string());
            return Ok(Watched { seen, end: End::Exited(sys::NOTHING), not_started: None });
        }
    };
    let begun = waiting.go()?;
    let end = end_of(begun.pid)?;
    let seen = watch.finish().map_err(|error| format!("what was watched cannot be read: {error}"));
    Ok(Watched { seen, end, not_started: begun.refused_by_exec() })
}

fn end_of(main: Pid) -> io::Result<End> {
    while let Some((pid, status)) = sys::wait()? {
        if pid == main && libc::WIFEXITED(status) {
            return Ok(End::Exited(libc::WEXITSTATUS(status)));
        }
        if pid == main && libc::WIFSIGNALED(status) {
            return Ok(End::Signalled(libc::WTERMSIG(status)));
        }
    }
    Err(io::Error::other("the watched command disappeared"))
}
