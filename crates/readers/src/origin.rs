//! Where numbers come from, and why they cannot be read: the file, the place in it, and what to do. It reads nothing.

use super::lines;
use std::io;

/// A longer line is no line.
pub(super) const LINE_MAX: usize = 1 << 20;

/// Why a file cannot be read: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Error {
    /// `file:line`, or the file.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub remedy: String,
}

/// A file: its name for errors, and its label in tables.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// As the user gave it.
    pub name: &'a str,
    /// As it is called in reports.
    pub label: &'a str,
}

impl Origin<'_> {
    /// An error in a line.
    pub fn error(&self, line: u64, message: &str, remedy: &str) -> Error {
        Error { place: format!("{}:{line}", self.name), message: message.to_owned(), remedy: remedy.to_owned() }
    }

    /// An error of the whole file.
    pub fn whole(&self, message: &str, remedy: &str) -> Error {
        Error { place: self.name.to_owned(), message: message.to_owned(), remedy: remedy.to_owned() }
    }

    pub(super) fn cannot_read(&self, error: &io::Error) -> Error {
        self.whole(&format!("cannot be read: {error}"), "")
    }

    pub(super) fn outcome(&self, read: Result<(), lines::Stop<Error>>) -> Result<(), Error> {
        read.map_err(|stop| match stop {
            lines::Stop::Read(error) => self.cannot_read(&error),
            lines::Stop::Taker(error) => error,
        })
    }
}
