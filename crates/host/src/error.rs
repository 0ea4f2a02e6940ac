//! Errors of this crate: what keeps Bakeoff from going on. A command that cannot be started or that fails is none of
//! them; it is an [`crate::End`].

use std::io;
use std::path::PathBuf;

/// Why the host could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the names of fields say what they are")]
pub enum Error {
    #[error("cannot start the launcher process")]
    Start(#[source] io::Error),
    #[error("the launcher process ended ({how}); processes of the trial that it executed may still be alive")]
    LauncherEnded { how: String },
    #[error("cannot talk to the launcher process")]
    Talk(#[source] io::Error),
    #[error("the launcher process cannot go on: {why}")]
    Launcher { why: String },
    #[error("process {pid}, left by a trial, may not be killed by this user; end it yourself, then continue")]
    Unkillable { pid: i32 },
    /// A probe could not prepare for a job, or not read what it saw.
    #[error("cannot watch a trial")]
    Probe(#[source] io::Error),
    /// Signal handlers could not be installed.
    #[error("cannot watch for interrupts")]
    Interrupts(#[source] io::Error),
    #[error("{} is in use by {}; wait for it to end, or end it", path.display(), owner_in_words(*owner))]
    Locked { path: PathBuf, owner: Option<u32> },
    /// The lock file could not be opened, locked or written.
    #[error("cannot lock {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
}

fn owner_in_words(owner: Option<u32>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}, or by what is left of it"))
}
