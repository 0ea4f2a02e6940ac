//! What a check of `doctor` says: how good something is, what was found, what that means, and how to fix it.

use bakeoff_host::disk::free_bytes;
use std::path::Path;

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How good that is.
    pub state: State,
    /// What was found, with figures and units.
    pub found: String,
    /// What that means for measurements.
    pub means: String,
    /// A command that fixes it, if there is one.
    pub remedy: Option<String>,
}

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As good as it gets.
    Good,
    /// It adds noise, or a bias to beware of.
    Noisy,
    /// It is not here: something cannot be measured or controlled, or is unknown.
    Missing,
}

impl Check {
    /// One that found nothing wrong.
    pub fn good(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { name, state: State::Good, found: found.into(), means: means.to_owned(), remedy: None }
    }

    /// One of which measurements suffer.
    pub fn noisy(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { state: State::Noisy, ..Self::good(name, found, means) }
    }

    /// One of something that is not to be had.
    pub fn missing(name: &'static str, found: impl Into<String>, means: &str) -> Self {
        Self { state: State::Missing, ..Self::good(name, found, means) }
    }

    /// The same, with what to do about it.
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Free space of the file system that holds `path`.
pub fn disk(path: &Path) -> Check {
    let name = "disk space";
    match free_bytes(path) {
        Ok(bytes) => {
            let found = format!("{} MiB free at {}", bytes / (1 << 20), path.display());
            Check::good(name, found, "space for builds, outputs and the journal")
        }
        Err(error) => {
            let found = format!("{}: {error}", path.display());
            Check::missing(name, found, "the space for builds, outputs and the journal is unknown")
        }
    }
}
