//! The benches' own tests: what they compute, and what is left of the load of `real` when that is interrupted or killed.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test ends where something is not as it should be"
)]

#[path = "../benches/peers/main.rs"]
mod peers;
#[path = "../benches/real/main.rs"]
mod real;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How often it is looked for processes before a test gives up: a look reads all of `/proc`, so this is no question of a
/// second or two on any machine.
const LOOKS: u32 = 20_000;

/// Not a test: `real` as a process of its own, with numbers from the environment.
#[test]
#[ignore = "other tests start it"]
fn real_as_a_process() {
    real::main();
}

/// `real` with these variables, and a folder of its own for temporary files.
fn command(folder: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "real_as_a_process", "--ignored", "--nocapture"]).envs(variables.iter().copied());
    command.env("TMPDIR", folder).env("BAKEOFF_LOCKS", folder).current_dir(folder);
    command
}

/// Files of the folder but for locks, which stay.
fn left_in(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.ends_with(".lock")).count()
}

#[test]
fn real_studies_are_executed_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("STUDIES", "20"), ("BLOCKS", "6"), ("COMMAND", "true"), ("LOAD", "1")];
    let output = command(folder.path(), &variables).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["of 20 real studies", "ours: randomised blocks 20", "AAAA BBBB, pooled t 20", "our blocks, pooled t 20"]
    {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(text.contains("the command 12 times") && !text.contains("left out"), "{text}");
    assert_eq!(output.status.code(), Some(i32::from(text.contains("does NOT hold"))), "{text}");
    assert_eq!(left_in(folder.path()), 0);
}

#[test]
fn a_command_that_fails_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &[("COMMAND", "exit 3"), ("LOAD", "0")]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("the command fails: exited with code 3"), "{text}");
    assert_eq!(left_in(folder.path()), 0);
}

/// Processes with the folder's name in their command line, other than the one that was started here.
fn of_folder(folder: &Path, child: &Child) -> usize {
    let name = folder.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let line = fs::read(path.join("cmdline")).ok()?;
        (path.file_name()?.to_str()? != child.id().to_string()).then_some(line)
    });
    processes.filter(|line| String::from_utf8_lossy(line).contains(&name)).count()
}

fn begin_and_wait_for_load(folder: &Path) -> Child {
    let variables = [("STUDIES", "1000000"), ("COMMAND", "true"), ("LOAD", "2")];
    let mut child = command(folder, &variables).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_loaded = (0..LOOKS).any(|_| of_folder(folder, &child) >= 3);
    assert!(is_loaded, "{:?}", child.kill());
    child
}

#[test]
fn an_interrupt_ends_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin_and_wait_for_load(folder.path());
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(of_folder(folder.path(), &child), 0);
    assert_eq!(left_in(folder.path()), 0);
}

/// The launcher sees that its owner is gone.
#[test]
fn a_kill_ends_the_load_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = begin_and_wait_for_load(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((0..LOOKS).any(|_| of_folder(folder.path(), &child) == 0), "the load goes on");
}
