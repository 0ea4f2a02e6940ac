//! The statistics against certified values, values that were copied from other implementations, and laws.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "all of this is tests")]

mod golden;
mod laws;
mod linear;
mod rank_laws;
