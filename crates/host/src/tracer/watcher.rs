//! A watcher in the place of the tracer: the command waits until it is watched, and runs at its own speed from then on. The
//! watcher knows what it sees; here the command is launched, and its end awaited.

use super::start;
use super::sys::{self, Pid};
use super::watch::End;
use crate::command::Command;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Watches a command and all that comes of it from outside, without stopping it. It begins while the command waits to become
/// its program, so it misses nothing.
pub trait Watcher {
    /// What it saw.
    type Seen: Serialize;

    /// Notes whether the file of [`Order::during`](super::Order::during) exists. Called every 2 ms while the command runs, if
    /// the order names a file; [`Watcher::Seen`] is then only about the time in which it exists.
    fn look(&mut self, _exists: bool) {}

    /// Ends watching. Called when the command has ended.
    ///
    /// # Errors
    /// If what was recorded cannot be read.
    fn finish(self) -> io::Result<Self::Seen>;
}

/// What came of it.
pub(super) struct Watched<T> {
    /// What was seen, or why nothing was.
    pub(super) seen: Result<T, String>,
    /// How the command ended.
    pub(super) end: End,
    /// Why it could not become its program, if it could not.
    pub(super) not_started: Option<io::Error>,
}

/// How often it is looked whether a file is there.
const EVERY: Duration = Duration::from_millis(2);

/// Runs the command while a watcher of its process exists; if none can be had, the command is not run.
pub(super) fn watch<W: Watcher>(
    program: &Path,
    command: &Command,
    during: Option<&Path>,
    watcher_of: impl FnOnce(u32) -> Result<W, String>,
) -> io::Result<Watched<W::Seen>> {
    let waiting = start::prepare(program, command, false)?;
    let mut watcher = match watcher_of(waiting.pid.unsigned_abs()) {
        Ok(watcher) => watcher,
        Err(refused) => {
            sys::kill(waiting.pid);
            return Ok(Watched { seen: Err(refused), end: End::Exited(sys::NOTHING), not_started: None });
        }
    };
    let begun = waiting.go()?;
    let end = match during {
        None => end_of(begun.pid)?,
        Some(file) => end_beside(begun.pid, || watcher.look(file.exists()))?,
    };
    let seen = watcher.finish().map_err(|error| format!("cannot read what was recorded: {error}"));
    Ok(Watched { seen, end, not_started: begun.refused_by_exec() })
}

fn end_of(main: Pid) -> io::Result<End> {
    while let Some((pid, status)) = sys::wait()? {
        if let Some(end) = end_by(status).filter(|_| pid == main) {
            return Ok(end);
        }
    }
    Err(gone())
}

/// The same, and does something again and again until then.
fn end_beside(main: Pid, mut look: impl FnMut()) -> io::Result<End> {
    loop {
        look();
        match sys::wait_no_longer()? {
            Some((0, _)) => std::thread::sleep(EVERY),
            Some((pid, status)) => {
                if let Some(end) = end_by(status).filter(|_| pid == main) {
                    return Ok(end);
                }
            }
            None => return Err(gone()),
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the watched command disappeared")
}

fn end_by(status: i32) -> Option<End> {
    if libc::WIFEXITED(status) {
        return Some(End::Exited(libc::WEXITSTATUS(status)));
    }
    libc::WIFSIGNALED(status).then(|| End::Signalled(libc::WTERMSIG(status)))
}
