//! Checks of what else goes on at this machine: load, steal, pressure, swap, hypervisors, disk space.

use bakeoff_command::check::Check;
use bakeoff_host::Files;
use bakeoff_host::place;
use std::time::Duration;

/// Load per processor above which trials visibly wait for each other's processors.
const BUSY_LOAD_PER_CPU: f64 = 0.3;

/// Share of time lost to others above which a machine counts as noisy: that of the smallest margin in common use.
const NOISY_SHARE: f64 = 0.01;

const STEAL_INTERVAL: Duration = Duration::from_millis(200);

/// The load average of the last minute.
pub(super) fn load(files: &Files) -> Check {
    let name = "load";
    let average = files.read("proc/loadavg").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let cpus = place::cpus(files);
    match average {
        Some(average) if cpus > 0 => {
            let processors = if cpus == 1 { "processor" } else { "processors" };
            let found = format!("{average} in the last minute on {cpus} {processors}");
            if average <= BUSY_LOAD_PER_CPU * f64::from(cpus) {
                return Check::good(name, found, "trials have the processors to themselves");
            }
            Check::noisy(name, found, "other work competes with the trials, so small differences need more blocks")
                .remedy("stop other programs, or plan more blocks")
        }
        _ => Check::missing(name, "unknown", "this system does not show how busy it is"),
    }
}

/// Time that a hypervisor took away, now and since boot.
pub(super) fn steal(files: &Files) -> Check {
    let before = cpu_ticks(files);
    std::thread::sleep(STEAL_INTERVAL);
    steal_between(before, cpu_ticks(files))
}

fn steal_between(before: Option<Ticks>, after: Option<Ticks>) -> Check {
    let name = "steal";
    let (Some(before), Some(after)) = (before, after) else {
        return Check::missing(name, "unknown", "this system does not show the time that a hypervisor takes away");
    };
    let now = Ticks { stolen: after.stolen.saturating_sub(before.stolen), all: after.all.saturating_sub(before.all) };
    let found = format!(
        "{:.1} % in the last {} s, {:.2} % since boot",
        100.0 * now.stolen_share(),
        STEAL_INTERVAL.as_secs_f64(),
        100.0 * after.stolen_share()
    );
    if now.stolen_share() <= NOISY_SHARE && after.stolen_share() <= NOISY_SHARE {
        return Check::good(name, found, "no hypervisor takes processor time away");
    }
    Check::noisy(name, found, "a hypervisor takes processor time away")
        .remedy("use a dedicated machine or instance type")
}

/// Scheduler ticks of all processors since boot, or in an interval.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    stolen: u64,
    all: u64,
}

impl Ticks {
    fn stolen_share(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.stolen as f64 / self.all as f64 }
    }
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal; guest time is part of user.
fn cpu_ticks(files: &Files) -> Option<Ticks> {
    let text = files.read("proc/stat")?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
    Some(Ticks { stolen: *ticks.get(7)?, all: ticks.iter().sum() })
}

/// Pressure stall information: the share of time in which something waited for a processor.
pub(super) fn pressure(files: &Files) -> Check {
    let name = "pressure";
    let Some(text) = files.read("proc/pressure/cpu") else {
        return Check::missing(name, "unknown", "this system does not show how long work waits for processors")
            .remedy("boot with psi=1, if the kernel has CONFIG_PSI");
    };
    let avg10 = text
        .lines()
        .find_map(|line| line.strip_prefix("some "))
        .and_then(|some| some.split(' ').find_map(|field| field.strip_prefix("avg10=")?.parse::<f64>().ok()));
    let Some(percent) = avg10 else {
        return Check::missing(name, "unreadable", "this system does not show how long work waits for processors");
    };
    let found = format!("work waited for a processor during {percent} % of the last 10 s");
    if percent / 100.0 <= NOISY_SHARE {
        return Check::good(name, found, "work gets a processor when it needs one");
    }
    Check::noisy(name, found, "work waits for processors, so trials will too")
        .remedy("stop other programs, or plan more blocks")
}

/// Swap space in use.
pub(super) fn swap(files: &Files) -> Check {
    let name = "swap";
    let kib = |key| -> Option<u64> { files.field("proc/meminfo", key)?.strip_suffix("kB")?.trim().parse().ok() };
    match (kib("SwapTotal"), kib("SwapFree")) {
        (Some(0), _) => Check::good(name, "none", "no trial waits for swapped-out memory"),
        (Some(total), Some(free)) if total == free => {
            Check::good(name, "none in use", "at present, no trial waits for swapped-out memory")
        }
        (Some(total), Some(free)) => {
            let found = format!("{} of {} MiB in use", total.saturating_sub(free) / 1024, total / 1024);
            Check::noisy(name, found, "trials may wait for swapped-out memory").remedy("sudo swapoff -a")
        }
        _ => Check::missing(name, "unknown", "this system does not show whether memory is swapped out"),
    }
}

/// Hypervisor and container.
pub(super) fn virtualisation(files: &Files) -> Check {
    match place::virtualisation(files) {
        None => Check::good("virtualisation", "none seen", "the kernel seems to run directly on the machine"),
        Some(found) => Check::noisy(
            "virtualisation",
            found,
            "other guests or containers may share processors, caches and disks; hardware counters may be missing",
        ),
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
            assert_eq!(check.state, state, "{check:?}");
            assert!(check.found.contains(found), "{check:?}");
        };
        let two = ("sys/devices/system/cpu/online", "0-1\n");
        check(load, &[two, ("proc/loadavg", "0.60 0.1 0.1 1/100 99\n")], State::Good, "0.6 in");
        check(load, &[two, ("proc/loadavg", "0.61 0.1 0.1 1/100 99\n")], State::Noisy, "2 processors");
        check(load, &[], State::Missing, "unknown");
        let psi = "some avg10=0.00 avg60=8.74 avg300=6.08 total=1\nfull avg10=9.00 avg60=0.00 avg300=0.00 total=0\n";
        check(pressure, &[("proc/pressure/cpu", psi)], State::Good, "0 %");
        check(pressure, &[("proc/pressure/cpu", &psi.replace("0.00", "11.55"))], State::Noisy, "11.55 %");
        check(pressure, &[], State::Missing, "unknown");
        check(swap, &[("proc/meminfo", "SwapTotal:   0 kB\nSwapFree:  0 kB\n")], State::Good, "none");
        check(swap, &[("proc/meminfo", "SwapTotal: 8192 kB\nSwapFree: 8192 kB\n")], State::Good, "none in use");
        check(swap, &[("proc/meminfo", "SwapTotal: 8192 kB\nSwapFree: 4096 kB\n")], State::Noisy, "4 of 8 MiB");
    }

    #[test]
    fn steal_is_that_of_the_interval_and_of_all_time() {
        let check = |before: &str, after: &str, state| {
            let ticks = |line: &str| {
                let root = tempfile::tempdir().unwrap();
                cpu_ticks(&made_of(root.path(), &[("proc/stat", line)]))
            };
            assert_eq!(steal_between(ticks(before), ticks(after)).state, state, "{before} {after}");
        };
        check("cpu  500 0 0 500 0 0 0 5 0 0\n", "cpu  510 0 0 530 0 0 0 5 0 0\n", State::Good);
        check("cpu  500 0 0 500 0 0 0 5 0 0\n", "cpu  510 0 0 530 0 0 0 6 0 0\n", State::Noisy);
        check("cpu  500 0 0 500 0 0 0 99 0 0\n", "cpu  510 0 0 530 0 0 0 99 0 0\n", State::Noisy);
        check("cpu  500 0 0 500\n", "cpu  510 0 0 530\n", State::Missing);
    }
}
