//! Why an attempt came to nothing: what was tried is of no use, or it could not be tried.

use bakeoff_command::CommandError;

/// Why there is nothing.
pub(crate) enum Fault<W = String> {
    /// It was tried, and is of no use; for the user, in words that follow its name.
    Useless(W),
    /// It could not be tried.
    Error(CommandError),
}

impl<W> Fault<W> {
    /// Why it is of no use.
    ///
    /// # Errors
    /// If it could not be tried.
    pub(crate) fn useless(self) -> Result<W, CommandError> {
        match self {
            Self::Useless(why) => Ok(why),
            Self::Error(error) => Err(error),
        }
    }
}

impl Fault {
    /// The same with words before the reason.
    pub(crate) fn after(self, words: &str) -> Self {
        match self {
            Self::Useless(why) => Self::Useless(format!("{words}{why}")),
            error => error,
        }
    }
}

impl<W> From<CommandError> for Fault<W> {
    fn from(error: CommandError) -> Self {
        Self::Error(error)
    }
}
