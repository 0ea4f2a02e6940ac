//! Why a parcel cannot be made or opened.

use std::io;
use std::path::{Path, PathBuf};

/// Why a parcel cannot be made or opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused to do something with a file or folder.
    #[error("cannot {doing} `{}`", path.display())]
    File {
        /// What was being done, as a verb.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's word for it.
        source: io::Error,
    },
    /// Something is in the way that nobody said may be replaced.
    #[error("`{}` already exists", path.display())]
    Exists {
        /// What is in the way.
        path: PathBuf,
    },
    /// Something of the study's folder cannot be packed.
    #[error("`{}` {why}", path.display())]
    Strange {
        /// What.
        path: PathBuf,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// A file is no longer what it was a moment ago.
    #[error("`{}` changed during the export; try again when nothing is writing to it", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It is no parcel, or a damaged one, or one that lies.
    #[error("cannot import `{}`: {why}", path.display())]
    Refused {
        /// The parcel.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Says what was being done, and where, when the system refused.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::File { doing, path: path.to_owned(), source })
    }
}
