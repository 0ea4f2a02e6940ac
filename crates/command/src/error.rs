//! How a command ends when it cannot go on: an exit code, the error with its causes, and a hint. Errors are printed
//! once, here. Failures of builds and trials are not errors; they are in the report.

use std::error::Error;
use std::fmt::Write as _;
use std::process::{ExitCode, ExitStatus};

/// The exit codes, as the manual has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Done.
    Done = 0,
    /// What was asked to hold did not; or, in place of ministat, a file cannot be opened.
    GateFailed = 1,
    /// The command line or the study file is wrong.
    Usage = 2,
    /// Undecided, where a decision was demanded.
    Undecided = 3,
    /// A variant could not be built, or a trial failed.
    VariantFailed = 4,
    /// Something that is not the user's doing.
    Internal = 5,
    /// For `git bisect run`: the commit cannot be tested.
    Untestable = 125,
    /// For `git bisect run`: stop.
    Abort = 128,
    /// Stopped by an interrupt; the same command resumes.
    Interrupted = 130,
}

impl Code {
    /// That of a command of this program that has ended.
    pub fn of(status: ExitStatus) -> Self {
        let known = [Self::Done, Self::GateFailed, Self::Usage, Self::Undecided, Self::VariantFailed, Self::Internal];
        let number = status.code().unwrap_or(Self::Interrupted as i32);
        known.into_iter().find(|code| *code as i32 == number).unwrap_or(Self::Interrupted)
    }

    /// The one that wins where both are deserved.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        use Code::{Abort, Done, GateFailed, Internal, Interrupted, Undecided, Untestable, Usage, VariantFailed};
        let order = [Done, Undecided, GateFailed, Untestable, VariantFailed, Usage, Internal, Abort, Interrupted];
        std::cmp::max_by_key(self, other, |code| order.iter().position(|known| known == code))
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Why a command cannot go on.
#[derive(Debug)]
pub struct CommandError {
    /// The exit code.
    pub code: Code,
    message: Message,
    hint: Option<String>,
}

type Cause = Box<dyn Error + Send + Sync>;

#[derive(Debug)]
enum Message {
    /// An error with its chain of causes.
    Chain(Cause),
    /// A text that explains itself, such as the problems of a study file.
    Text(String),
}

impl CommandError {
    /// An error, printed with its causes.
    pub fn new(code: Code, error: impl Into<Cause>) -> Self {
        Self { code, message: Message::Chain(error.into()), hint: None }
    }

    /// The user asked for something that is not possible.
    pub fn usage(error: impl Into<Cause>) -> Self {
        Self::new(Code::Usage, error)
    }

    /// A file cannot be written. The kind of the cause stays, which tells a full disk from a name that is wrong.
    pub fn unwritten(what: &str, cause: &std::io::Error) -> Self {
        Self::usage(std::io::Error::new(cause.kind(), format!("{what}: {cause}")))
    }

    /// A text that explains itself.
    pub fn text(code: Code, text: String) -> Self {
        Self { code, message: Message::Text(text), hint: None }
    }

    /// The same, with what can be done about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, if it is that there is no space: wherever that is found, it is one thing, with one exit code and one
    /// hint.
    pub fn of_full_disk(self) -> Self {
        Self { code: Code::Internal, ..self }
            .hint("the disk is full; free some space and run the same command again (nothing is lost)")
    }

    /// The same, but for a full disk.
    pub fn settled(self) -> Self {
        let is_full = matches!(&self.message, Message::Chain(error) if is_full(error.as_ref()));
        if is_full { self.of_full_disk() } else { self }
    }

    /// `error:`, then one `caused by:` for each cause, then `hint:`.
    pub fn render(&self) -> String {
        let mut out = match &self.message {
            Message::Text(text) => text.clone(),
            Message::Chain(error) => {
                let mut out = format!("error: {error}\n");
                let mut cause = error.source();
                while let Some(error) = cause {
                    let _ = writeln!(out, "caused by: {error}");
                    cause = error.source();
                }
                out
            }
        };
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "hint: {hint}");
        }
        out
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render())
    }
}

impl Error for CommandError {}

/// Whether an error, or what caused it, is that there is no space.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let is_of_system = matches!(kind, Some(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded));
    is_of_system || error.source().is_some_and(is_full)
}

/// Errors of the crates below, with the exit code that they amount to.
macro_rules! internal {
    ($($error:ty),*) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::new(Code::Internal, error)
            }
        })*
    };
}
internal!(bakeoff_host::Error, serde_json::Error);

impl From<bakeoff_journal::Error> for CommandError {
    fn from(error: bakeoff_journal::Error) -> Self {
        match error {
            bakeoff_journal::Error::Write { .. } => Self::new(Code::Internal, error),
            _ => Self::usage(error),
        }
    }
}

impl From<bakeoff_model::plan::Error> for CommandError {
    fn from(error: bakeoff_model::plan::Error) -> Self {
        Self::usage(error)
    }
}

impl From<bakeoff_lab::Error> for CommandError {
    fn from(error: bakeoff_lab::Error) -> Self {
        match error {
            // Those who gave the lab its calls know best how the command ends.
            bakeoff_lab::Error::Building(cause) => match cause.downcast::<Self>() {
                Ok(error) => *error,
                Err(cause) => Self::new(Code::Internal, bakeoff_lab::Error::Building(cause)),
            },
            error => Self::new(Code::Internal, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_wins_in_either_order() {
        let worst = |one: Code, other: Code| {
            assert_eq!(one.worst(other), other.worst(one));
            one.worst(other)
        };
        assert_eq!(worst(Code::Done, Code::Undecided), Code::Undecided);
        assert_eq!(worst(Code::Undecided, Code::GateFailed), Code::GateFailed);
        assert_eq!(worst(Code::GateFailed, Code::VariantFailed), Code::VariantFailed);
        assert_eq!(worst(Code::VariantFailed, Code::Usage), Code::Usage);
    }

    #[test]
    fn causes_and_hint_stand_on_lines_of_their_own() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::io::Error);
        let error = CommandError::usage(Outer(std::io::Error::other("inner"))).hint("fix it");
        assert_eq!(error.render(), "error: outer\ncaused by: inner\nhint: fix it\n");
    }
}
