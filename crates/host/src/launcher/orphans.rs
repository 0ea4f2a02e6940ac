//! A killed launcher's processes become our children, and are killed here for as long as we live.

use super::tree::children;
use crate::files::Files;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

/// A program that makes processes faster than they are killed is given up after this number of attempts.
const MOST_TIMES: u32 = 10_000;

/// From now on whatever loses its parent below us becomes our child (prctl(2), PR_SET_CHILD_SUBREAPER).
pub(super) fn adopt() {
    // Where the kernel does not know it, init gets them, as ever.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Kills and reaps the processes that have come to us from a launcher that began at `since`. A launcher is in our session,
/// and everything that it starts is in one of its own: so those of launchers that live are not meant.
pub(super) fn kill(since: Option<u64>) {
    let files = Files::here();
    let ours = session(&files, std::process::id());
    let is_orphan = |pid: &Pid| {
        let pid = pid.as_raw_pid().unsigned_abs();
        session(&files, pid) != ours && began(&files, pid).is_none_or(|at| Some(at) >= since)
    };
    for _ in 0..MOST_TIMES {
        let pids = children(&files, std::process::id()).into_iter();
        let orphans: Vec<Pid> =
            pids.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).filter(is_orphan).collect();
        if orphans.is_empty() {
            return;
        }
        for orphan in &orphans {
            let _ = kill_process(*orphan, Signal::KILL);
        }
        for orphan in orphans {
            let _ = waitpid(Some(orphan), WaitOptions::empty());
        }
    }
}

/// When a process began, in ticks since the machine did.
pub(super) fn began(files: &Files, pid: u32) -> Option<u64> {
    stat_field(files, pid, 22)
}

/// The session of a process: 0 if its leader is outside of our PID namespace, as in many containers (rustix's getsid
/// panics there).
fn session(files: &Files, pid: u32) -> Option<u64> {
    stat_field(files, pid, 6)
}

/// A field of `/proc/PID/stat` by its number in proc_pid_stat(5), from the third on.
fn stat_field(files: &Files, pid: u32, number: usize) -> Option<u64> {
    let stat = files.read(&format!("proc/{pid}/stat"))?;
    // The name of the program, in brackets, may hold anything.
    stat.get(stat.rfind(')')? + 1..)?.split_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn session_and_start_of_a_process() {
        let files = Files::here();
        let me = std::process::id();
        let mut command = std::process::Command::new("setsid");
        command.args(["sh", "-c", "echo; read x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        assert_eq!(session(&files, child.id()), Some(u64::from(child.id())));
        assert!(began(&files, child.id()) >= began(&files, me) && began(&files, me).is_some());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(session(&files, child.id()), None);
    }
}
