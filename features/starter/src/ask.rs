//! Sentences, and questions where somebody can answer them: standard input is a terminal. Each has an option that answers it beforehand;
//! elsewhere the first answer is assumed, and printed. What is asked is known to the callers.

use bakeoff_command::{CommandError, screen};
use bakeoff_report::draw::text::wrap;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Prints a sentence: on a terminal broken between words, elsewhere in a line.
pub(crate) fn say(sentence: &str) {
    let columns = if io::stdout().is_terminal() { screen::style().width } else { usize::MAX };
    wrap(sentence, columns, 2).iter().for_each(|line| screen::out(&format!("{line}\n")));
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// A user at a terminal.
    User,
    /// Nobody: the first answer counts.
    Nobody,
}

impl Answers {
    /// A user if there is a terminal and nothing was agreed to beforehand.
    pub(crate) fn here(agreed: bool) -> Self {
        if !agreed && io::stdin().is_terminal() { Self::User } else { Self::Nobody }
    }

    /// Which of the answers, by its place. `option` answers the question beforehand.
    ///
    /// # Errors
    /// That it was interrupted.
    pub(crate) fn choose(self, question: &str, answers: &[String], option: &str) -> Result<usize, CommandError> {
        match (self, answers) {
            (_, [] | [_]) => Ok(0),
            (Self::Nobody, [first, ..]) => {
                say(&format!("assumed: {first}; choose another with {option}"));
                Ok(0)
            }
            (Self::User, _) => {
                let listed = (1..).zip(answers).map(|(number, answer)| format!("  {number}  {answer}\n"));
                screen::err(&format!("{question}\n{}", listed.collect::<String>()));
                asked("number [1]: ", |line| number(line, answers.len()))
            }
        }
    }

    /// A text, or none where nobody answers or the answer is empty.
    ///
    /// # Errors
    /// That it was interrupted.
    pub(crate) fn text(self, question: &str) -> Result<Option<String>, CommandError> {
        if self == Self::Nobody {
            return Ok(None);
        }
        Ok(Some(asked(question, |line| Some(line.to_owned()))?).filter(|text| !text.is_empty()))
    }
}

/// Asks until the answer can be read. At the end of the input it is empty.
///
/// # Errors
/// That it was interrupted.
fn asked<T>(prompt: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, CommandError> {
    loop {
        screen::err(prompt);
        let line = typed()?;
        if let Some(answer) = read(line.trim()) {
            return Ok(answer);
        }
    }
}

/// A line of the standard input. Interrupts are only counted, so another thread has to wait for what may never come.
fn typed() -> Result<String, CommandError> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        // Nobody listens after an interrupt.
        let _ = sender.send(if read.unwrap_or(0) == 0 { String::new() } else { line });
    });
    loop {
        match receiver.recv_timeout(LOOK_AGAIN) {
            Ok(line) => return Ok(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(String::new()),
            Err(mpsc::RecvTimeoutError::Timeout) if bakeoff_host::interrupt::count() > 0 => {
                return Err(bakeoff_building::Error::Interrupted.into());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// How long an interrupt may go unnoticed.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The place that a number means; the first one without.
fn number(line: &str, of: usize) -> Option<usize> {
    if line.is_empty() {
        return Some(0);
    }
    line.parse::<usize>().ok().filter(|number| (1..=of).contains(number)).map(|number| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_from_one_and_nothing_is_the_first() {
        for (line, expect) in [("", Some(0)), ("1", Some(0)), ("3", Some(2)), ("4", None), ("0", None), ("x", None)] {
            assert_eq!(number(line, 3), expect, "{line}");
        }
    }
}
