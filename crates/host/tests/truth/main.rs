//! Truth tests: what the launcher measures is what happened, shown with real programs that do known things and watch
//! their own clocks. Nothing is mocked, and nothing here is about how fast something is. What this machine cannot show
//! is skipped, with the machine's reason.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod clocks;
mod confined;
mod counts;
mod descriptors;
mod everywhere;
mod loads;
mod memory;
mod processor;
mod support;
mod told;
