//! Where a watched tree begins: a process that is about to execute its program, or services that run already, with what
//! `/proc` tells of their threads. It knows no map.

use super::layout::{self as at, State};
use std::fs;
use std::path::{Path, PathBuf};

/// The processes with which a tree begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots<'a> {
    /// A process of one thread, which waits: watched from its next execve on, so that nothing before is counted.
    Launched(u32),
    /// Processes that run already, with all their threads, from now on; not the children that they have.
    Running(&'a [u32]),
}

/// The threads of a process; none if it is gone.
pub(super) fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return vec![] };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The state of a process that waits to execute its program.
pub(super) fn dormant(pid: u32) -> State {
    State {
        call: at::NO_CALL as u32,
        phase: at::DORMANT as u32,
        machine: at::UNKNOWN as u32,
        tid: pid,
        ..State::default()
    }
}

/// The state of a thread that runs already, and has been watched since a moment; none if it is gone. What it waits for is
/// known to root only; others get "in no call".
pub(super) fn running(tid: u32, since_ns: u64) -> Option<State> {
    // Threads have folders here too, though they are not listed.
    let folder = PathBuf::from(format!("/proc/{tid}"));
    let about = fs::read_to_string(folder.join("stat")).ok()?;
    let call = fs::read_to_string(folder.join("syscall")).ok().and_then(|text| call_in(&text));
    let machine = if is_32_bit(&folder) { at::COMPAT } else { at::NATIVE };
    Some(State {
        since_ns,
        born_ns: since_ns,
        entered_ns: since_ns,
        call: call.map_or(at::NO_CALL, |call| call | machine) as u32,
        phase: if is_ready(&about)? { at::ON_CPU } else { at::BLOCKED } as u32,
        machine: machine as u32,
        tid,
        ..State::default()
    })
}

/// Whether `stat` tells of a task that runs or could (proc_pid_stat(5)); its name may have parentheses and spaces.
fn is_ready(stat: &str) -> Option<bool> {
    let (_name, rest) = stat.rsplit_once(')')?;
    Some(rest.trim_start().starts_with('R'))
}

/// The call that a task waits in, as `syscall` tells it (proc_pid_syscall(5)): `running`, -1 or a number first.
fn call_in(syscall: &str) -> Option<i32> {
    let number: i32 = syscall.split_whitespace().next()?.parse().ok()?;
    (0..at::OTHER).contains(&number).then_some(number)
}

/// By the class in the head of the program's file; `false` if it cannot be read.
fn is_32_bit(folder: &Path) -> bool {
    use std::io::Read as _;
    const CLASS: usize = 4;
    let mut head = [0; CLASS + 1];
    fs::File::open(folder.join("exe")).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head[CLASS] == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_tells_is_read() {
        let check = |text: &str, expect| assert_eq!(is_ready(text), expect, "{text}");
        check("12 (cat) R 1 1", Some(true));
        check("12 (a) R (b) S 1 1", Some(false));
        check("12 (cat", None);
        for (text, expect) in [("7 0x1 0x2 0x3", Some(7)), ("running", None), ("-1 0x7 0x8", None), ("9999 0", None)] {
            assert_eq!(call_in(text), expect, "{text}");
        }
    }

    #[test]
    fn this_process_has_threads_and_one_that_is_not_there_has_none() {
        let own = std::process::id();
        assert!(threads(own).contains(&own));
        assert_eq!(running(own, 5).map(|state| (state.born_ns, state.machine)), Some((5, at::NATIVE as u32)));
        assert_eq!((threads(u32::MAX), running(u32::MAX, 5)), (vec![], None));
    }
}
