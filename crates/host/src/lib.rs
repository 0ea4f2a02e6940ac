//! The only crate that talks to the kernel: it launches trials, measures and kills them ([`Launcher`]), counts
//! interrupts ([`interrupt`]), locks files ([`lock`]) and the whole machine ([`machine`]), keeps what trials print in memory
//! ([`output`]), stops a command at every system call ([`tracer`]), loads programs into the kernel ([`bpf`]), takes the
//! kernel's samples of processes ([`ring`]), and says what this machine is ([`place`]) and what it does and permits
//! ([`abilities`]). It knows no study, computes no mean and judges no value.

pub mod abilities;
pub mod bpf;
pub mod cgroup;
mod clock_set;
mod command;
mod confinement;
pub mod disk;
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
pub mod ring;
pub mod search_path;
pub mod tracer;
pub mod user_namespace;
mod who;

pub use clock_set::ClockWatch;
pub use command::{Command, End, Ended, Patience};
pub use confinement::confinement;
pub use error::Error;
pub use files::Files;
pub use job::{Achieved, Job, JobEnded, Limits, Rounds};
#[cfg(fuzzing)]
pub use launcher::fuzz_wire;
pub use launcher::{Enclosure, Launcher, MOST_MARKED_BYTES, Options, are_switched_off, offline};
pub use loader::executed_with;
pub use perf_event::counters;
pub use who::Who;

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Ends this process by SIGPIPE, as a write to a closed pipe ends programs that do not ignore the signal.
pub fn end_by_closed_pipe() {
    let _ = tracer::die_of(libc::SIGPIPE);
}

/// The time of day, in seconds since 1970-01-01 UTC. For when things happened, never for how long they took.
pub fn now_unix_s() -> f64 {
    // A clock that stands before 1970 is wrong anyway; a journal must not stop for it.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// The time of day by the clock that stamps files, as soon as it has passed `moment_unix_s`: files that were changed before
/// that moment have earlier stamps, and files that are changed after the call do not. Waits up to a tick if the moment is
/// the present. Network file systems have another clock.
pub fn file_time_after_unix_s(moment_unix_s: f64) -> f64 {
    let read_s = || {
        let time = clock_gettime(ClockId::RealtimeCoarse);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let mut stamp_s = read_s();
    // If somebody sets the clock back now, it does not pass for long.
    for _ in 0..MOST_WAITS {
        if stamp_s > moment_unix_s {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
        stamp_s = read_s();
    }
    stamp_s
}

/// How often it waits for a millisecond: several ticks of the slowest timer, of 100 Hz.
const MOST_WAITS: u32 = 50;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn files_are_stamped_on_the_right_side_of_the_time_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let changed_unix_s = |name: &str| {
            fs::write(folder.path().join(name), name).unwrap();
            let about = fs::metadata(folder.path().join(name)).unwrap();
            about.ctime() as f64 + about.ctime_nsec() as f64 / 1e9
        };
        for _ in 0..20 {
            let before = changed_unix_s("before");
            let between = super::file_time_after_unix_s(super::now_unix_s());
            let after = changed_unix_s("after");
            assert!(before < between && between <= after, "{before} {between} {after}");
        }
    }
}
