//! The two ways in which building can go wrong. An [`Error`] ends the command: the cache or the study's folder cannot
//! be used. A [`Failure`] is a value: one layer or source could not be had, and the study goes on without it. Neither
//! is a problem of the study file, which `model` reports before anything here is called.
#![allow(missing_docs, reason = "the messages and the names of fields say what they are; where not, a comment does")]

use crate::journal::BuildOutcome;
use bakeoff_command::{Code, CommandError};
use std::io;
use std::path::{Path, PathBuf};

/// Why no build at all can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no place for the cache: BAKEOFF_CACHE, XDG_CACHE_HOME and HOME are all unset; set BAKEOFF_CACHE to an \
         absolute path"
    )]
    NoCacheRoot,
    #[error(
        "cannot use `{}` as the cache folder: {why}; set BAKEOFF_CACHE to the absolute path of another folder",
        path.display()
    )]
    CacheRoot { path: PathBuf, why: String },
    /// The system refused to do something with a file or folder.
    #[error("cannot {doing} `{}`", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "cannot {doing} `{}`: the disk is full ({free_bytes} bytes free); BAKEOFF_CACHE can name a folder on another \
         disk", path.display()
    )]
    DiskFull { doing: &'static str, path: PathBuf, free_bytes: u64 },
    /// A layer needs a file that the study's folder does not have; `why` has the remedy.
    #[error("layer `{layer}` needs the file `{file}`, which {why}")]
    StudyFile { layer: String, file: String, why: String },
    #[error("layer `{layer}` needs the source `{name}`, but the study does not define it")]
    UnknownSource { layer: String, name: String },
    /// A source is not there, or is not what the study says; `why` has the remedy.
    #[error("source `{name}`: {why}")]
    Source { name: String, why: String },
    #[error("source `{name}` has no `sha256` in study.toml or study.lock; run `bakeoff lock STUDY` to add it")]
    Unpinned { name: String },
    /// Another process removed what a layer was to be built upon.
    #[error("the layer below `{layer}` was removed during the run; run the same command again to rebuild it")]
    Removed { layer: String },
    /// Layouts would all be the same.
    #[error(
        "cannot vary the link order of `{variant}`: layer `{layer}` was relinked, but no compiler, linker or archiver \
         received two or more object files. Make the layer link several object files or an archive, add a `relink` \
         script to the layer that does, or remove `link-order` from `vary`"
    )]
    NothingPermuted { layer: String, variant: String },
    /// A link that could be repeated when it was recorded makes other bytes now.
    #[error(
        "the link of `{file}` makes other bytes here than where it was built, so its layouts would be other programs. Build on \
         a machine of this kind, with the same linker, or use --layouts one"
    )]
    OtherLink { file: String },
    /// Something is to be built on demand for a variant that has no build.
    #[error("`{variant}` has no build to start from")]
    NotBuilt { variant: String },
    /// The user asked to stop. Nothing has to be cleaned up.
    #[error("interrupted")]
    Interrupted,
    #[error("cannot install the compiler wrapper in `{}`", path.display())]
    Wrapper { path: PathBuf, source: io::Error },
    /// No process can be launched.
    #[error(transparent)]
    Host(#[from] bakeoff_host::Error),
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Self::new(Code::Interrupted, error)
                .hint("finished builds are kept; run the same command again to resume"),
            Error::Host(_) | Error::Wrapper { .. } => Self::new(Code::Internal, error),
            Error::DiskFull { .. } => Self::usage(error).of_full_disk(),
            _ => Self::usage(error),
        }
    }
}

/// Says what was being done, and where, when the system refused.
pub(crate) trait At<T> {
    /// Turns a refusal into an [`Error::File`].
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                // The path itself may not be there yet.
                let free = path.ancestors().find_map(|folder| bakeoff_host::disk::free_bytes(folder).ok());
                Error::DiskFull { doing, path: path.to_owned(), free_bytes: free.unwrap_or(0) }
            }
            _ => Error::File { doing, path: path.to_owned(), source },
        })
    }
}

/// Why one layer could not be built, or one source not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// In one line.
    pub why: String,
    /// The last lines of the log.
    pub tail: Vec<String>,
    /// The whole log, if anything was started at all.
    pub log: Option<PathBuf>,
}

impl Failure {
    /// A failure that was seen before anything was started, so that there is no log.
    pub(crate) fn without_log(why: String) -> Self {
        Self { why, tail: vec![], log: None }
    }

    /// The journal's form of it.
    pub(crate) fn outcome(self, layer: &str) -> BuildOutcome {
        let log = self.log.map(|path| path.display().to_string());
        BuildOutcome::Failed { layer: layer.to_owned(), why: self.why, tail: self.tail, log }
    }
}

/// Why there is nothing to go on with.
#[derive(Debug)]
pub enum Stop<F = Failure> {
    /// This layer or source cannot be had.
    Failure(F),
    /// Nothing can.
    Error(Error),
}

impl<F> Stop<F> {
    /// The failure in another form; an error stays one.
    pub fn with<E: From<Error>>(self, form: impl FnOnce(F) -> E) -> E {
        match self {
            Self::Failure(failure) => form(failure),
            Self::Error(error) => error.into(),
        }
    }

    /// What was had, if it was.
    pub(crate) fn or_none<T>(result: Result<T, Self>) -> Result<Option<T>, Error> {
        match result {
            Ok(had) => Ok(Some(had)),
            Err(Self::Failure(_)) => Ok(None),
            Err(Self::Error(error)) => Err(error),
        }
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl<F> From<Error> for Stop<F> {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
