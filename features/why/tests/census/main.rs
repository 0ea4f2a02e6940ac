//! The census against a real kernel: what it counts is what the tracer counts, and what programs are known to do. It
//! asserts no speed. Called with a word of its own, this executable is a launched process, the tracer, or a watcher.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is wrong")]

mod counts;
mod ends;
mod path;
mod support;
mod times;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((word, rest)) = words.split_first().filter(|(word, _)| support::WORDS.contains(&word.as_str())) {
        std::process::exit(support::become_helper(word, rest));
    }
    let cases: Vec<(&str, fn())> = [counts::CASES, times::CASES, path::CASES, ends::CASES].concat();
    let trial = |(name, case): (&str, fn())| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit();
}
