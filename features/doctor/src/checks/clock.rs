//! Checks of the clocks: where elapsed time comes from, and whether the kernel tells CPU time in user mode from CPU
//! time in the kernel exactly or by sampling.

use bakeoff_command::check::Check;
use bakeoff_host::Files;
use bakeoff_host::abilities::splits_cpu_time;

/// Sources that need a system call or a slow device for every reading.
const SLOW_SOURCES: &[&str] = &["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

/// Where the kernel's clock comes from.
pub(super) fn source(files: &Files) -> Check {
    let name = "clock source";
    let folder = "sys/devices/system/clocksource/clocksource0";
    let Some(found) = files.read(&format!("{folder}/current_clocksource")) else {
        return Check::missing(name, "unknown", "this system does not name its clock source");
    };
    if !SLOW_SOURCES.contains(&found.as_str()) {
        return Check::good(name, found, "reading the clock is fast");
    }
    let others = files.read(&format!("{folder}/available_clocksource")).unwrap_or_default();
    let check = Check::noisy(name, found, "reading the clock is slow for Bakeoff and the measured programs");
    let Some(better) = others.split(' ').find(|other| !SLOW_SOURCES.contains(other) && !other.is_empty()) else {
        return check;
    };
    check.remedy(format!("echo {better} | sudo tee /{folder}/current_clocksource"))
}

/// Whether the kernel separates user and kernel time exactly.
pub(super) fn cpu_time_split() -> Check {
    let name = "user and sys";
    let Some(is_exact) = splits_cpu_time() else {
        return Check::missing(name, "unknown", "CPU time cannot be measured");
    };
    if is_exact {
        return Check::good(name, "exact", "user and system time are separated exactly, even in short trials");
    }
    let means = "only user plus sys is exact, because the kernel assigns whole ticks to one or the other; in short \
        trials, compare cpu";
    Check::noisy(name, "sampled by the timer tick", means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::made_of;
    use bakeoff_command::check::State;

    #[test]
    fn sources() {
        let check = |current: &str, available: &str, state, remedy: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let folder = "sys/devices/system/clocksource/clocksource0";
            let (now, all) = (format!("{folder}/current_clocksource"), format!("{folder}/available_clocksource"));
            let check = source(&made_of(root.path(), &[(&now, current), (&all, available)]));
            assert_eq!(check.state, state, "{check:?}");
            assert_eq!(check.remedy.map(|text| text.contains(remedy.unwrap_or("?"))), remedy.map(|_| true));
        };
        check("tsc\n", "tsc acpi_pm\n", State::Good, None);
        check("acpi_pm\n", "tsc acpi_pm\n", State::Noisy, Some("echo tsc"));
        check("acpi_pm\n", "acpi_pm\n", State::Noisy, None);
        check("", "", State::Missing, None);
    }

    #[test]
    fn cpu_time_of_this_machine_is_known() {
        assert_ne!(cpu_time_split().state, State::Missing);
    }
}
