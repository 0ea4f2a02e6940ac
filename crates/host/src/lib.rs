//! The only crate that talks to the kernel: it launches trials, measures and kills them ([`Launcher`]), counts
//! interrupts ([`interrupt`]), locks files ([`lock`]), and says what this machine is ([`place`]) and what it can and
//! cannot do ([`doctor`]). It knows no study, computes no mean and judges no value.
//!
//! # The launcher, and tests that need it
//!
//! A [`Launcher`] is this very executable, started again with a secret first argument. So whatever starts one must
//! begin its `main` with [`launcher_main_if_asked`]. The program does; a test executable made by `cargo test` has a
//! `main` that does not. A crate whose tests start a launcher (or call [`doctor::checks`]) therefore keeps them in
//! a test target with a `main` of its own:
//!
//! ```toml
//! [dev-dependencies]
//! libtest-mimic.workspace = true
//!
//! [[test]]
//! name = "trials"
//! harness = false
//! ```
//!
//! ```text
//! // tests/trials.rs: libtest-mimic makes it read and filter like any other test executable
//! fn main() {
//!     bakeoff_host::launcher_main_if_asked();
//!     let cases = vec![Trial::test("a_trial_executes", || { a_trial_executes(); Ok(()) })];
//!     libtest_mimic::run(&Arguments::from_args(), cases).exit();
//! }
//! ```
//!
//! Unit tests (`#[cfg(test)]` in `src/`) cannot start a launcher; [`Launcher::start`] then says so.

pub mod disk;
pub mod doctor;
mod error;
mod files;
pub mod interrupt;
mod launcher;
pub mod lock;
pub mod place;
mod probe;
#[allow(dead_code, reason = "until the launcher asks for them")]
mod probes;

pub use error::Error;
pub use launcher::{
    Achieved, Command, End, Ended, Job, JobEnded, Launcher, Limits, Options, Patience, Rounds, launcher_main_if_asked,
};

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of day, in seconds since 1970-01-01 UTC. For when things happened, never for how long they took.
pub fn now_unix_s() -> f64 {
    // A clock that stands before 1970 is wrong anyway; a journal must not stop for it.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
