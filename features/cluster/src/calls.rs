//! Calls of other programs: without a terminal, out of reach of its interrupts, with a time limit.

use bakeoff_command::CommandError;
use bakeoff_host::interrupt;
use bakeoff_model::plain::clean;
use rustix::process::{Pid, Signal};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often is looked whether a call has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    /// None if it was ended here.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) out: Vec<u8>,
    /// Its lines in one, for people.
    pub(crate) err: String,
}

impl Said {
    /// Whether the program ended by itself, and well.
    pub(crate) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// What it printed, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// How long a call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    /// Whether an interrupt of this command ends it.
    pub(crate) heeds_interrupts: bool,
}

/// Runs a program to its end, or ends it with all that it has started.
pub(crate) fn call(command: &mut Command, limit: Limit) -> io::Result<Said> {
    // Files, because what a program leaves running keeps its pipes open.
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    // An interrupt is for us: half a submission would be a job that nobody has noted.
    command.process_group(0).stdout(out.try_clone()?).stderr(err.try_clone()?).env("LC_ALL", "C");
    let mut child = command.spawn()?;
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if began.elapsed() > limit.time || (limit.heeds_interrupts && interrupt::count() > 0) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            break None;
        }
        std::thread::sleep(LOOK);
    };
    let text = String::from_utf8_lossy(&content(&mut err)?).into_owned();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(clean);
    Ok(Said { status, out: content(&mut out)?, err: lines.collect::<Vec<_>>().join("; ") })
}

/// Packs or unpacks a folder.
pub(crate) fn tar(folder: &Path, words: &[&OsStr]) -> Result<(), CommandError> {
    let mut command = Command::new("tar");
    command.arg("-C").arg(folder).args(words).stdin(Stdio::null());
    let said = call(&mut command, Limit { time: Duration::from_secs(3600), heeds_interrupts: false });
    let why = match said {
        Ok(said) if said.is_success() => return Ok(()),
        Ok(said) => said.err,
        Err(error) => error.to_string(),
    };
    Err(CommandError::usage(format!("`tar` failed: {why}")).hint("it is needed to copy the study"))
}

fn content(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
