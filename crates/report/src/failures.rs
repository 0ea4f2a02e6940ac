//! Trials that failed or are void: how many of which, and the first failure of each as an example.

use crate::format::{bytes, duration};
use crate::paint::{Ink, Page, Piece};
use crate::text::{clean, foreign};
use crate::words::{counted, listed};
use bakeoff_analysis::findings::{FailedTrials, Findings};
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

/// All failed and void trials; nothing if there are none.
pub(crate) fn print(findings: &Findings, page: &mut Page, columns: usize) {
    if findings.failures.is_empty() {
        return;
    }
    page.gap();
    page.line(vec![Piece::new("trials that do not count", Ink::Heading)]);
    for trials in &findings.failures {
        page.paragraph(&summary(trials), columns, 2, Ink::Worse);
        let Some(example) = &trials.example else { continue };
        let (what, lines) = described(example);
        page.paragraph(&format!("  the first: {}", clean(&what)), columns, 4, Ink::Plain);
        for line in lines {
            page.line(vec![Piece::new(format!("  | {}", foreign(&line, columns.saturating_sub(4))), Ink::Aside)]);
        }
    }
}

fn summary(trials: &FailedTrials) -> String {
    let FailedTrials { variant, workload, condition, failed, void, of, .. } = trials;
    let kinds = [(failed, "failed"), (void, "void")];
    let kinds: Vec<String> = kinds.iter().filter(|(n, _)| **n > 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    let place = format!("{} on {} ({})", clean(variant), clean(workload), clean(condition));
    format!("{place}: {} of {}", listed(&kinds), counted(*of, "trial"))
}

/// A failure in words, and the lines that belong to it.
fn described(failure: &Failure) -> (String, Vec<String>) {
    let ended = |what: String, stderr: &Vec<String>| match stderr.is_empty() {
        true => (format!("{what}; its standard error was empty"), vec![]),
        false => (format!("{what}; its standard error ended with"), stderr.clone()),
    };
    match failure {
        Failure::Exit { code, stderr } => ended(format!("exited with code {code}"), stderr),
        Failure::Signal { signal, stderr } => {
            let name = SIGNALS.iter().find(|(number, _)| number == signal);
            let name = name.map_or(String::new(), |(_, name)| format!(" ({name})"));
            ended(format!("killed by signal {signal}{name}"), stderr)
        }
        Failure::WrongOutput { line, expected, printed } => {
            let side = |what: &str, text: &Option<String>| {
                format!("{what} {}", text.as_deref().unwrap_or("(nothing: the output ends here)"))
            };
            let sides = vec![side("expected:", expected), side("printed: ", printed)];
            (format!("its output was wrong from line {line} on"), sides)
        }
        Failure::TimedOut { after_s, stderr } => {
            ended(format!("killed because it took more than {}", duration(*after_s)), stderr)
        }
        Failure::OutOfMemory { limit_bytes, stderr } => {
            ended(format!("killed because it needed more than its {}", bytes(*limit_bytes as f64)), stderr)
        }
        Failure::Surroundings { part, why, tail } => (format!("{part}: {why}"), tail.clone()),
        Failure::Told { why } => (why.clone(), vec![]),
        Failure::NotStarted { command, why } => (format!("could not start {command}: {why}"), vec![]),
    }
}
