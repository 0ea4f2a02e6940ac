//! Commands as a whole, by the executable itself: one program for all of them, because each costs a link.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

mod builds;
mod cache;
mod changed;
mod clock;
mod commands;
mod common;
mod docs;
mod everyday;
mod failures;
mod features;
mod identity;
mod installed;
mod kept;
mod kill;
mod layout;
mod layouts;
mod lock;
mod marks;
mod outputs;
mod phases;
mod plan;
mod progress;
mod redacted;
mod saved;
#[cfg(feature = "building")]
mod sources;
mod surroundings;
mod swapped;
#[cfg(feature = "building")]
mod truth;
#[cfg(feature = "building")]
mod two_commits;
