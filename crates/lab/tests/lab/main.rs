//! Takes blocks to a place in order: the driver over a place that does not exist, and this host as a place. What is
//! measured there is tested in the crate `host`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod counted;
mod driver;
mod local;
