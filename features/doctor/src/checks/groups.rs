//! Checks of control groups, by making one as for a trial and removing it: whether there are any, what they do not
//! tell, and what they limit.

use bakeoff_command::check::Check;
use bakeoff_host::Files;
use bakeoff_host::cgroup::{Home, SWITCH};

/// What groups tell and limit; one check alone where there are none.
pub(super) fn checks(files: &Files) -> Vec<Check> {
    match Home::of_this_process() {
        Ok(home) => vec![groups(&home), limits(&home), birth(&home)],
        Err(why) => {
            let lost = "lost: the metrics cgroup_*, pids_peak and pressure_*; conditions that limit memory or CPU; CPU \
                        time of daemonised processes";
            vec![Check::missing("cgroups", &why, lost).remedy(remedy(&why, files))]
        }
    }
}

/// Groups for trials, and what they tell.
fn groups(home: &Home) -> Check {
    let name = "cgroups";
    let found = format!("{}; each trial that needs group metrics or limits gets a group", home.world());
    if home.unavailable.is_empty() {
        return Check::good(
            name,
            found,
            "memory, CPU time, block I/O and pressure are measured for whole process trees",
        );
    }
    let unavailable: Vec<&str> = home.unavailable.iter().map(|(metric, _)| *metric).collect();
    let mut whys: Vec<&str> = home.unavailable.iter().map(|(_, why)| why.as_str()).collect();
    whys.dedup();
    let check = Check::missing(name, found, &format!("lost: {} ({})", unavailable.join(", "), whys.join("; ")));
    check.remedy(if unavailable.iter().all(|metric| metric.starts_with("pressure_")) {
        "boot with psi=1, if the kernel has CONFIG_PSI"
    } else if home.has_v1() {
        "boot with systemd.unified_cgroup_hierarchy=1"
    } else {
        SCOPE
    })
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
fn limits(home: &Home) -> Check {
    let name = "limits";
    let lost = |what: &str| format!("lost: conditions that limit {what}");
    match (home.limits_memory(), home.limits_cpu()) {
        (true, true) => Check::good(name, "memory, CPU", "conditions can limit both"),
        (true, false) => Check::missing(name, "memory only", &lost("CPU")),
        (false, true) => Check::missing(name, "CPU only", &lost("memory")),
        (false, false) => Check::missing(name, "none", &lost("memory or CPU")),
    }
}

/// Whether processes are born in their group.
fn birth(home: &Home) -> Check {
    let name = "birth in a cgroup";
    if home.clones_into() {
        return Check::good(name, "possible", "a group measures a process from the moment it starts");
    }
    Check::missing(
        name,
        "not possible",
        "processes join a group after they start, so their first microseconds are lost",
    )
    .remedy("use Linux 5.7 or later with cgroup v2")
}
