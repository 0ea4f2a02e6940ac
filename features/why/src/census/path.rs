//! The path that ends last: from the end of a command's first thread back to its beginning. It follows a task back to when it was
//! woken, and continues at the task that woke it. If no watched task did, the wait is on the path, and made the command longer.
//! It reads the log of the kernel's programs, and no map.
//!
//! A wake-up that comes through a thread of the kernel, as from a terminal, has no watched task. If a process's first thread ends
//! before others, the path is the first thread's.

use super::layout::{self as at, State};
use super::report::{Blocked, Path, call_name, seconds};

/// Calls that only time ends, or a signal. An interrupt may have come upon a task in a call.
const TIMED: [&str; 3] = ["nanosleep", "clock_nanosleep", "clock_nanosleep_time64"];

/// Calls that only a task ends, which is in no call if a signal killed it.
const WAITING: [&str; 3] = ["wait4", "waitid", "waitpid"];

/// Numbers are used again, but not with the same birth.
type Task = (u32, u64);

/// From what was logged, in any order, and the number of the process that was launched; none if the log does not lead from its
/// end to its beginning.
pub(super) fn walk(mut log: Vec<State>, root: u32) -> Option<Path> {
    let ends = log.iter().filter(|entry| entry.phase == at::ENDED as u32 && entry.tid == root);
    let end = ends.min_by_key(|entry| entry.born_ns).copied()?;
    log.retain(|entry| entry.phase != at::ENDED as u32);
    log.sort_unstable_by_key(|entry| (task(entry), entry.woken_ns));
    let mut path = Path { total_s: seconds(end.woken_ns.saturating_sub(end.born_ns)), ..Path::default() };
    let (mut here, mut now_ns) = (task(&end), end.woken_ns);
    // Whatever the clocks say, each step leads to an earlier moment.
    while let Some(entry) = latest(&log, here, now_ns) {
        now_ns = entry.woken_ns;
        if is_by_other(entry) {
            here = (entry.by, entry.by_born_ns);
        } else {
            now_ns = now_ns.min(entry.since_ns);
            let Blocked { time_s, times } = path.blocked.entry(call_name(entry.call)).or_default();
            *time_s += seconds(entry.woken_ns - now_ns);
            *times += 1;
        }
    }
    (here == task(&end)).then_some(path)
}

fn task(entry: &State) -> Task {
    (entry.tid, entry.born_ns)
}

/// The last time before a moment when a task was woken, or began.
fn latest(log: &[State], of: Task, before_ns: u64) -> Option<&State> {
    let behind = log.partition_point(|entry| (task(entry), entry.woken_ns) < (of, before_ns));
    log[..behind].last().filter(|entry| task(entry) == of)
}

/// Whether a watched task began it or ended its wait.
fn is_by_other(entry: &State) -> bool {
    let is_in = |calls: [&str; 3]| calls.contains(&call_name(entry.call).as_str());
    let is_birth = entry.phase == at::RUN_QUEUE as u32;
    entry.by != 0 && (is_birth || is_in(WAITING) || entry.by_call != at::NO_CALL as u32 && !is_in(TIMED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use libc::{SYS_clock_nanosleep, SYS_exit_group, SYS_futex, SYS_read, SYS_wait4, SYS_write, c_long};
    use proptest::prelude::*;

    const NONE: c_long = at::NO_CALL as c_long;
    const MAIN: Task = (7, 1000);
    const PEER: Task = (8, 1010);

    fn entry(phase: i32, of: Task, woken_ns: u64) -> State {
        State { phase: phase as u32, tid: of.0, born_ns: of.1, since_ns: woken_ns, woken_ns, ..State::default() }
    }

    /// A task was blocked in a call, until one in another call woke it.
    fn woken(of: Task, call: c_long, between: [u64; 2], by: Task, by_call: c_long) -> State {
        let (call, by_call) = (call as u32, by_call as u32);
        let entry = entry(at::BLOCKED, of, between[1]);
        State { since_ns: between[0], call, by: by.0, by_born_ns: by.1, by_call, ..entry }
    }

    /// Nobody woke it.
    fn blocked(of: Task, call: c_long, between: [u64; 2]) -> State {
        woken(of, call, between, (0, 0), 0)
    }

    fn born(of: Task, parent: Task) -> State {
        State { by: parent.0, by_born_ns: parent.1, by_call: NONE as u32, ..entry(at::RUN_QUEUE, of, of.1) }
    }

    fn ended(of: Task, at_ns: u64) -> State {
        entry(at::ENDED, of, at_ns)
    }

    /// By call: for how long, in ns, and how often.
    type Waits = Vec<(String, u64, u64)>;

    /// All of the path in ns, and what is blocked on it.
    fn walked(log: &[State]) -> Option<(u64, Waits)> {
        let path = walk(log.to_vec(), MAIN.0)?;
        let ns = |time_s: f64| (time_s * 1e9).round() as u64;
        let blocked = path.blocked.into_iter().map(|(name, blocked)| (name, ns(blocked.time_s), blocked.times));
        Some((ns(path.total_s), blocked.collect()))
    }

    fn check(log: &[State], total_ns: u64, blocked: &[(&str, u64, u64)]) {
        let blocked = blocked.iter().map(|&(name, ns, times)| (name.to_owned(), ns, times)).collect();
        assert_eq!(walked(log), Some((total_ns, blocked)));
    }

    #[test]
    fn a_command_alone_is_blocked_by_nobody_else() {
        check(&[ended(MAIN, 1500)], 500, &[]);
        let log = [blocked(MAIN, SYS_read, [1100, 1150]), blocked(MAIN, NONE, [1200, 1230]), ended(MAIN, 1500)];
        check(&log, 500, &[("no call", 30, 1), ("read", 50, 1)]);
    }

    /// The child sleeps, writes to a pipe and exits: what its parent waits for is the sleep, once.
    #[test]
    fn who_waits_for_a_peer_waits_for_what_that_does() {
        let log = [
            born(PEER, MAIN),
            blocked(PEER, SYS_clock_nanosleep, [1020, 1220]),
            woken(MAIN, SYS_read, [1015, 1225], PEER, SYS_write),
            woken(MAIN, SYS_wait4, [1226, 1240], PEER, SYS_exit_group),
            ended(PEER, 1245),
            ended(MAIN, 1300),
        ];
        check(&log, 300, &[("clock_nanosleep", 200, 1)]);
        // A child that a signal kills is in no call when it exits.
        let mut killed = log;
        killed[3].by_call = NONE as u32;
        check(&killed, 300, &[("clock_nanosleep", 200, 1)]);
        // Before the child there was something else.
        let first = blocked(MAIN, SYS_read, [1002, 1009]);
        check(&[&log[..], &[first]].concat(), 300, &[("clock_nanosleep", 200, 1), ("read", 7, 1)]);
    }

    /// Three threads that sleep with a lock in turn, twice: the sum of waiting for it is on no path.
    #[test]
    fn a_convoy_is_as_long_as_what_is_done_with_the_lock() {
        let thread = |number: u64| (10 + number as u32, 1010 + number);
        let mut log: Vec<State> = (0..3).map(|number| born(thread(number), MAIN)).collect();
        for turn in 0..6_u64 {
            let (own, begin) = (thread(turn % 3), 1100 + 100 * turn);
            if turn > 0 {
                let since = if turn < 3 { 1050 } else { begin - 200 };
                log.push(woken(own, SYS_futex, [since, begin], thread((turn + 2) % 3), SYS_futex));
            }
            log.push(blocked(own, SYS_clock_nanosleep, [begin + 5, begin + 95]));
        }
        log.push(woken(MAIN, SYS_futex, [1060, 1705], thread(2), libc::SYS_exit));
        log.push(ended(MAIN, 1710));
        log.reverse();
        check(&log, 710, &[("clock_nanosleep", 540, 6)]);
    }

    /// An interrupt comes upon any task: one that computes woke nobody, and nobody ends a sleep early.
    #[test]
    fn a_timer_is_nobody() {
        let log = |call, by_call| [born(PEER, MAIN), woken(MAIN, call, [1100, 1200], PEER, by_call), ended(MAIN, 1300)];
        check(&log(SYS_read, NONE), 300, &[("read", 100, 1)]);
        check(&log(SYS_clock_nanosleep, SYS_write), 300, &[("clock_nanosleep", 100, 1)]);
        check(&log(SYS_read, SYS_write), 300, &[]);
    }

    #[test]
    fn a_path_that_does_not_lead_from_end_to_beginning_is_none() {
        assert_eq!(walked(&[]), None);
        let woken_by_peer = woken(MAIN, SYS_read, [1100, 1200], PEER, SYS_write);
        assert_eq!(walked(&[woken_by_peer, born(PEER, MAIN)]), None, "its end is missing");
        assert_eq!(walked(&[woken_by_peer, ended(MAIN, 1300)]), None, "a birth is missing");
        // A later task has its number.
        let later = (MAIN.0, 1250);
        let log = [ended(later, 1400), born(later, MAIN), blocked(later, SYS_read, [1260, 1290]), ended(MAIN, 1300)];
        check(&log, 300, &[]);
    }

    #[test]
    fn clocks_that_disagree_are_no_loop() {
        let each_other = [
            woken(MAIN, SYS_read, [1100, 1200], PEER, SYS_write),
            woken(PEER, SYS_read, [1100, 1200], MAIN, SYS_write),
        ];
        check(&[&each_other[..], &[born(PEER, MAIN), ended(MAIN, 1300)]].concat(), 300, &[]);
        check(&[blocked(MAIN, SYS_read, [1200, 1100]), ended(MAIN, 1300)], 300, &[("read", 0, 1)]);
        check(&[ended(MAIN, 900)], 0, &[]);
    }

    fn any_entry() -> impl Strategy<Value = State> {
        let task = || (7_u32..10, 0_u64..3);
        let calls = || prop_oneof![Just(SYS_read), Just(SYS_wait4), Just(SYS_clock_nanosleep), Just(NONE), Just(511)];
        (task(), task(), 0..5_i32, [0_u64..40, 0..40], calls(), calls()).prop_map(
            |(of, by, phase, between, call, by_call)| State {
                phase: phase as u32,
                ..woken(of, call, between, by, by_call)
            },
        )
    }

    proptest! {
        /// What is blocked are pieces of one line of time.
        #[test]
        fn any_log_has_an_end(log in proptest::collection::vec(any_entry(), 0..60)) {
            if let Some((_, blocked)) = walked(&log) {
                let ns: u64 = blocked.iter().map(|(_, ns, _)| ns).sum();
                prop_assert!(ns < 40, "{blocked:?}");
            }
        }
    }
}
