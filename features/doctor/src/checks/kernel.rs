//! Checks of what the kernel lets us do with processes: their memory layout, their confinement, peak memory.

use bakeoff_command::check::Check;
use bakeoff_host::Files;
use bakeoff_host::{Command, End, Launcher, Patience};
use std::collections::BTreeMap;

/// Randomised memory layouts.
pub(super) fn address_randomisation(files: &Files) -> Check {
    let name = "address randomisation";
    match files.read("proc/sys/kernel/randomize_va_space").as_deref() {
        Some("0") => Check::noisy(
            name,
            "off",
            "every trial has the same memory layout, so a difference may come from that layout",
        )
        .remedy("sudo sysctl kernel.randomize_va_space=2"),
        Some(level) => {
            let found = format!("on ({level})");
            Check::good(name, found, "every trial gets a random memory layout, so layout effects average out")
        }
        None => Check::missing(name, "unknown", "this system does not show whether memory layouts are random"),
    }
}

/// Whether build scripts can be kept in their folders.
pub(super) fn confinement() -> Check {
    confinement_from(bakeoff_host::confinement())
}

fn confinement_from(version: Result<u32, String>) -> Check {
    let name = "confined builds";
    match version {
        Ok(version) => {
            let found = format!("Landlock, version {version}");
            Check::good(name, found, "build scripts can write only to their own folders")
        }
        Err(why) => Check::missing(name, why, "build scripts can write anywhere")
            .remedy("use Linux 5.19 or later; if you boot it with lsm=, add landlock to that list"),
    }
}

/// The least peak memory that is certainly a trial's own.
pub(super) fn memory_floor() -> Check {
    let name = "peak memory";
    let means = "a smaller value may be the launcher's, because a process's peak starts at the peak of its parent";
    match launcher_peak_bytes() {
        Ok(Some(bytes)) => Check::good(name, format!("from {:.1} MiB up", bytes as f64 / f64::from(1 << 20)), means),
        Ok(None) => Check::missing(name, "unknown", "the smallest peak memory that a trial can show is unknown"),
        Err(error) => Check::missing(name, error.to_string(), "trials cannot be started"),
    }
}

/// After it has run something, because it grows a little by that.
fn launcher_peak_bytes() -> Result<Option<u64>, bakeoff_host::Error> {
    let mut launcher = Launcher::start(None)?;
    let command = Command {
        argv: vec!["true".to_owned()],
        dir: "/".into(),
        env: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        stdin: None,
        stdout: "/dev/null".into(),
        stderr: "/dev/null".into(),
    };
    let ended = launcher.execute(&command, Patience::FirstInterrupt)?;
    Ok(launcher.memory_floor_bytes().filter(|_| ended.end == End::Exited(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::made_of;
    use bakeoff_command::check::State;

    #[test]
    fn confined_builds() {
        assert_eq!(confinement_from(Ok(7)).state, State::Good);
        let check = confinement_from(Err("why not".to_owned()));
        assert_eq!((check.state, check.found.as_str()), (State::Missing, "why not"));
        assert!(check.remedy.is_some());
    }

    #[test]
    fn memory_layouts() {
        let check = |text: &str, state| {
            let root = tempfile::tempdir().unwrap();
            let files = made_of(root.path(), &[("proc/sys/kernel/randomize_va_space", text)]);
            assert_eq!(address_randomisation(&files).state, state, "{text}");
        };
        check("2\n", State::Good);
        check("0\n", State::Noisy);
        check("", State::Missing);
    }
}
