//! What a census yields, and how it comes of the words in the kernel's maps. It reads no map and no file.

use super::layout::{self as at, State, words};
use bakeoff_host::tracer::name_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a process tree did while it was watched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Processes and threads.
    pub tasks: u64,
    /// Tasks that were not watched because too many were alive; unless it is 0, nothing here is complete.
    pub lost_tasks: u64,
    /// System calls by name. Those with numbers that no table of names has are all called `unknown`.
    pub syscalls: BTreeMap<String, SyscallSums>,
    /// Page faults by kind; `None` where the kernel does not report them.
    pub faults: Option<Faults>,
    /// Where the time went.
    pub times: Times,
    /// The path that ends last; `None` if it was not requested, or was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Path>,
    /// Why it was not found, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_path: Option<String>,
}

/// The path that ends last: from the end of a command back over the threads that woke it, to its beginning. What is blocked on it made the
/// command longer, while the sums over all tasks have waiting that others' work hides.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Path {
    /// All of it.
    pub total_s: f64,
    /// Of this, blocked where no watched task ended the wait, by the name of the call; [`Path::NO_CALL`] is a page fault, or a stop.
    pub blocked: BTreeMap<String, Blocked>,
}

impl Path {
    /// In no system call.
    pub const NO_CALL: &str = "no call";
}

/// Waiting on the path that ends last.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Blocked {
    /// For how long.
    pub time_s: f64,
    /// How often.
    pub times: u64,
}

/// What one system call adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SyscallSums {
    /// How often it was made, whether or not it returned.
    pub count: u64,
    /// Time in it.
    pub spent: Spent,
}

/// Time in a system call.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// From entry to return, or to the end of the task.
    pub time_s: f64,
    /// Of this, blocked; the rest is CPU time, and waiting for a CPU.
    pub blocked_s: f64,
    /// How often it blocked.
    pub times_blocked: u64,
}

/// Page faults of code in user space. Faults of the kernel at addresses of user space are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Faults {
    /// Reads of pages that were not present; instructions that are fetched are read.
    pub read_absent: u64,
    /// Writes to pages that were not present.
    pub write_absent: u64,
    /// Reads of pages that were present, but may not be read.
    pub read_present: u64,
    /// Writes to pages that were present, but may not be written: nearly always a copy on write.
    pub write_present: u64,
}

/// Time, summed over all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Times {
    /// Time on a CPU, which includes time that a hypervisor took.
    pub on_cpu_s: f64,
    /// Time ready to run, without a CPU: what this machine adds, not the program.
    pub run_queue_s: f64,
    /// Time blocked, in system calls or not.
    pub blocked_s: f64,
    /// Of this, blocked in no system call: faults.
    pub blocked_outside_calls_s: f64,
    /// From birth, or from when watching began, to the last switch out, or to when watching ended.
    pub lifetime_s: f64,
}

impl Report {
    /// Whether it was watched; a tracer that only counts leaves all times 0.
    pub fn has_times(&self) -> bool {
        self.times.lifetime_s > 0.0
    }

    /// What was added since an earlier report of the same watch, without a path. Tasks are those of all.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut syscalls = BTreeMap::new();
        for (name, now) in &self.syscalls {
            let before = earlier.syscalls.get(name).copied().unwrap_or_default();
            let sums =
                SyscallSums { count: now.count.saturating_sub(before.count), spent: now.spent.since(before.spent) };
            if sums.count > 0 || sums.spent.time_s > 0.0 {
                syscalls.insert(name.clone(), sums);
            }
        }
        let times = |before: Times, now: Times| Times {
            on_cpu_s: now.on_cpu_s - before.on_cpu_s,
            run_queue_s: now.run_queue_s - before.run_queue_s,
            blocked_s: now.blocked_s - before.blocked_s,
            blocked_outside_calls_s: now.blocked_outside_calls_s - before.blocked_outside_calls_s,
            lifetime_s: now.lifetime_s - before.lifetime_s,
        };
        let faults = |before: Faults, now: Faults| Faults {
            read_absent: now.read_absent.saturating_sub(before.read_absent),
            write_absent: now.write_absent.saturating_sub(before.write_absent),
            read_present: now.read_present.saturating_sub(before.read_present),
            write_present: now.write_present.saturating_sub(before.write_present),
        };
        Self {
            tasks: self.tasks,
            lost_tasks: self.lost_tasks,
            syscalls,
            faults: self.faults.map(|now| faults(earlier.faults.unwrap_or_default(), now)),
            times: times(earlier.times, self.times),
            ..Self::default()
        }
    }
}

impl Spent {
    fn since(&self, before: Self) -> Self {
        Self {
            time_s: (self.time_s - before.time_s).max(0.0),
            blocked_s: (self.blocked_s - before.blocked_s).max(0.0),
            times_blocked: self.times_blocked.saturating_sub(before.times_blocked),
        }
    }
}

impl Times {
    /// Time on CPU, blocked and in the run queue as a part of lifetime. An interval is added up only if both its ends were
    /// seen, so anything but 1 means that events were missed. `None` if there is no lifetime.
    pub fn accounted(&self) -> Option<f64> {
        let sum_s = self.on_cpu_s + self.run_queue_s + self.blocked_s;
        (self.lifetime_s > 0.0).then(|| sum_s / self.lifetime_s)
    }
}

const NS_PER_S: f64 = 1e9;

/// Where the word of a sum is.
fn of(sum: i16) -> usize {
    sum as usize / size_of::<u64>()
}

/// Likewise, of a call's.
fn of_call(sum: i16, call: u32) -> usize {
    of(sum) + ((call as usize) << at::CALL_SHIFT) / size_of::<u64>()
}

/// The words of all processors, added up.
#[derive(Debug)]
pub(super) struct Sums(Vec<u64>);

impl Sums {
    pub(super) fn new() -> Self {
        Self(vec![0; at::SUMS_BYTES / size_of::<u64>()])
    }

    /// Adds those of one processor.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        // Differences of clocks may be negative for one processor.
        self.0.iter_mut().zip(words(bytes)).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
    }

    /// Adds what a task does at the moment when watching ends. Something may have happened to it since.
    pub(super) fn add_unfinished(&mut self, task: &State, now_ns: u64) {
        let last_ns = now_ns.max(task.since_ns);
        let open_ns = last_ns - task.since_ns;
        let in_call = |sum| (task.call < at::MOST_CALLS as u32).then(|| of_call(sum, task.call));
        self.raise(of(at::SUM_LIFETIME), last_ns.saturating_sub(task.born_ns));
        if let Some(time) = in_call(at::CALL_TIME) {
            self.raise(time, last_ns.saturating_sub(task.entered_ns));
        }
        match task.phase as i32 {
            at::ON_CPU => self.raise(of(at::SUM_ON_CPU), open_ns),
            at::RUN_QUEUE => self.raise(of(at::SUM_RUN_QUEUE), open_ns),
            at::BLOCKED => {
                self.raise(of(at::SUM_BLOCKED), open_ns);
                self.raise(in_call(at::CALL_BLOCKED).unwrap_or(of(at::SUM_BLOCKED_OUTSIDE)), open_ns);
                in_call(at::CALL_TIMES_BLOCKED).into_iter().for_each(|times| self.raise(times, 1));
            }
            _ => {}
        }
    }

    fn raise(&mut self, place: usize, by: u64) {
        self.0[place] = self.0[place].wrapping_add(by);
    }

    /// In base units.
    pub(super) fn report(&self, has_faults: bool) -> Report {
        let faults = std::array::from_fn(|kind| self.0[of(at::SUM_FAULTS) + kind]);
        let [read_absent, read_present, write_absent, write_present] = faults;
        let mut syscalls: BTreeMap<String, SyscallSums> = BTreeMap::new();
        for call in 0..at::MOST_CALLS as u32 {
            let [count, time, blocked, times_blocked] =
                [at::CALL_COUNT, at::CALL_TIME, at::CALL_BLOCKED, at::CALL_TIMES_BLOCKED]
                    .map(|sum| self.0[of_call(sum, call)]);
            if count == 0 && time == 0 {
                continue;
            }
            let sums = syscalls.entry(call_name(call)).or_default();
            sums.count += count;
            sums.spent.time_s += seconds(time);
            sums.spent.blocked_s += seconds(blocked);
            sums.spent.times_blocked += times_blocked;
        }
        let times = Times {
            on_cpu_s: seconds(self.0[of(at::SUM_ON_CPU)]),
            run_queue_s: seconds(self.0[of(at::SUM_RUN_QUEUE)]),
            blocked_s: seconds(self.0[of(at::SUM_BLOCKED)]),
            blocked_outside_calls_s: seconds(self.0[of(at::SUM_BLOCKED_OUTSIDE)]),
            lifetime_s: seconds(self.0[of(at::SUM_LIFETIME)]),
        };
        Report {
            syscalls,
            faults: has_faults.then_some(Faults { read_absent, write_absent, read_present, write_present }),
            times,
            ..Report::default()
        }
    }
}

pub(super) fn seconds(ns: u64) -> f64 {
    // A difference of two processors' clocks is negative, not huge.
    ns.cast_signed() as f64 / NS_PER_S
}

pub(super) fn call_name(call: u32) -> String {
    if call == at::NO_CALL as u32 {
        return Path::NO_CALL.to_owned();
    }
    let (number, compat) = (call % at::COMPAT as u32, call >= at::COMPAT as u32);
    if number == at::OTHER as u32 { "unknown".to_owned() } else { name_of(number.into(), compat) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: u32 = libc::SYS_read as u32;

    fn bytes(set: &[(usize, u64)]) -> Vec<u8> {
        let mut words = vec![0; at::SUMS_BYTES / 8];
        set.iter().for_each(|&(at, value)| words[at] = value);
        words.into_iter().flat_map(u64::to_ne_bytes).collect()
    }

    /// The place of a call's words, behind the sixteen that come first.
    fn place(call: u32) -> usize {
        16 + call as usize * 4
    }

    #[test]
    fn what_was_added_since_is_the_difference() {
        let spent = |time_s, blocked_s, times_blocked| Spent { time_s, blocked_s, times_blocked };
        let sums = |count, spent| SyscallSums { count, spent };
        let report = |read, accept: Option<SyscallSums>, on_cpu_s, write_present| Report {
            tasks: 2,
            syscalls: [("read".to_owned(), read)]
                .into_iter()
                .chain(accept.map(|sums| ("accept".to_owned(), sums)))
                .collect(),
            faults: Some(Faults { write_present, ..Faults::default() }),
            times: Times { on_cpu_s, lifetime_s: 2.0 * on_cpu_s, ..Times::default() },
            ..Report::default()
        };
        let before = report(sums(5, spent(0.5, 0.25, 2)), None, 1.0, 10);
        let after = report(sums(5, spent(0.5, 0.25, 2)), Some(sums(3, spent(0.75, 0.5, 3))), 1.5, 17);
        let added = after.since(&before);
        assert_eq!(added.syscalls, [("accept".to_owned(), sums(3, spent(0.75, 0.5, 3)))].into());
        assert_eq!(added.faults.map(|faults| faults.write_present), Some(7));
        assert_eq!((added.times.on_cpu_s, added.times.lifetime_s), (0.5, 1.0));
    }

    #[test]
    fn processors_are_added_up_in_base_units() {
        let mut sums = Sums::new();
        let read = place(READ);
        sums.add(&bytes(&[(0, 1_500_000_000), (4, 4_000_000_000), (6, 7), (8, 9), (read, 2), (read + 1, 500_000_000)]));
        // What is negative for one processor is not for all.
        sums.add(&bytes(&[(0, 500_000_000_u64.wrapping_neg()), (1, 1_000_000_000), (2, 2_000_000_000), (read + 2, 1)]));
        let report = sums.report(true);
        let times = report.times;
        assert_eq!((times.on_cpu_s, times.run_queue_s, times.blocked_s, times.lifetime_s), (1.0, 1.0, 2.0, 4.0));
        assert_eq!(times.accounted(), Some(1.0));
        let faults = Faults { read_present: 7, write_present: 9, ..Faults::default() };
        assert_eq!(report.faults, Some(faults));
        let spent = Spent { time_s: 0.5, blocked_s: 1e-9, times_blocked: 0 };
        assert_eq!(report.syscalls, BTreeMap::from([("read".to_owned(), SyscallSums { count: 2, spent })]));
    }

    #[test]
    fn what_was_not_taken_is_not_zero() {
        let mut sums = Sums::new();
        sums.add(&bytes(&[(place(READ), 1), (place(at::OTHER as u32), 2), (place(1023), 3)]));
        let report = sums.report(false);
        assert_eq!((report.faults, report.syscalls["read"].count), (None, 1));
        assert_eq!(report.syscalls["unknown"].count, 5);
        assert_eq!(Times::default().accounted(), None);
    }

    #[test]
    fn tasks_that_go_on_are_added_up_to_the_end() {
        let task = |phase: i32, call: u32| State {
            since_ns: 3_000_000_000,
            born_ns: 1_000_000_000,
            entered_ns: 2_000_000_000,
            call,
            phase: phase as u32,
            tid: 1,
            ..State::default()
        };
        let mut sums = Sums::new();
        for (phase, call) in [(at::BLOCKED, READ), (at::BLOCKED, 1024), (at::ON_CPU, 1024), (at::RUN_QUEUE, u32::MAX)] {
            sums.add_unfinished(&task(phase, call), 4_000_000_000);
        }
        // Its last event was after the end.
        sums.add_unfinished(&task(at::ON_CPU, 1024), 2_000_000_000);
        let report = sums.report(true);
        let times = report.times;
        assert_eq!((times.on_cpu_s, times.run_queue_s, times.blocked_s, times.lifetime_s), (1.0, 1.0, 2.0, 14.0));
        assert_eq!(times.blocked_outside_calls_s, 1.0);
        let spent = Spent { time_s: 2.0, blocked_s: 1.0, times_blocked: 1 };
        assert_eq!(report.syscalls["read"], SyscallSums { count: 0, spent });
    }

    #[test]
    fn too_few_bytes_are_no_fault() {
        let mut sums = Sums::new();
        sums.add(&[1, 2, 3]);
        sums.add(&[1; 20]);
        assert_eq!(sums.report(false).syscalls, BTreeMap::new());
    }
}
