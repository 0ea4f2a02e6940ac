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
    #[error("the launcher process ended ({how}); processes of the trial may still be running")]
    LauncherEnded { how: String },
    #[error("cannot communicate with the launcher process")]
    Talk(#[source] io::Error),
    #[error("the launcher process cannot continue: {why}")]
    Launcher { why: String },
    #[error(
        "a trial left process {pid} running, and Bakeoff cannot kill it because it belongs to another user; kill that \
            process, then run the command again"
    )]
    Unkillable { pid: i32 },
    /// A probe could not prepare for a job, or not read what it saw.
    #[error("cannot watch a trial")]
    Probe(#[source] io::Error),
    /// Signal handlers could not be installed.
    #[error("cannot watch for interrupts")]
    Interrupts(#[source] io::Error),
    #[error("`{}` is in use by {}; wait for that process to end, or stop it", path.display(), owner_in_words(*owner))]
    Locked { path: PathBuf, owner: Option<u32> },
    /// The lock file could not be opened, locked or written.
    #[error("cannot lock `{}`", path.display())]
    Lock { path: PathBuf, source: io::Error },
}

fn owner_in_words(owner: Option<u32>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid} or a descendant"))
}
