//! Questions, where somebody can answer them: standard input is a terminal. Each has an option that answers it beforehand;
//! elsewhere the first answer is assumed, and printed. What is asked is known to the callers.

use bakeoff_command::screen;
use std::io::{self, BufRead as _, IsTerminal as _};

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
    pub(crate) fn choose(self, question: &str, answers: &[String], option: &str) -> usize {
        match (self, answers) {
            (_, [] | [_]) => 0,
            (Self::Nobody, [first, ..]) => {
                screen::out(&format!("assumed: {first} ({option} chooses another)\n"));
                0
            }
            (Self::User, _) => {
                let listed = (1..).zip(answers).map(|(number, answer)| format!("  {number}  {answer}\n"));
                screen::err(&format!("{question}\n{}", listed.collect::<String>()));
                asked("number [1]: ", |line| number(line, answers.len()))
            }
        }
    }

    /// A text, or none where nobody answers or the answer is empty.
    pub(crate) fn text(self, question: &str) -> Option<String> {
        (self == Self::User).then(|| asked(question, |line| Some(line.to_owned()))).filter(|text| !text.is_empty())
    }
}

/// Asks until the answer can be read. At the end of the input it is empty.
fn asked<T>(prompt: &str, read: impl Fn(&str) -> Option<T>) -> T {
    loop {
        screen::err(prompt);
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line).unwrap_or(0) == 0 {
            line.clear();
        }
        if let Some(answer) = read(line.trim()) {
            return answer;
        }
    }
}

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
