//! The launcher against a real kernel: what it runs, measures, kills and survives. Nothing here asserts that
//! something is fast, except that it takes nowhere near the time for which a process would sleep.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod enclosed;
mod ends;
mod hostiles;
mod interrupts;
mod jobs;
mod leftovers;
mod marks;
mod measures;
mod owner;
mod support;
mod watched;
