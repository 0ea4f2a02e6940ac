//! Why the facts of a file could not be had. One file that is broken stops no other.

use std::io;
use std::path::PathBuf;

/// Why the facts of a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused to hand it over.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's word for it.
        source: io::Error,
    },
    /// It is something else.
    #[error("`{}` is neither an ELF file nor a static archive", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
    },
    /// It begins like one, and cannot be one.
    #[error("`{}` is broken: {what}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Which part of it is wrong, and how.
        what: String,
    },
}

/// The defect of a file whose name is not known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken(pub(super) String);

/// Says which part of a file is wrong.
pub(super) trait In<T> {
    fn within(self, part: &str) -> Result<T, Broken>;
}

impl<T, E: std::fmt::Display> In<T> for Result<T, E> {
    fn within(self, part: &str) -> Result<T, Broken> {
        self.map_err(|error| Broken(format!("{part}: {error}")))
    }
}

impl<T> In<T> for Option<T> {
    fn within(self, part: &str) -> Result<T, Broken> {
        self.ok_or_else(|| Broken(format!("{part}: outside the file or its table")))
    }
}

/// An error with its cause in one line.
pub fn in_one_line(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
