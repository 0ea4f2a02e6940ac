//! What this machine can and cannot do for measurements, each figure probed on the spot. It advises; it changes
//! nothing that stays, needs no privileges, and an absent file is a fact ("not here"), never a failure.

mod check;
mod clock;
mod groups;
mod kernel;
mod perf_events;
mod processes;
mod processor;
mod surroundings;

pub use check::{Check, State};

use crate::files::Files;
use std::path::Path;

/// Every check, in the order in which they read best. Takes about a third of a second.
pub fn checks() -> Vec<Check> {
    let files = Files::here();
    let mut checks = vec![
        surroundings::load(&files),
        surroundings::steal(&files),
        surroundings::pressure(&files),
        surroundings::swap(&files),
        surroundings::virtualisation(&files),
        processor::governor(&files),
        processor::turbo(&files),
        processor::smt(&files),
        kernel::address_randomisation(&files),
        processes::fixed_addresses(),
    ];
    checks.extend(groups::checks(&files));
    checks.extend([
        perf_events::hardware(),
        perf_events::software(),
        processes::realtime(),
        processes::drop_caches(),
        processes::pipe_size(),
        processes::descriptors(),
        processes::enclosure(),
        processes::process_limit(&files),
        clock::source(&files),
        clock::cost(),
        clock::cpu_time_split(),
        kernel::memory_floor(),
        kernel::confinement(),
    ]);
    checks
}

/// Space for builds and journals below `path`.
pub fn disk(path: &Path) -> Check {
    surroundings::disk(path)
}
