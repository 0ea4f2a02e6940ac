//! Kills and reaps every child of this process, until there is none. In a launcher, which is a child subreaper
//! (prctl(2)), every orphan of the trial becomes a child sooner or later, whatever session it fled to. Only the
//! launcher may call it.

use crate::files::Files;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait, waitpid};

/// This process may not be killed by us.
#[derive(Debug)]
pub(super) struct Unkillable(pub(super) Pid);

/// Kills them all; the number of those that were alive and are dead now.
pub(super) fn sweep() -> Result<u32, Unkillable> {
    let mut killed = 0;
    let mut note = |status: WaitStatus| killed += u32::from(status.terminating_signal() == Some(Signal::KILL.as_raw()));
    loop {
        let children = children();
        for &child in &children {
            if kill_process(child, Signal::KILL) == Err(Errno::PERM) {
                return Err(Unkillable(child));
            }
        }
        // None of these waits lasts: each has been killed. Its own children are ours from then on.
        for &child in &children {
            if let Ok(Some((_, status))) = waitpid(Some(child), WaitOptions::empty()) {
                note(status);
            }
        }
        // The list may miss children that move while it is read (proc(5)); this call misses none.
        match wait(WaitOptions::NOHANG) {
            Ok(Some((_, status))) => note(status),
            Err(Errno::CHILD) => return Ok(killed),
            Ok(None) | Err(_) => {}
        }
    }
}

/// The children of this single-threaded process.
fn children() -> Vec<Pid> {
    let me = getpid();
    let files = Files::here();
    let path = format!("proc/self/task/{me}/children");
    if !files.exists(&path) {
        return children_by_scan(&files, me);
    }
    files.read(&path).unwrap_or_default().split_whitespace().filter_map(pid).collect()
}

/// The same for kernels without CONFIG_PROC_CHILDREN, by looking at every process.
fn children_by_scan(files: &Files, parent: Pid) -> Vec<Pid> {
    let parent = parent.to_string();
    let is_child = |name: &String| files.field(&format!("proc/{name}/status"), "PPid").as_ref() == Some(&parent);
    files.names("proc").into_iter().filter(is_child).filter_map(|name| pid(&name)).collect()
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scan_finds_a_child() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = children_by_scan(&Files::here(), getpid());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&Pid::from_child(&child)), "{found:?}");
    }
}
