//! The executable of tests that asks, run once more: as one of its own tests, behind other words, as somebody else. What
//! it gets and what it says passes between the two.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An ordinary user of every system.
pub(crate) const NOBODY: u32 = 65_534;

/// A command that runs one test of this executable and shows what it prints.
pub(crate) fn test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(only(name));
    command
}

/// The same behind other words, which run what follows them.
pub(crate) fn test_behind(words: &[&str], executable: &Path, name: &str) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(executable).args(only(name));
    command
}

fn only(name: &str) -> [&str; 3] {
    ["--exact", name, "--nocapture"]
}

/// A copy of this executable in a folder, which others may run: the one that cargo built may lie where they cannot look.
pub(crate) fn copy_for_others(folder: &Path) -> PathBuf {
    let executable = folder.join("tests");
    // Not by ourselves: a process started meanwhile would hold the copy open for writing, and it could not be run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&executable).status().unwrap();
    assert!(copied.success());
    for path in [folder, &executable] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    executable
}
