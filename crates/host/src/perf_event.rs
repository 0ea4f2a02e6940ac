//! perf_event_open(2): counters of the processor and of the kernel, for one process or for all that come of it.
#![allow(unsafe_code, reason = "perf_event_open has no safe wrapper in rustix, nor a function in libc")]

use crate::files::Files;
use rustix::io::Errno;
use std::io::{self, Read as _};
use std::os::fd::{FromRawFd as _, OwnedFd};

/// What is counted, by which metric; numbers of perf_event_open(2).
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) metric: &'static str,
    kind: u32,
    number: u64,
    /// Whether events in the kernel are left out. Without them, less privilege is needed.
    user_only: bool,
    /// The base unit's part that is counted.
    pub(crate) unit: f64,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
/// PERF_COUNT_SW_DUMMY.
const DUMMY: u64 = 9;

const fn hardware(metric: &'static str, number: u64) -> Event {
    Event { metric, kind: HARDWARE, number, user_only: true, unit: 1.0 }
}

/// Switches and migrations, and half of the faults, are events in the kernel.
const fn software(metric: &'static str, number: u64) -> Event {
    Event { metric, kind: SOFTWARE, number, user_only: false, unit: 1.0 }
}

/// All that are counted.
pub(crate) const EVENTS: &[Event] = &[
    // It counts all CPU time, in ns, whatever is left out.
    Event { metric: "task_clock", kind: SOFTWARE, number: 1, user_only: true, unit: 1e-9 },
    software("page_faults", 2),
    software("context_switches", 3),
    software("migrations", 4),
    hardware("instructions", 1),
    hardware("cycles", 0),
    hardware("branches", 4),
    hardware("branch_misses", 5),
    hardware("cache_misses", 3),
];

/// The clock that functions are sampled by: CPU time in ns.
pub(crate) const CPU_CLOCK: Event = Event { metric: "", kind: SOFTWARE, number: 0, user_only: true, unit: 1e-9 };

/// Opens each counter of the processor's, or each of the kernel's, on this process: its metric, and why it does not
/// open.
pub fn counters(of_hardware: bool) -> Vec<(&'static str, Result<(), String>)> {
    let open = |event: &'static Event| {
        let opened = Counter::open(event, Of::Us).map(drop);
        (event.metric, opened.map_err(|error| event.why_not(&error, &Files::here())))
    };
    EVENTS.iter().filter(|event| event.is_hardware() == of_hardware).map(open).collect()
}

impl Event {
    /// Whether it is of the processor rather than of the kernel.
    fn is_hardware(&self) -> bool {
        self.kind == HARDWARE
    }

    pub(crate) fn why_not(&self, error: &io::Error, files: &Files) -> String {
        let what = if self.is_hardware() { "hardware counters" } else { "software counters" };
        match Errno::from_io_error(error) {
            Some(Errno::NOENT | Errno::NODEV | Errno::OPNOTSUPP) => format!("no {what} here"),
            Some(Errno::NOSYS) => "no perf events in this kernel".to_owned(),
            Some(Errno::ACCESS | Errno::PERM) => {
                let level = files.read("proc/sys/kernel/perf_event_paranoid").unwrap_or_else(|| "unknown".to_owned());
                let most = if self.user_only { 2 } else { 1 };
                format!("{what} are not permitted; perf_event_paranoid is {level} but must be {most} or less")
            }
            Some(Errno::MFILE | Errno::NFILE) => {
                "too many open files for counters; raise the limit with `ulimit -n`".to_owned()
            }
            _ => format!("cannot open {what} here ({error})"),
        }
    }
}

/// Of whom events are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// This process.
    Us,
    /// All that comes of this process, each from when it first runs a program; not of the process itself, unless
    /// it runs one. A [`Guard`] must be on it before it has children.
    ChildrenOf(u32),
}

/// An event on a process that its children do not inherit, and that counts nothing.
///
/// When a processor goes from a process to a child that has inherited all of its counters and nothing but these, the
/// kernel swaps the two sets rather than reload them (`perf_event_context_sched_out`). It does not mind that the
/// process runs no program and the child is about to: the child's counter may stay with the process, and that of
/// the process, which is the one that is inherited, end with the child. One event that only the process has keeps both
/// sets in their places.
#[derive(Debug)]
pub(crate) struct Guard {
    _event: Counter,
}

impl Guard {
    /// Guards the counters of this event's kind: older kernels keep one set for each.
    pub(crate) fn on(pid: u32, event: &Event) -> io::Result<Self> {
        let number = if event.is_hardware() { event.number } else { DUMMY };
        Ok(Self { _event: Counter::open_number(event.kind, number, pid as i32, DISABLED | USER_ONLY)? })
    }
}

/// A counter; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Counter {
    file: std::fs::File,
}

impl Counter {
    /// Opens one.
    ///
    /// # Errors
    /// The system's word: ENOENT where the event is not supported, EACCES where it is not permitted.
    pub(crate) fn open(event: &Event, of: Of) -> io::Result<Self> {
        let (pid, mut flags) = match of {
            Of::Us => (0, DISABLED),
            Of::ChildrenOf(pid) => (pid as i32, DISABLED | INHERIT | ENABLE_ON_EXEC),
        };
        if event.user_only {
            flags |= USER_ONLY;
        }
        Self::open_number(event.kind, event.number, pid, flags)
    }

    fn open_number(kind: u32, event: u64, pid: i32, flags: u64) -> io::Result<Self> {
        let attributes = Attributes {
            kind,
            event,
            size: size_of::<Attributes>() as u32,
            read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING,
            flags,
            ..Attributes::default()
        };
        Ok(Self { file: attributes.open(pid, -1)?.into() })
    }

    /// What it has counted so far, of processes that have ended too.
    pub(crate) fn read(&self) -> io::Result<Count> {
        let mut words = [[0; 8]; 3];
        (&self.file).read_exact(words.as_flattened_mut())?;
        let [value, enabled_ns, running_ns] = words.map(u64::from_ne_bytes);
        Ok(Count { value, enabled_ns, running_ns })
    }
}

/// Opens an event that samples a process on one processor, in user mode, from when it runs a program, and all that comes of
/// it, once in each period of CPU time. The records that tell which code a process has are written, too.
pub(crate) fn open_sampler(pid: u32, processor: u32, period_ns: u64) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        kind: CPU_CLOCK.kind,
        event: CPU_CLOCK.number,
        size: size_of::<Attributes>() as u32,
        sample_period: period_ns,
        sample_type: IP | TID | TIME,
        flags: DISABLED | INHERIT | USER_ONLY | ENABLE_ON_EXEC | CODE_OF_PROCESSES | SAMPLE_ID_ALL,
        ..Attributes::default()
    };
    attributes.open(pid as i32, processor as i32)
}

/// What was counted, for how long it should have been, and for how long it was: scarce counters take turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) value: u64,
    pub(crate) enabled_ns: u64,
    pub(crate) running_ns: u64,
}

impl Count {
    /// What was counted since, extrapolated to all of the time; none if it should have been and was at no time.
    pub(crate) fn since(self, before: Self) -> Option<f64> {
        let value = self.value.saturating_sub(before.value) as f64;
        let enabled_ns = self.enabled_ns.saturating_sub(before.enabled_ns);
        let running_ns = self.running_ns.saturating_sub(before.running_ns);
        match (enabled_ns, running_ns) {
            (0, _) => Some(value),
            (_, 0) => None,
            (enabled_ns, running_ns) if enabled_ns == running_ns => Some(value),
            (enabled_ns, running_ns) => Some(value * enabled_ns as f64 / running_ns as f64),
        }
    }
}

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

impl Attributes {
    /// The event on a process, on one processor or, with -1, on all.
    fn open(&self, pid: i32, processor: i32) -> io::Result<OwnedFd> {
        let address = std::ptr::from_ref(self);
        // SAFETY: the kernel reads `size` bytes from a pointer that is valid for them; the other arguments are numbers.
        let descriptor = unsafe { libc::syscall(libc::SYS_perf_event_open, address, pid, processor, -1, FD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given us this descriptor, and nobody else knows it.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    }
}

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
/// Nothing of the kernel, nothing of a hypervisor.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// mmap, comm, task, mmap2 and comm_exec.
const CODE_OF_PROCESSES: u64 = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 24;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 2;
const FD_CLOEXEC: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_took_turns_are_extrapolated() {
        let count = |value, enabled_ns, running_ns| Count { value, enabled_ns, running_ns };
        let check = |before, after: Count, expect| assert_eq!(after.since(before), expect, "{after:?}");
        check(count(0, 0, 0), count(7, 100, 100), Some(7.0));
        check(count(7, 100, 100), count(17, 200, 150), Some(20.0));
        check(count(7, 100, 100), count(7, 100, 100), Some(0.0));
        check(count(7, 100, 100), count(7, 200, 100), None);
    }

    #[test]
    fn reasons_name_the_level() {
        let check = |event: &Event, errno: Errno, expect: &str| {
            let root = tempfile::tempdir().unwrap();
            let files = Files::made_of(root.path(), &[("proc/sys/kernel/perf_event_paranoid", "3\n")]);
            assert_eq!(event.why_not(&errno.into(), &files), expect);
        };
        let (faults, cycles) = (&EVENTS[1], &EVENTS[5]);
        check(cycles, Errno::NOENT, "no hardware counters here");
        check(
            cycles,
            Errno::ACCESS,
            "hardware counters are not permitted; perf_event_paranoid is 3 but must be 2 or less",
        );
        check(
            faults,
            Errno::PERM,
            "software counters are not permitted; perf_event_paranoid is 3 but must be 1 or less",
        );
        check(faults, Errno::NOSYS, "no perf events in this kernel");
    }

    #[test]
    fn a_counter_is_opened_or_refused_but_never_malformed() {
        for event in EVENTS {
            let refused = Counter::open(event, Of::Us).err().and_then(|error| Errno::from_io_error(&error));
            assert!(!matches!(refused, Some(Errno::INVAL | Errno::TOOBIG | Errno::FAULT)), "{event:?} {refused:?}");
        }
    }
}
