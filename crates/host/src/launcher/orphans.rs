//! What a launcher leaves that was itself killed: the processes of its job become our children, and are killed here. It
//! works as long as we live; what nobody lives to kill is not known here.

use super::tree::children;
use crate::files::Files;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getsid, kill_process, set_child_subreaper, waitpid};

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
    let ours = getsid(None).ok();
    let is_orphan = |pid: &Pid| {
        getsid(Some(*pid)).ok() != ours
            && began(&files, pid.as_raw_pid().unsigned_abs()).is_none_or(|at| Some(at) >= since)
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

/// When a process began, in ticks since the machine did (proc_pid_stat(5): starttime).
pub(super) fn began(files: &Files, pid: u32) -> Option<u64> {
    let stat = files.read(&format!("proc/{pid}/stat"))?;
    stat.get(stat.rfind(')')? + 1..)?.split_whitespace().nth(19)?.parse().ok()
}
