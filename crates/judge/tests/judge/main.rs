//! The judge, from records in to findings out: one folder of tests, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

mod comparison_laws;
mod conditions;
mod diagnostics;
mod directions;
mod effects;
mod families;
mod latencies;
mod only;
mod outputs;
mod samples;
mod suites;
mod ticks;
mod trends;
mod verdicts;
