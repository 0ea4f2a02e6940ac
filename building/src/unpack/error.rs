//! Why an archive is not unpacked: which archive, which of its entries, and what is wrong with it.
#![allow(missing_docs, reason = "the messages and the names of fields say what they are; where not, a comment does")]

use std::io;
use std::path::PathBuf;

/// What can be unpacked, in words.
const KNOWN: &str = "zip, deb, or tar (plain or compressed with gzip, bzip2, xz or zstd)";

/// How much of an entry's name is shown.
const SHOWN_CHARS: usize = 200;

/// An archive that is not unpacked.
#[derive(Debug, thiserror::Error)]
#[error("cannot unpack `{}`: {}{why}", archive.display(), entry.as_ref().map(|e| format!("entry `{e}` ")).unwrap_or_else(|| "it ".to_owned()))]
pub struct UnpackError {
    pub archive: PathBuf,
    /// Its entry in question, if it is one. Characters that a terminal would obey are escaped.
    pub entry: Option<String>,
    pub why: Refusal,
}

/// What is wrong with an archive, or with one of its entries; in words that follow the name of either.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("is not a supported archive; use {KNOWN}")]
    NoArchive,
    #[error("is damaged: {0}")]
    Damaged(String),
    #[error("was refused: its name {0}")]
    Name(&'static str),
    /// A link that could lead outside, or to nothing.
    #[error("was refused: it links to `{target}`, {why}")]
    Link { target: String, why: &'static str },
    #[error("was refused: it is {0}")]
    Kind(String),
    /// It becomes more than [`super::Limits::bytes`].
    #[error("was refused: the archive unpacks to more than the limit of {limit} bytes")]
    TooManyBytes { limit: u64 },
    /// It has more than [`super::Limits::entries`].
    #[error("was refused: the archive has more entries than the limit of {limit}")]
    TooManyEntries { limit: u64 },
    /// It becomes more than [`super::Limits::ratio`] times its size.
    #[error(
        "was refused: the archive of {packed_bytes} bytes unpacks to more than {limit} times its size, the limit \
         against archive bombs"
    )]
    Bomb { limit: u64, packed_bytes: u64 },
    #[error("must be unpacked into an empty folder")]
    NotEmpty,
    #[error("was interrupted")]
    Interrupted,
    /// The system refused to read the archive or to write what is in it.
    #[error("failed: {0}")]
    System(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        // A reader of ours can only say what is wrong through an error of the library's type.
        match error.downcast::<Self>() {
            Ok(refusal) => refusal,
            Err(error) => match error.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Damaged(error.to_string()),
                io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early".to_owned()),
                // What the operating system says has a number; what a decoder makes up has none.
                _ if error.raw_os_error().is_none() => Self::Damaged(error.to_string()),
                _ => Self::System(error),
            },
        }
    }
}

/// A refusal, and the entry that it is about.
pub(super) struct Fault {
    pub(super) entry: Option<String>,
    pub(super) why: Refusal,
}

impl<T: Into<Refusal>> From<T> for Fault {
    fn from(why: T) -> Self {
        Self { entry: None, why: why.into() }
    }
}

impl Fault {
    /// The same about that entry, unless it names one already.
    pub(super) fn of(self, name: &[u8]) -> Self {
        Self { entry: self.entry.or_else(|| Some(shown(name))), why: self.why }
    }
}

/// A name for people: short, and without anything that a terminal would obey.
pub(super) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() { format!("{shown}…") } else { shown }
}
