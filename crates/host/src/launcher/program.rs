//! Finds the program of a command as the shell would, and says why one could not be started. It starts nothing.

use super::wire;
use crate::command::Command;
use crate::search_path;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// The path to run, to be used in the command's folder.
pub(super) fn find(command: &Command) -> Result<PathBuf, NotStarted> {
    ProgramCache::default().find(command, &command.dir).map(|program| program.path.clone())
}

/// What a process runs, and where.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) dir: PathBuf,
    /// The name and the `PATH` by which it was found, if it was looked for.
    sought: Option<(String, String)>,
}

/// Programs that were found in a `PATH`: each is looked for once, and not before each trial.
#[derive(Debug, Default)]
pub(super) struct ProgramCache(Vec<Arc<Program>>);

impl ProgramCache {
    /// The most that are kept.
    const MOST: usize = 64;

    /// The program of a command that starts in this folder.
    pub(super) fn find(&mut self, command: &Command, dir: &Path) -> Result<Arc<Program>, NotStarted> {
        let name = match command.argv.first() {
            Some(name) if !name.is_empty() => name,
            _ => return Err(NotStarted::new("", "the command is empty")),
        };
        if name.contains('/') {
            return Ok(Program { path: PathBuf::from(name), dir: dir.to_owned(), sought: None }.into());
        }
        let Some(path) = command.env.get("PATH") else {
            return Err(NotStarted::new(name, "program not found: the environment has no PATH"));
        };
        let is_it = |known: &&Arc<Program>| {
            let sought = known.sought.as_ref().is_some_and(|(of, among)| of == name && among == path);
            sought && known.dir == dir
        };
        if let Some(known) = self.0.iter().find(is_it) {
            return Ok(known.clone());
        }
        let sought = Some((name.clone(), path.clone()));
        let found = Arc::new(Program { path: search(name, path, dir)?, dir: dir.to_owned(), sought });
        if self.0.len() == Self::MOST {
            self.0.clear();
        }
        self.0.push(found.clone());
        Ok(found)
    }
}

fn search(name: &str, path: &str, dir: &Path) -> Result<PathBuf, NotStarted> {
    search_path::find(name, path, dir)
        .ok_or_else(|| NotStarted::new(name, format!("program not found in PATH ({path})")))
}

impl Program {
    /// Why the system would not start it: the step of the launcher's that failed, and its errno.
    pub(super) fn explain(&self, step: u32, errno: u32) -> NotStarted {
        // It may be gone since it was found.
        let lost = self.sought.as_ref().filter(|_| step == wire::EXEC);
        if let Some(Err(lost)) = lost.map(|(name, path)| search(name, path, &self.dir)) {
            return lost;
        }
        let (program, dir) = (&self.path, &self.dir);
        let error = io::Error::from_raw_os_error(errno.cast_signed());
        let what = program.display().to_string();
        match (step, errno.cast_signed()) {
            (wire::FOLDER, libc::ENOENT) => NotStarted::path(dir, "the working folder does not exist"),
            (wire::FOLDER, _) => NotStarted::path(dir, error),
            (wire::JOIN, _) => NotStarted::new(what, format!("cannot put its process into the cgroup: {error}")),
            (wire::CLONE, _) => NotStarted::new(what, format!("cannot create its process: {error}")),
            (wire::EXEC, libc::ENOENT) if dir.join(program).exists() => {
                NotStarted::new(what, "its interpreter (#! line or dynamic loader) does not exist")
            }
            (wire::EXEC, libc::E2BIG) => {
                NotStarted::new(what, "its arguments and environment are too long for this system")
            }
            _ => NotStarted::new(what, error),
        }
    }
}
