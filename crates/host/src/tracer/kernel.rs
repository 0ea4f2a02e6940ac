//! The census or the sampler in the place of the tracer: the command waits until the kernel watches it, and runs at its own speed
//! from then on. What is seen is their business; here the command is launched, and its end awaited.

use super::start;
use super::sys::{self, Pid};
use super::watch::End;
use crate::census::{Detail, Report, Watch};
use crate::command::Command;
use crate::sampler::{Sampler, Samples};
use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::time::Duration;

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

impl<T> Watched<T> {
    pub(super) fn map<U>(self, into: impl FnOnce(T) -> U) -> Watched<U> {
        let Self { seen, end, not_started } = self;
        Watched { seen: seen.map(into), end, not_started }
    }
}

/// Runs the command while the census watches it; where nothing may be watched, it is not run. With a file, what is seen is what it
/// does while the file is there.
pub(super) fn watch(program: &Path, command: &Command, during: Option<&Path>) -> io::Result<Watched<Report>> {
    let window = RefCell::new(Window::default());
    // What a service does before and after has no place on the path.
    let detail = if during.is_some() { Detail::Times } else { Detail::Path };
    run(
        program,
        command,
        |pid| Watch::start(pid, detail).map_err(|refused| refused.to_string()),
        |watch, main| match during {
            None => end_of(main),
            Some(file) => end_beside(main, || window.borrow_mut().look(file.exists(), watch)),
        },
        |watch| window.take().seen(watch),
    )
}

/// The same by the sampler, of all that the command does.
pub(super) fn sample(program: &Path, command: &Command, period_ns: u64) -> io::Result<Watched<Samples>> {
    run(program, command, |pid| Sampler::start(pid, period_ns), |_, main| end_of(main), Sampler::finish)
}

fn run<W, T>(
    program: &Path,
    command: &Command,
    start: impl FnOnce(u32) -> Result<W, String>,
    end_of: impl FnOnce(&W, Pid) -> io::Result<End>,
    finish: impl FnOnce(W) -> io::Result<T>,
) -> io::Result<Watched<T>> {
    let waiting = start::prepare(program, command, false)?;
    let watch = match start(waiting.pid.unsigned_abs()) {
        Ok(watch) => watch,
        Err(refused) => {
            sys::kill(waiting.pid);
            return Ok(Watched { seen: Err(refused), end: End::Exited(sys::NOTHING), not_started: None });
        }
    };
    let begun = waiting.go()?;
    let end = end_of(&watch, begun.pid)?;
    let seen = finish(watch).map_err(|error| format!("cannot read what was recorded: {error}"));
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
