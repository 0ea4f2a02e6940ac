//! Checks of what we may do to processes before they run a trial's program, and to the machine for them.

use bakeoff_command::check::Check;
use bakeoff_host::Files;
use bakeoff_host::abilities;
use std::io;

/// Fewer processes than this may not be enough for a parallel build or a busy condition.
const FEW_PROCESSES: u64 = 500;

/// The real-time class.
pub(super) fn realtime() -> Check {
    let name = "real-time class";
    match abilities::realtime() {
        Ok(()) => Check::good(name, "permitted", "conditions can keep other work off the processors of a trial"),
        Err(error) => {
            Check::missing(name, error.to_string(), "lost: `realtime`, the condition that reduces noise the most")
                .remedy("sudo bakeoff …, or add `USER - rtprio 99` to /etc/security/limits.conf and log in again")
        }
    }
}

/// Fixed addresses for a trial.
pub(super) fn fixed_addresses() -> Check {
    let name = "fixed addresses";
    match abilities::fixed_addresses() {
        Ok(()) => Check::good(name, "permitted", "conditions can give all trials the same memory layout"),
        Err(error) => Check::missing(name, word(&error), "lost: the condition `aslr = false`"),
    }
}

/// Caches of the file system.
pub(super) fn drop_caches() -> Check {
    let name = "dropping caches";
    match bakeoff_host::disk::can_drop_caches() {
        Ok(()) => Check::good(name, "permitted", "trials can start with cold caches"),
        Err(error) => Check::missing(name, word(&error), "lost: the condition `drop_caches`").remedy("sudo bakeoff …"),
    }
}

/// What becomes of processes when we and our launchers are killed at once.
pub(super) fn enclosure() -> Check {
    let name = "PID namespace";
    match bakeoff_host::Enclosure::open(None).why_no_namespace() {
        None => Check::good(
            name,
            "permitted",
            "no process of a trial survives Bakeoff, even if all of Bakeoff is killed at once",
        ),
        Some(why) => {
            let means = "if all of Bakeoff is killed at once, processes of trials keep running until the next Bakeoff \
                command";
            Check::missing(name, why, means).remedy("sudo bakeoff …, or use --user-namespace")
        }
    }
}

/// How many processes there may be.
pub(super) fn process_limit(files: &Files) -> Check {
    let name = "process limit";
    match abilities::most_processes(files) {
        Some(most) if most >= FEW_PROCESSES => {
            Check::good(name, most.to_string(), "enough for trials, loads and parallel builds")
        }
        Some(most) => {
            Check::noisy(name, most.to_string(), "parallel builds or loads may fail because they need more processes")
                .remedy("raise `ulimit -u`, or TasksMax of the systemd unit that Bakeoff runs in")
        }
        None => Check::missing(name, "unknown", "this system does not show its process limit"),
    }
}

fn word(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "not permitted".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::made_of;
    use bakeoff_command::check::State;

    #[test]
    fn what_may_be_done_to_a_thread() {
        for check in [realtime(), fixed_addresses()] {
            assert!(!check.found.is_empty() && check.state != State::Noisy, "{check:?}");
        }
    }

    #[test]
    fn limits_of_processes() {
        let check = |pid_max: &str, state| {
            let root = tempfile::tempdir().unwrap();
            let files = made_of(root.path(), &[("proc/sys/kernel/pid_max", pid_max)]);
            assert_eq!(process_limit(&files).state, state, "{pid_max}");
        };
        check("10\n", State::Noisy);
        if abilities::most_processes_of_user().is_none_or(|most| most >= FEW_PROCESSES) {
            check("32768\n", State::Good);
        }
    }
}
