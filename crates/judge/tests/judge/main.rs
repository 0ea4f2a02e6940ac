//! The judge, from records in to findings out: one folder of tests, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

mod builds;
mod calibration;
mod comparison_laws;
mod diagnostics;
mod directions;
mod effects;
mod evidence;
mod families;
mod latencies;
mod outputs;
mod published_forms;
mod samples;
mod stopping;
mod surroundings;
mod ticks;
mod verdicts;
