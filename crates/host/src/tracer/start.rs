//! How the command begins: it waits until it is traced or watched, so that its exec is the first thing that is seen of
//! it. What is seen then is not known here.

use super::sys::{self, Image, Pid};
use crate::command::Command;
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A command that has begun.
pub(super) struct Begun {
    pub(super) pid: Pid,
    /// Its word, if it could not become the program.
    word: File,
}

impl Begun {
    /// Why the program could not be run; to be asked when it has ended.
    pub(super) fn refused_by_exec(mut self) -> Option<io::Error> {
        let mut errno = [0; size_of::<i32>()];
        self.word.read_exact(&mut errno).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(errno)))
    }
}

/// What became of a start.
pub(super) enum Start {
    Begun(Begun),
    /// The system lets nobody trace here.
    Refused(io::Error),
}

/// A command that waits to become the program.
pub(super) struct Waiting {
    pub(super) pid: Pid,
    word: File,
    /// It goes when it gets a byte here, and gives up if this is closed.
    open: File,
}

impl Waiting {
    /// Lets it go. From now on, signals by which we are asked to end are handed on to it.
    pub(super) fn go(mut self) -> io::Result<Begun> {
        sys::hand_on_signals_to(self.pid);
        self.open.write_all(&[1])?;
        Ok(Begun { pid: self.pid, word: self.word })
    }
}

/// Makes the process of a command, with a filter that stops at calls that name files, or without.
pub(super) fn prepare(program: &Path, command: &Command, only_files: bool) -> io::Result<Waiting> {
    let string = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let strings = |list: &mut dyn Iterator<Item = String>| -> io::Result<Vec<CString>> {
        list.map(|text| string(text.as_bytes())).collect()
    };
    let argv = strings(&mut command.argv.iter().cloned())?;
    let env = strings(&mut command.env.iter().map(|(name, value)| format!("{name}={value}")))?;
    let program = string(program.as_os_str().as_bytes())?;
    let (barrier, open) = pipe_with(PipeFlags::CLOEXEC)?;
    let (word, words) = pipe_with(PipeFlags::CLOEXEC)?;
    let filter = sys::filter_of(super::calls::own_machine(), &super::calls::own_naming_files());
    let pid = sys::fork(&Image {
        program: &program,
        argv: &argv,
        env: &env,
        barrier: barrier.as_raw_fd(),
        barrier_other: open.as_raw_fd(),
        word: words.as_raw_fd(),
        filter: if only_files { &filter } else { &[] },
    })?;
    Ok(Waiting { pid, word: word.into(), open: open.into() })
}

/// Starts the command, stopped at calls that name files or at all of them.
pub(super) fn start(program: &Path, command: &Command, only_files: bool) -> io::Result<Start> {
    let waiting = prepare(program, command, only_files)?;
    if let Err(refused) = sys::seize(waiting.pid) {
        sys::kill(waiting.pid);
        return Ok(Start::Refused(refused));
    }
    Ok(Start::Begun(waiting.go()?))
}
