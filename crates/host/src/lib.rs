//! The only crate that talks to the kernel: it launches trials, measures and kills them ([`Launcher`]), counts
//! interrupts ([`interrupt`]), locks files ([`lock`]) and the whole machine ([`machine`]), keeps what trials print in memory
//! ([`output`]), stops a command at every
//! system call ([`tracer`]), and says what this machine is ([`place`]) and what it can and cannot do ([`doctor`]). It knows no study, computes no mean and judges no value.

mod cgroup;
mod clock_set;
mod command;
mod confinement;
pub mod disk;
pub mod doctor;
mod error;
mod files;
pub mod folders;
pub mod guest;
pub mod interrupt;
mod job;
mod launcher;
mod launchers;
mod linking;
mod loader;
pub mod lock;
pub mod machine;
pub mod output;
mod perf_event;
pub mod place;
mod probe;
mod probes;
pub mod search_path;
pub mod tracer;
pub mod user_namespace;
mod who;

pub use clock_set::ClockWatch;
pub use command::{Command, End, Ended, Patience};
pub use confinement::confinement;
pub use error::Error;
pub use job::{Achieved, Job, JobEnded, Limits, Rounds};
#[cfg(fuzzing)]
pub use launcher::fuzz_wire;
pub use launcher::{Enclosure, Launcher, MOST_MARKED_BYTES, Options, are_switched_off, offline};
pub use loader::executed_with;
pub use who::Who;

use std::time::{SystemTime, UNIX_EPOCH};

/// Ends this process by SIGPIPE, as a write to a closed pipe ends programs that do not ignore the signal.
pub fn end_by_closed_pipe() {
    let _ = tracer::die_of(libc::SIGPIPE);
}

/// The time of day, in seconds since 1970-01-01 UTC. For when things happened, never for how long they took.
pub fn now_unix_s() -> f64 {
    // A clock that stands before 1970 is wrong anyway; a journal must not stop for it.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
