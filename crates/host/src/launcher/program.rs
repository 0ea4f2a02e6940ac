//! Finds the program of a command as the shell would, and says why one could not be started. It starts nothing.

use super::wire;
use crate::command::Command;
use crate::search_path;
use std::io;
use std::path::{Path, PathBuf};

/// What is at fault, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotStarted {
    pub(super) what: String,
    pub(super) why: String,
}

impl NotStarted {
    pub(super) fn new(what: impl Into<String>, why: impl ToString) -> Self {
        Self { what: what.into(), why: why.to_string() }
    }

    pub(super) fn path(what: &Path, why: impl ToString) -> Self {
        Self::new(what.display().to_string(), why)
    }
}

/// The path to execute, to be used in the command's folder.
pub(super) fn find(command: &Command) -> Result<PathBuf, NotStarted> {
    let name = match command.argv.first() {
        Some(name) if !name.is_empty() => name,
        _ => return Err(NotStarted::new("", "the command is empty")),
    };
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let Some(path) = command.env.get("PATH") else {
        return Err(NotStarted::new(name, "program not found: its environment has no PATH"));
    };
    search_path::find(name, path, &command.dir)
        .ok_or_else(|| NotStarted::new(name, format!("program not found in PATH ({path})")))
}

/// Why the system would not start it: the step of the launcher's that failed, and its errno.
pub(super) fn explain(step: u32, errno: u32, program: &Path, dir: &Path) -> NotStarted {
    let error = io::Error::from_raw_os_error(errno.cast_signed());
    let what = program.display().to_string();
    match (step, errno.cast_signed()) {
        (wire::FOLDER, libc::ENOENT) => NotStarted::path(dir, "no such folder to start in"),
        (wire::FOLDER, _) => NotStarted::path(dir, error),
        (wire::JOIN, _) => NotStarted::new(what, format!("its process could not join its cgroup: {error}")),
        (wire::CLONE, _) => NotStarted::new(what, format!("no process could be made for it: {error}")),
        (wire::EXEC, libc::ENOENT) if dir.join(program).exists() => {
            NotStarted::new(what, "the interpreter that it asks for (#! line or dynamic loader) does not exist")
        }
        (wire::EXEC, libc::E2BIG) => NotStarted::new(what, "its arguments and environment are too long for the system"),
        _ => NotStarted::new(what, error),
    }
}
