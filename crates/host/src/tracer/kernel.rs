//! The census in the tracer's place: the command waits until the kernel watches it, and runs at its own speed from then on.
//! What is seen is the census's business; here the command is launched, and its end awaited.

use super::start;
use super::sys::{self, Pid};
use super::watch::End;
use crate::census::{Detail, Report, Roots, Watch};
use crate::command::Command;
use std::io;
use std::path::Path;
use std::time::Duration;

/// What came of it.
pub(super) struct Watched {
    /// What was seen, or why nothing was.
    pub(super) seen: Result<Report, String>,
    /// How the command ended.
    pub(super) end: End,
    /// Why it could not become its program, if it could not.
    pub(super) not_started: Option<io::Error>,
}

/// How often it is looked whether a file is there.
const EVERY: Duration = Duration::from_millis(2);

/// Runs the command while it is watched; where nothing may be watched, it is not run. With a file, what is seen is what it does
/// while the file is there.
pub(super) fn watch(program: &Path, command: &Command, during: Option<&Path>) -> io::Result<Watched> {
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
    let mut window = Window::default();
    let end = match during {
        None => end_of(begun.pid)?,
        Some(file) => end_beside(begun.pid, || window.look(file.exists(), &watch))?,
    };
    let seen = window.seen(watch).map_err(|error| format!("what was watched cannot be read: {error}"));
    Ok(Watched { seen, end, not_started: begun.refused_by_exec() })
}

/// What was seen when a file came, and when it had gone.
#[derive(Default)]
struct Window {
    before: Option<Report>,
    after: Option<Report>,
}

impl Window {
    fn look(&mut self, is_there: bool, watch: &Watch) {
        // What cannot be read now is read at the end.
        if is_there && self.before.is_none() {
            self.before = watch.so_far().ok();
        } else if !is_there && self.before.is_some() && self.after.is_none() {
            self.after = watch.so_far().ok();
        }
    }

    /// What happened in between; all of it without a file.
    fn seen(self, watch: Watch) -> io::Result<Report> {
        let last = watch.finish()?;
        Ok(match self.before {
            Some(before) => self.after.unwrap_or(last).since(&before),
            None => last,
        })
    }
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
