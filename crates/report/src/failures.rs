//! Trials that failed or are void: how many of which, and the first failure of each as an example.

use crate::draw::paint::{Ink, Page, Piece};
use crate::draw::text::{broken, clean};
use crate::format::{bytes, duration};
use crate::words::{counted, listed};
use bakeoff_judge::findings::{FailedTrials, Findings, VoidBy};
use bakeoff_model::record::Failure;

/// Numbers and names of signals that end programs on Linux, on all of its common architectures (signal(7)).
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

/// Where there is room for a sentence only, it has this many of the last lines that a failed trial printed.
const LINES_IN_FULL: usize = 3;

pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    if findings.failures.is_empty() {
        return;
    }
    page.gap();
    page.line(vec![Piece::new("failed or void trials", Ink::Heading)]);
    for trials in &findings.failures {
        page.paragraph(summary(trials), columns, 2, Ink::Worse);
        for void_by in &trials.void_by {
            page.paragraph(rule(void_by), columns, 4, Ink::Plain);
        }
        let Some(example) = &trials.example else { continue };
        let (what, lines) = described(example);
        page.paragraph(format!("  first failed trial: {}", clean(&what)), columns, 4, Ink::Plain);
        lines.iter().for_each(|line| quote(page, line, columns));
    }
}

/// A line of what something printed before it failed: whole, however long it is.
pub fn quote(page: &mut Page, line: &str, columns: usize) {
    for part in broken(line, columns.saturating_sub(4)) {
        page.quote(part);
    }
}

fn summary(trials: &FailedTrials) -> String {
    let FailedTrials { variant, workload, condition, failed, void, repeated, of, .. } = trials;
    let kinds = [(failed, "failed"), (void, if *void == 1 { "was void" } else { "were void" })];
    let kinds: Vec<String> = kinds.iter().filter(|(n, _)| **n > 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    let place = format!("{} on {} ({})", clean(variant), clean(workload), clean(condition));
    let repeated = match (*repeated, *void) {
        (0, _) => String::new(),
        (1, 1) => "; the void trial was repeated".to_owned(),
        (n, void) if n == void => "; the void trials were repeated".to_owned(),
        (1, _) => "; 1 of the void trials was repeated".to_owned(),
        (n, _) => format!("; {n} of the void trials were repeated"),
    };
    format!("{place}: {}{repeated}", listed(&kinds).replacen(' ', &format!(" of {} ", counted(*of, "trial")), 1))
}

/// By which rule how many are void, with the numbers of the first.
fn rule(void_by: &VoidBy) -> String {
    let VoidBy { metric, trials, example } = void_by;
    let metric = metric.as_ref().map_or(String::new(), |metric| format!(" because of {}", clean(metric)));
    let (were, first) = if *trials == 1 { ("trial was", "") } else { ("trials were", "the first: ") };
    format!("  {trials} {were} void{metric} ({first}{})", clean(example))
}

/// A failure in one sentence, without an end to it: `exited with code 2`.
pub fn failure(failure: &Failure) -> String {
    match failure {
        Failure::Exit { code, .. } => format!("exited with code {code}"),
        Failure::Signal { signal, .. } => {
            let name = SIGNALS.iter().find(|(number, _)| number == signal);
            let name = name.map_or(String::new(), |(_, name)| format!(" ({name})"));
            format!("killed by signal {signal}{name}")
        }
        Failure::WrongOutput { line, .. } => format!("the output was wrong from line {line} on"),
        Failure::TimedOut { after_s, .. } => format!("killed because it took more than {}", duration(*after_s)),
        Failure::OutOfMemory { limit_bytes, .. } => {
            format!("killed because it exceeded its memory limit of {}", bytes(*limit_bytes as f64))
        }
        Failure::Surroundings { part, why, .. } => format!("{part}: {why}"),
        Failure::BadMarks { why } => format!("the marks do not match the study: {why}"),
        Failure::NoBenchmark { why } => why.clone(),
        Failure::NotStarted { command, why } => format!("could not start {command}: {why}"),
    }
}

/// A failure with the last of what it printed, in one line: `exited with code 2: no such table`.
pub fn failure_in_full(failed: &Failure) -> String {
    let (_, lines) = described(failed);
    let words = |line: &String| clean(line).split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = lines.iter().map(words).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_IN_FULL)..].join(" / ");
    let what = clean(&failure(failed));
    if last.is_empty() { what } else { format!("{what}: {last}") }
}

/// A failure in words, and the lines that belong to it.
fn described(failed: &Failure) -> (String, Vec<String>) {
    let what = failure(failed);
    match failed {
        Failure::Exit { stderr, .. }
        | Failure::Signal { stderr, .. }
        | Failure::TimedOut { stderr, .. }
        | Failure::OutOfMemory { stderr, .. } => match stderr.is_empty() {
            true => (format!("{what}; standard error was empty"), vec![]),
            false => (format!("{what}; standard error ended with:"), stderr.clone()),
        },
        Failure::WrongOutput { expected, printed, .. } => {
            let side = |what: &str, text: &Option<String>| {
                format!("{what} {}", text.as_deref().unwrap_or("(nothing: the output ends here)"))
            };
            (what, vec![side("expected:", expected), side("printed: ", printed)])
        }
        Failure::Surroundings { tail, .. } => (what, tail.clone()),
        Failure::BadMarks { .. } | Failure::NoBenchmark { .. } | Failure::NotStarted { .. } => (what, vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_quoted_whole() {
        let mut page = Page::default();
        let line = "one  two three four five six seven eight nine ten eleven twelve-thirteen-fourteen-fifteen-sixteen";
        quote(&mut page, line, 24);
        let text = page.print(false);
        assert!(text.lines().all(|line| line.starts_with("  | ") && line.chars().count() <= 24), "{text}");
        let quoted: String = text.lines().filter_map(|line| line.strip_prefix("  | ")).collect();
        assert_eq!(quoted.replace(' ', ""), line.replace(' ', ""));
    }

    #[test]
    fn every_failure_is_a_sentence() {
        let check = |failed: Failure, expect: &str| assert_eq!(failure(&failed), expect);
        let stderr = || vec!["not in the sentence".to_owned()];
        check(Failure::Exit { code: 3, stderr: stderr() }, "exited with code 3");
        check(Failure::Signal { signal: 11, stderr: stderr() }, "killed by signal 11 (SIGSEGV)");
        check(Failure::Signal { signal: 64, stderr: stderr() }, "killed by signal 64");
        check(Failure::TimedOut { after_s: 2.5, stderr: stderr() }, "killed because it took more than 2.50 s");
        check(
            Failure::OutOfMemory { limit_bytes: 64 << 20, stderr: stderr() },
            "killed because it exceeded its memory limit of 64.0 MiB",
        );
        check(Failure::WrongOutput { line: 7, expected: None, printed: None }, "the output was wrong from line 7 on");
        let service = || "service cache".to_owned();
        check(
            Failure::Surroundings { part: service(), why: "not ready within 5 s".to_owned(), tail: stderr() },
            "service cache: not ready within 5 s",
        );
        check(
            Failure::BadMarks { why: "no phase `scan`".to_owned() },
            "the marks do not match the study: no phase `scan`",
        );
        check(Failure::NoBenchmark { why: "go: no benchmark".to_owned() }, "go: no benchmark");
        check(
            Failure::NotStarted { command: "./x".to_owned(), why: "no such file".to_owned() },
            "could not start ./x: no such file",
        );
    }
}
