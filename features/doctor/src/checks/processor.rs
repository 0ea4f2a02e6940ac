//! Checks of the processor: whether its speed stays the same while two variants take turns. Reads files only.

use bakeoff_command::check::Check;
use bakeoff_host::Files;

const CPU: &str = "sys/devices/system/cpu";

/// The frequency governors of all processors.
pub(super) fn governor(files: &Files) -> Check {
    let name = "frequency governor";
    let mut found: Vec<String> = files
        .names(CPU)
        .iter()
        .filter_map(|cpu| files.read(&format!("{CPU}/{cpu}/cpufreq/scaling_governor")))
        .collect();
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Check::missing(name, "unknown", "CPU frequency cannot be controlled here");
    }
    if found == ["performance"] {
        return Check::good(name, "performance", "processors stay at their highest frequency");
    }
    Check::noisy(name, found.join(", "), "CPU frequency changes with the load; short trials are affected most")
        .remedy("echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
}

/// Frequencies above the nominal one.
pub(super) fn turbo(files: &Files) -> Check {
    let name = "turbo";
    let no_turbo = format!("{CPU}/intel_pstate/no_turbo");
    let boost = format!("{CPU}/cpufreq/boost");
    let (on, remedy) = match (files.read(&no_turbo), files.read(&boost)) {
        (Some(off), _) => (off == "0", format!("echo 1 | sudo tee /{no_turbo}")),
        (None, Some(on)) => (on == "1", format!("echo 0 | sudo tee /{boost}")),
        (None, None) => return Check::missing(name, "unknown", "turbo state unknown"),
    };
    if !on {
        return Check::good(name, "off", "CPU frequency does not depend on temperature");
    }
    Check::noisy(name, "on", "CPU frequency depends on temperature and on how many processors are busy").remedy(remedy)
}

/// Threads that share a core.
pub(super) fn smt(files: &Files) -> Check {
    let name = "hyper-threading";
    match files.read(&format!("{CPU}/smt/active")).as_deref() {
        Some("0") => Check::good(name, "off", "each processor is a separate core"),
        Some("1") => Check::noisy(
            name,
            "on",
            "work on the sibling thread slows a trial down, but the trial's CPU time does not show this",
        )
        .remedy("echo off | sudo tee /sys/devices/system/cpu/smt/control"),
        _ => Check::missing(name, "unknown", "this system does not show whether processors share cores"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::made_of;
    use bakeoff_command::check::State;

    #[test]
    fn states() {
        let check = |probe: fn(&Files) -> Check, machine: &[(&str, &str)], state, found: &str| {
            let root = tempfile::tempdir().unwrap();
            let check = probe(&made_of(root.path(), machine));
            assert_eq!((check.state, check.found.as_str()), (state, found), "{machine:?}");
        };
        let governor_of = |n| format!("{CPU}/cpu{n}/cpufreq/scaling_governor");
        check(governor, &[], State::Missing, "unknown");
        check(governor, &[(&governor_of(0), "performance\n")], State::Good, "performance");
        let mixed = [(&*governor_of(0), "performance\n"), (&*governor_of(1), "powersave\n")];
        check(governor, &mixed, State::Noisy, "performance, powersave");
        check(turbo, &[("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")], State::Good, "off");
        check(turbo, &[("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")], State::Noisy, "on");
        check(turbo, &[("sys/devices/system/cpu/cpufreq/boost", "1\n")], State::Noisy, "on");
        check(turbo, &[], State::Missing, "unknown");
        check(smt, &[("sys/devices/system/cpu/smt/active", "0\n")], State::Good, "off");
        check(smt, &[("sys/devices/system/cpu/smt/active", "1\n")], State::Noisy, "on");
        check(smt, &[], State::Missing, "unknown");
    }
}
