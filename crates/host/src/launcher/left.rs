//! Leftovers of a command of ours that was killed with its launchers, where there are no PID namespaces: processes that
//! have our mark in their environment, and none of ours above them. One with another environment is not found.

use crate::files::Files;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

/// Stands in the environment of whatever we start, with the machine's boot: the numbers of processes begin again then.
const VARIABLE: &str = "BAKEOFF_STARTED";
/// What our programs and launchers are called.
const NAME: &str = "bakeoff";
/// How long what was killed may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// The variable with its value.
pub(super) fn mark(files: &Files) -> Option<String> {
    files.read("proc/sys/kernel/random/boot_id").map(|boot| format!("{VARIABLE}={boot}"))
}

/// Kills all processes that have this mark and have lost us; those of other users are theirs.
pub(super) fn kill(mark: &str) {
    let files = Files::here();
    let began = Instant::now();
    loop {
        let left: Vec<Pid> = processes(&files).filter(|&pid| is_left(&files, pid, mark)).filter_map(id).collect();
        // Who may not be killed is not waited for.
        let killed = left.into_iter().filter(|&pid| kill_process(pid, Signal::KILL).is_ok()).count();
        if killed == 0 || began.elapsed() > PATIENCE {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn processes(files: &Files) -> impl Iterator<Item = u32> {
    files.names("proc").into_iter().filter_map(|name| name.parse().ok())
}

fn id(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn is_left(files: &Files, pid: u32, mark: &str) -> bool {
    // A process that has ended has no environment any more.
    let environment = files.read(&format!("proc/{pid}/environ")).unwrap_or_default();
    environment.split('\0').any(|variable| variable == mark) && !above(files, pid).any(|name| name == NAME)
}

/// The names of the processes that a process comes from, the nearest first.
fn above(files: &Files, pid: u32) -> impl Iterator<Item = String> {
    let parent = |pid: &u32| -> Option<u32> {
        files.field(&format!("proc/{pid}/status"), "PPid")?.parse().ok().filter(|&pid| pid > 0)
    };
    let ancestors: Vec<u32> = std::iter::successors(parent(&pid), parent).collect();
    ancestors.into_iter().filter_map(|pid| files.field(&format!("proc/{pid}/status"), "Name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_our_mark_and_lost_us_is_left() {
        let root = tempfile::tempdir().unwrap();
        let process = |pid: u32, name: &str, parent: u32, environ: &str| {
            [("status", format!("Name:\t{name}\nPPid:\t{parent}\n")), ("environ", environ.to_owned())]
                .map(|(file, text)| (format!("proc/{pid}/{file}"), text))
        };
        let made = [
            process(1, "init", 0, ""),
            process(7, "bakeoff", 1, "A=1\0"),
            process(8, "bakeoff", 7, ""),
            process(9, "sh", 8, "A=1\0M=boot\0"),
            process(10, "sh", 9, "M=boot\0"),
            process(20, "sh", 1, "M=boot\0B=2\0"),
            process(21, "sleep", 20, "M=boot\0"),
            process(22, "bakeoff", 20, "M=boot\0"),
            process(23, "sleep", 20, "M=boots\0XM=boot\0"),
            process(24, "sleep", 22, "M=boot\0"),
        ];
        let made: Vec<(&str, &str)> = made.iter().flatten().map(|(path, text)| (&**path, &**text)).collect();
        let files = Files::made_of(root.path(), &made);
        let mut left: Vec<u32> = processes(&files).filter(|&pid| is_left(&files, pid, "M=boot")).collect();
        left.sort_unstable();
        assert_eq!(left, [20, 21, 22]);
    }
}
