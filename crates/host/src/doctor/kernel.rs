//! Checks of what the kernel lets us do with processes: their memory layout, groups of their own, peak memory.

use super::Check;
use crate::files::Files;
use crate::{Command, End, Launcher, Patience};
use rustix::fs::{Access, access};
use std::collections::BTreeMap;

/// Randomised memory layouts.
pub(super) fn address_randomisation(files: &Files) -> Check {
    let name = "address randomisation";
    match files.read("proc/sys/kernel/randomize_va_space").as_deref() {
        Some("0") => Check::noisy(
            name,
            "off",
            "every trial has the same memory layout: a difference may be the luck of one layout",
        )
        .remedy("sudo sysctl kernel.randomize_va_space=2"),
        Some(level) => {
            let found = format!("on ({level})");
            Check::good(name, found, "every trial draws a memory layout of its own, so its luck averages out")
        }
        None => Check::missing(name, "not here", "whether memory layouts are random is not told"),
    }
}

/// Which cgroup hierarchies there are, and whether we may make groups in ours.
pub(super) fn cgroups(files: &Files) -> Check {
    cgroups_where(files, |path| access(path, Access::WRITE_OK).is_ok())
}

fn cgroups_where(files: &Files, writable: impl Fn(&str) -> bool) -> Check {
    let name = "cgroups";
    let means = "resources of processes that leave their parents cannot be counted";
    let mounts = files.read("proc/self/mountinfo").unwrap_or_default();
    let v1 = mounts.lines().any(|line| line.contains(" - cgroup "));
    let v2 = mounts.lines().find(|line| line.contains(" - cgroup2 ")).and_then(|line| line.split(' ').nth(4));
    let groups = files.read("proc/self/cgroup").unwrap_or_default();
    let ours = groups.lines().find_map(|line| line.strip_prefix("0::"));
    let (world, good) = match (v2, v1) {
        (None, false) => return Check::missing(name, "not here", means),
        (None, true) => return Check::missing(name, "version 1 only", means),
        (Some(_), true) => ("hybrid of versions 1 and 2", false),
        (Some(_), false) => ("version 2", true),
    };
    let ours = format!("{}{}", v2.unwrap_or_default(), ours.unwrap_or("/"));
    if !writable(&ours) {
        return Check::missing(name, format!("{world}, not writable at {ours}"), means)
            .remedy("systemd-run --user --scope -p Delegate=yes bakeoff …");
    }
    if good {
        return Check::good(name, format!("{world}, writable"), "every trial can have a group of its own");
    }
    let means = "version 2 has no memory or I/O figures here; those of version 1 have other names and meanings";
    Check::missing(name, format!("{world}, writable"), means).remedy("boot with systemd.unified_cgroup_hierarchy=1")
}

/// The least peak memory that can be told to be a trial's own.
pub(super) fn memory_floor() -> Check {
    let name = "peak memory";
    let means = "a figure of this much or less may be the launcher's own memory, which the kernel counts in";
    match launcher_peak_bytes() {
        Ok(Some(bytes)) => Check::good(name, format!("from {:.1} MiB up", bytes as f64 / f64::from(1 << 20)), means),
        Ok(None) => Check::missing(name, "not here", "the least peak memory that can be told is unknown"),
        Err(error) => Check::missing(name, error.to_string(), "no trial can be launched"),
    }
}

/// After it has executed something, because it grows a little by that.
fn launcher_peak_bytes() -> Result<Option<u64>, crate::Error> {
    let mut launcher = Launcher::start(None)?;
    let command = Command {
        argv: vec!["true".to_owned()],
        dir: "/".into(),
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        stdout: "/dev/null".into(),
        stderr: "/dev/null".into(),
    };
    let ended = launcher.execute(&command, Patience::FirstInterrupt)?;
    Ok(launcher.memory_floor_bytes().filter(|_| ended.end == End::Exited(0)))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn worlds_of_cgroups() {
        let check = |mounts: &str, writable: bool, state, found: &str| {
            let root = tempfile::tempdir().unwrap();
            let machine = [("proc/self/mountinfo", mounts), ("proc/self/cgroup", "3:memory:/x\n0::/user.slice\n")];
            let files = Files::made_of(root.path(), &machine);
            let check = cgroups_where(&files, |path| writable && path.ends_with("/user.slice"));
            assert_eq!((check.state, check.found.as_str()), (state, found));
        };
        let v1 = "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let v2 = "38 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let both = format!("{v1}{}", v2.replace("cgroup rw - ", "cgroup/unified rw - "));
        check("", true, State::Missing, "not here");
        check(v1, true, State::Missing, "version 1 only");
        check(v2, true, State::Good, "version 2, writable");
        check(v2, false, State::Missing, "version 2, not writable at /sys/fs/cgroup/user.slice");
        check(&both, true, State::Missing, "hybrid of versions 1 and 2, writable");
    }

    #[test]
    fn memory_layouts() {
        let check = |text: &str, state| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/sys/kernel/randomize_va_space", text)]);
            assert_eq!(address_randomisation(&files).state, state, "{text}");
        };
        check("2\n", State::Good);
        check("0\n", State::Noisy);
        check("", State::Missing);
    }
}
