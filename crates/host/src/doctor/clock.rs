//! Checks of the clocks: how fine elapsed time is and what reading it costs, and whether the kernel tells CPU time
//! in user mode from CPU time in the kernel exactly or by sampling.
#![allow(unsafe_code, reason = "rustix has no getrusage")]

use super::check::Check;
use crate::files::Files;
use rustix::time::{ClockId, clock_getres, clock_gettime};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Instant;

/// Readings in one batch; the fastest of all batches is the one that nothing disturbed.
const READINGS: u32 = 1000;
const BATCHES: u32 = 20;

/// Sources that need a system call or a slow device for every reading.
const SLOW_SOURCES: &[&str] = &["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

/// Where the kernel's clock comes from.
pub(super) fn source(files: &Files) -> Check {
    let name = "clock source";
    let folder = "sys/devices/system/clocksource/clocksource0";
    let Some(found) = files.read(&format!("{folder}/current_clocksource")) else {
        return Check::missing(name, "not here", "the kind of clock is unknown");
    };
    if !SLOW_SOURCES.contains(&found.as_str()) {
        return Check::good(name, found, "the clock is read without a detour");
    }
    let others = files.read(&format!("{folder}/available_clocksource")).unwrap_or_default();
    let check = Check::noisy(name, found, "every reading of the clock is slow, for the measured programs too");
    let Some(better) = others.split(' ').find(|other| !SLOW_SOURCES.contains(other) && !other.is_empty()) else {
        return check;
    };
    check.remedy(format!("echo {better} | sudo tee /{folder}/current_clocksource"))
}

/// Resolution of elapsed time, and the cost of reading it.
pub(super) fn cost() -> Check {
    let name = "clock";
    let resolution = clock_getres(ClockId::Monotonic);
    let resolution_ns = resolution.tv_sec as f64 * 1e9 + resolution.tv_nsec as f64;
    let batch = |_| {
        let begin = Instant::now();
        for _ in 0..READINGS {
            black_box(clock_gettime(ClockId::Monotonic));
        }
        begin.elapsed().as_nanos() as f64 / f64::from(READINGS)
    };
    let cost_ns = (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min);
    let found = format!("resolution {resolution_ns:.0} ns, {cost_ns:.0} ns for a reading");
    // A hundredth of the shortest trial, which is half a millisecond of fork and exec.
    if resolution_ns.max(cost_ns) <= 5_000.0 {
        return Check::good(name, found, "elapsed time is fine enough for any trial");
    }
    Check::noisy(name, found, "short trials are measured coarsely").remedy("see the clock source")
}

/// Whether the kernel separates user and kernel time exactly. A kernel that samples them sees no or one tick in half a
/// millisecond, and so gives all of it to one side; an exact one finds both.
pub(super) fn cpu_time_split() -> Check {
    let name = "user and sys";
    let Some(is_exact) = is_split_exact() else {
        return Check::missing(name, "not here", "CPU time is unknown");
    };
    if is_exact {
        return Check::good(name, "exact", "user and kernel time are separated exactly, even in short trials");
    }
    let means =
        "their sum is exact, but one tick decides to which of them milliseconds go: in short trials compare cpu";
    Check::noisy(name, "sampled by the timer tick", means)
}

/// Whether both are found each time; none if CPU time is unknown.
fn is_split_exact() -> Option<bool> {
    let split = |_| std::thread::spawn(user_and_sys_of_a_little_work).join().ok().flatten();
    let parts = (0..4).map(split).collect::<Option<Vec<_>>>()?;
    Some(parts.iter().all(|&(user_us, sys_us)| user_us > 0 && sys_us > 0))
}

/// Whether this kernel tells CPU time in user mode exactly from CPU time in the kernel.
pub fn splits_cpu_time() -> bool {
    is_split_exact() == Some(true)
}

/// CPU time in user mode and in the kernel, in µs, of half a millisecond of both in this thread. None if unknown.
fn user_and_sys_of_a_little_work() -> Option<(i64, i64)> {
    loop {
        // Half in user mode, half in system calls.
        for _ in 0..100 {
            black_box((0..100_u64).fold(1, |product: u64, n| black_box(product.wrapping_mul(n | 1))));
            black_box(rustix::process::getppid());
        }
        let (user_us, sys_us) = thread_times_us()?;
        if user_us + sys_us >= 500 {
            return Some((user_us, sys_us));
        }
    }
}

fn thread_times_us() -> Option<(i64, i64)> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of its type.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: all-zero bytes are a valid rusage, and the call has succeeded in filling it.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    Some((us(usage.ru_utime), us(usage.ru_stime)))
}

#[cfg(test)]
mod tests {
    use super::super::check::State;
    use super::*;

    #[test]
    fn sources() {
        let check = |current: &str, available: &str, state, remedy: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let folder = "sys/devices/system/clocksource/clocksource0";
            let (now, all) = (format!("{folder}/current_clocksource"), format!("{folder}/available_clocksource"));
            let check = source(&Files::made_of(root.path(), &[(&now, current), (&all, available)]));
            assert_eq!(check.state, state, "{check:?}");
            assert_eq!(check.remedy.map(|text| text.contains(remedy.unwrap_or("?"))), remedy.map(|_| true));
        };
        check("tsc\n", "tsc acpi_pm\n", State::Good, None);
        check("acpi_pm\n", "tsc acpi_pm\n", State::Noisy, Some("echo tsc"));
        check("acpi_pm\n", "acpi_pm\n", State::Noisy, None);
        check("", "", State::Missing, None);
    }

    #[test]
    fn the_clock_of_this_machine_ticks() {
        assert!(cost().found.starts_with("resolution "));
        assert_ne!(cpu_time_split().state, State::Missing);
    }
}
