//! Checks of control groups, by making one as for a trial and removing it: whether there are any, what they do not
//! tell, and what they limit.

use super::Check;
use crate::cgroup::{Home, SWITCH};
use crate::files::Files;
use std::sync::Arc;

/// Our folder for groups, or why there is none.
pub(super) type Made = Result<Arc<Home>, String>;

pub(super) fn make() -> Made {
    Home::of_this_process()
}

/// A group for every trial, and what it tells.
pub(super) fn groups(made: &Made, files: &Files) -> Check {
    let name = "cgroups";
    let home = match made {
        Ok(home) => home,
        Err(why) => {
            let lost = "lost: cgroup_*, pids_peak and pressure_* of trials, limits, and the CPU time of what leaves its parents";
            return Check::missing(name, why, lost).remedy(remedy(why, files));
        }
    };
    let found = format!("{}, one for every trial", home.world());
    if home.untold.is_empty() {
        return Check::good(name, found, "memory, CPU time, block I/O and pressure are told of whole trees");
    }
    let untold: Vec<&str> = home.untold.iter().map(|(metric, _)| *metric).collect();
    let mut whys: Vec<&str> = home.untold.iter().map(|(_, why)| why.as_str()).collect();
    whys.dedup();
    let check = Check::missing(name, found, &format!("lost: {} ({})", untold.join(", "), whys.join("; ")));
    check.remedy(if home.has_v1() { "boot with systemd.unified_cgroup_hierarchy=1" } else { SCOPE })
}

const SCOPE: &str = "systemd-run --user --scope -p Delegate=yes bakeoff …";

fn remedy(why: &str, files: &Files) -> String {
    if why.contains(SWITCH) {
        return format!("unset {SWITCH}");
    }
    let mounts = files.read("proc/self/mountinfo").unwrap_or_default();
    if mounts.lines().any(|line| line.contains(" - cgroup ")) {
        // Nobody but root may make groups in version 1.
        return "sudo bakeoff …".to_owned();
    }
    SCOPE.to_owned()
}

/// What they limit.
pub(super) fn limits(made: &Made) -> Check {
    let name = "limits";
    let (memory, cpu) = made.as_ref().map_or((false, false), |home| (home.limits_memory(), home.limits_cpu()));
    let lost = |what: &str| format!("lost: conditions that limit {what} are reported as unavailable");
    match (memory, cpu) {
        (true, true) => Check::good(name, "memory, CPU", "conditions can limit both"),
        (true, false) => Check::missing(name, "memory only", &lost("CPU")),
        (false, true) => Check::missing(name, "CPU only", &lost("memory")),
        (false, false) => Check::missing(name, "none", &lost("memory or CPU")),
    }
}

/// Whether processes are born in their group.
pub(super) fn birth(made: &Made) -> Check {
    let name = "birth in a cgroup";
    match made {
        Ok(home) if home.clones_into() => {
            Check::good(name, "possible", "a group counts a process from its first instant")
        }
        Ok(_) => Check::missing(name, "refused", "lost: what a process does before it has joined its group; some µs"),
        Err(_) => Check::missing(name, "no cgroups", "lost: nothing that cgroups would not tell"),
    }
}
