//! What this machine can and cannot do for measurements, each figure probed on the spot. It advises; it changes
//! nothing that stays, needs no privileges, and an absent file is a fact ("unknown"), never a failure.

mod clock;
mod groups;
mod kernel;
mod perf_events;
mod processes;
mod processor;
mod programs;
mod surroundings;

use bakeoff_command::check::Check;
use bakeoff_host::Files;

/// Every check, in the order in which they read best. Takes about a third of a second.
pub(crate) fn checks() -> Vec<Check> {
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
        processes::enclosure(),
        processes::process_limit(&files),
        clock::source(&files),
        clock::cpu_time_split(),
        kernel::memory_floor(),
        kernel::confinement(),
        programs::build_programs(&std::env::var_os("PATH").unwrap_or_default()),
    ]);
    checks
}

/// Writes a machine into a folder: pairs of path and text.
#[cfg(test)]
pub(crate) fn made_of(root: &std::path::Path, files: &[(&str, &str)]) -> Files {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Files::below(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_command::check::{State, disk};
    use std::collections::BTreeSet;

    #[test]
    fn the_doctor_examines_this_machine() {
        let checks = checks();
        let names: BTreeSet<&str> = checks.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), checks.len(), "a name is used twice");
        for check in checks.iter().chain([&disk(std::path::Path::new("/"))]) {
            assert!(!check.found.is_empty() && !check.means.is_empty(), "{check:?}");
        }
        let memory = checks.iter().find(|check| check.name == "peak memory").unwrap();
        assert_eq!(memory.state, State::Good, "{memory:?}");
    }
}
