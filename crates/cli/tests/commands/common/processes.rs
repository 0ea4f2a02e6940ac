//! Processes that a command of ours has started, and what is done to them.

use bakeoff_model::shuffle::Stream;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Sends a signal by its name, such as `-KILL`; to nobody, if it has gone.
pub fn signal(name: &str, pid: u32) {
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// The children of a process.
pub fn children(pid: u32) -> Vec<u32> {
    // Each thread has children of its own.
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// Processes that have this folder in their environment: ours have their home, their prefix or our cache there.
pub fn alive_in(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let read = |path: &Path, name: &str| {
        String::from_utf8_lossy(&fs::read(path.join(name)).unwrap_or_default()).replace('\0', " ")
    };
    let ours = entries.filter(|path| read(path, "environ").contains(&folder));
    ours.map(|path| format!("{} {}", path.display(), read(&path, "cmdline"))).collect()
}

/// How often is looked for processes before a test gives up. A look reads all of `/proc`, so it takes its time with the machine.
pub const LOOKS: u32 = 20_000;

/// Fails unless all processes with this folder in their environment end.
#[track_caller]
pub fn nothing_stays_in(folder: &Path) {
    assert!((0..LOOKS).any(|_| alive_in(folder).is_empty()), "{:#?}", alive_in(folder));
}

/// Starts a command ten times, and kills it at random moments, its whole process group with it.
pub fn kill_ten_times(stream: &mut Stream, most_ms: u64, command: impl Fn() -> Command) {
    let mut killed = 0;
    for _ in 0..10 {
        let mut command = command();
        let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The moment is what is varied here; nothing is waited for.
        std::thread::sleep(Duration::from_millis(20 + stream.below(most_ms)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status().unwrap();
        child.wait().unwrap();
    }
    assert!(killed > 4, "only {killed} were killed before they ended");
}
