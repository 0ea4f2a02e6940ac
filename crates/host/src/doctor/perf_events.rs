//! Checks whether the kernel lets us count events, by opening one counter of each kind on ourselves. It reads no
//! counter.
#![allow(unsafe_code, reason = "perf_event_open has no safe wrapper in rustix, nor a function in libc")]

use super::Check;
use crate::files::Files;
use rustix::io::Errno;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// The first version of `struct perf_event_attr` (perf_event_open(2), PERF_ATTR_SIZE_VER0), which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    /// Called `config` there, and `event1` is `config1`.
    event: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    event1: u64,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
/// PERF_COUNT_HW_INSTRUCTIONS.
const INSTRUCTIONS: u64 = 1;
/// PERF_COUNT_SW_PAGE_FAULTS.
const PAGE_FAULTS: u64 = 2;
/// Bits of the flags: disabled, exclude_kernel, exclude_hv. Without the kernel, less privilege is needed.
const USER_ONLY: u64 = 1 | 1 << 5 | 1 << 6;
const FD_CLOEXEC: u64 = 8;

/// Counters of the processor: cycles, instructions, cache and branch misses.
pub(super) fn hardware(files: &Files) -> Check {
    judge("hardware counters", open(HARDWARE, INSTRUCTIONS), files, "causes can be sought in instructions and misses")
}

/// Counters of the kernel: faults, switches, migrations.
pub(super) fn software(files: &Files) -> Check {
    judge("software counters", open(SOFTWARE, PAGE_FAULTS), files, "faults, switches and migrations can be counted")
}

fn judge(name: &'static str, opened: io::Result<()>, files: &Files, good: &str) -> Check {
    let means = "causes have to be sought without them";
    let Err(error) = opened else { return Check::good(name, "available", good) };
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP) => Check::missing(name, "not supported here", means)
            .remedy("use a machine, or a hypervisor setting, with a PMU"),
        Some(Errno::NOSYS) => Check::missing(name, "not in this kernel", means),
        Some(Errno::ACCESS | Errno::PERM) => {
            let level = files.read("proc/sys/kernel/perf_event_paranoid").unwrap_or_else(|| "unknown".to_owned());
            Check::missing(name, format!("not permitted (perf_event_paranoid is {level})"), means)
                .remedy("sudo sysctl kernel.perf_event_paranoid=2")
        }
        _ => Check::missing(name, error.to_string(), means),
    }
}

/// Opens a counter of this process, and closes it.
fn open(kind: u32, event: u64) -> io::Result<()> {
    let attributes =
        Attributes { kind, event, size: size_of::<Attributes>() as u32, flags: USER_ONLY, ..Attributes::default() };
    // SAFETY: the kernel reads `size` bytes from a pointer that is valid for them; the other arguments are numbers.
    let descriptor = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, FD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor, and nobody else knows it.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor as i32) });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn the_kernel_refuses_by_number() {
        let check = |errno: Errno, found: &str, remedy: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/sys/kernel/perf_event_paranoid", "3\n")]);
            let check = judge("counters", Err(errno.into()), &files, "");
            assert_eq!(check.state, State::Missing);
            assert!(check.found.contains(found), "{check:?}");
            assert_eq!(check.remedy.is_some_and(|text| text.contains(remedy.unwrap_or("?"))), remedy.is_some());
        };
        check(Errno::NOENT, "not supported here", Some("PMU"));
        check(Errno::ACCESS, "perf_event_paranoid is 3", Some("sysctl"));
        check(Errno::NOSYS, "not in this kernel", None);
        check(Errno::INVAL, "nvalid", None);
    }

    #[test]
    fn a_counter_is_opened_or_refused_but_never_malformed() {
        for (kind, event) in [(HARDWARE, INSTRUCTIONS), (SOFTWARE, PAGE_FAULTS)] {
            let refused = open(kind, event).err().and_then(|error| Errno::from_io_error(&error));
            assert!(!matches!(refused, Some(Errno::INVAL | Errno::TOOBIG | Errno::FAULT)), "{refused:?}");
        }
    }
}
