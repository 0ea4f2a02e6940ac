//! This executable as the owner of a launcher, in a process that can be killed or interrupted.

use crate::support::{GROUP, NOT_LONG_S, Scratch, command_in};
use bakeoff_host::{Enclosure, Ended, Launcher, Options, Patience, interrupt, lock::Lock};
use std::fmt::Write as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// In the environment of such a process: how patient it is.
const PATIENCE: &str = "OWNER_PATIENCE";
/// Set if probes watch.
const WATCHED: &str = "OWNER_WATCHED";
/// Set if it starts everything in an enclosure: `namespace` or `marked`.
const ENCLOSED: &str = "OWNER_ENCLOSED";
/// And what it runs.
const SCRIPT: &str = "OWNER_SCRIPT";

pub(crate) struct Owner {
    pub(crate) process: Child,
    report: std::path::PathBuf,
}

impl Owner {
    /// Runs the script with output to `out`, holding `lock`. `patience` is `first` or `second`.
    pub(crate) fn start(scratch: &Scratch, patience: &str, script: &str) -> Self {
        Self::start_with(scratch, patience, script, &[])
    }

    /// The same, with probes.
    pub(crate) fn start_watched(scratch: &Scratch, patience: &str, script: &str) -> Self {
        Self::start_with(scratch, patience, script, &[(WATCHED, "yes")])
    }

    /// The same without probes, in an enclosure: `namespace` or `marked`.
    pub(crate) fn start_enclosed(scratch: &Scratch, kind: &str, script: &str) -> Self {
        let switch = if kind == "marked" { "off" } else { "" };
        Self::start_with(scratch, "second", script, &[(ENCLOSED, kind), ("BAKEOFF_NAMESPACES", switch)])
    }

    fn start_with(scratch: &Scratch, patience: &str, script: &str, variables: &[(&str, &str)]) -> Self {
        // A shell without job control starts what it puts into the background with interrupts ignored.
        let process = Command::new("env")
            .arg("--default-signal")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "owner::be_one_if_asked"])
            .env(PATIENCE, patience)
            .env(SCRIPT, script)
            .envs(variables.iter().copied())
            .current_dir(scratch.dir())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, report: scratch.path("report") }
    }

    /// What it was told about the script, and about a second command; and how many interrupts it counted.
    pub(crate) fn report(mut self) -> (Ended, Ended, u32) {
        assert!(self.process.wait().unwrap().success());
        let text = std::fs::read_to_string(&self.report).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let ended = |line: &str| serde_json::from_str(line).unwrap();
        (ended(lines[0]), ended(lines[1]), lines[2].parse().unwrap())
    }
}

/// The launcher of an owner that was killed holds it until nothing is left of its job.
fn lock() -> Lock {
    let begun = Instant::now();
    loop {
        match Lock::take(Path::new("lock")) {
            Ok(lock) => return lock,
            Err(error) if begun.elapsed().as_secs() >= NOT_LONG_S => panic!("{error}"),
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// No test, but the process that tests of owners start.
#[test]
fn be_one_if_asked() {
    let (Ok(patience), Ok(script)) = (std::env::var(PATIENCE), std::env::var(SCRIPT)) else { return };
    let patience = if patience == "first" { Patience::FirstInterrupt } else { Patience::SecondInterrupt };
    interrupt::install().unwrap();
    let lock = lock();
    let watched = std::env::var_os(WATCHED).map(|_| GROUP);
    let keep = Some(lock.as_fd());
    let enclosure = std::env::var_os(ENCLOSED).map(|_| Enclosure::open(keep));
    let mut launcher = Launcher::start_with(&Options { keep, watched, within: enclosure.as_ref() }).unwrap();
    let mut report = String::new();
    let mut tell = |argv: &[&str], patience| {
        let ended = launcher.execute(&command_in(Path::new("."), argv), patience).unwrap();
        writeln!(report, "{}", serde_json::to_string(&ended).unwrap()).unwrap();
    };
    tell(&["sh", "-c", &script], patience);
    tell(&["true"], Patience::FirstInterrupt);
    writeln!(report, "{}", interrupt::count()).unwrap();
    std::fs::write("report", report).unwrap();
}
