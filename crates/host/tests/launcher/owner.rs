//! This executable as the owner of a launcher, in a process that can be killed or interrupted.

use crate::support::{Scratch, command_in};
use bakeoff_host::{Ended, Launcher, Patience, interrupt, lock::Lock};
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "--be-the-owner-of-a-launcher";

pub(crate) struct Owner {
    pub(crate) process: Child,
}

impl Owner {
    /// Executes the script with output to `out`, holding `lock`. `patience` is `first` or `second`.
    pub(crate) fn start(scratch: &Scratch, patience: &str, script: &str) -> Self {
        let process = Command::new(std::env::current_exe().unwrap())
            .args([ROLE, patience, script])
            .current_dir(scratch.dir())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { process }
    }

    /// What it was told about the script, and about a second command; and how many interrupts it counted.
    pub(crate) fn report(mut self) -> (Ended, Ended, u32) {
        let lines: Vec<String> =
            BufReader::new(self.process.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
        assert!(self.process.wait().unwrap().success());
        let ended = |line: &str| serde_json::from_str(line).unwrap();
        (ended(&lines[0]), ended(&lines[1]), lines[2].parse().unwrap())
    }
}

pub(crate) fn become_one_if_asked() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, role, patience, script] = &arguments[..] else { return };
    if role != ROLE {
        return;
    }
    let patience = if patience == "first" { Patience::FirstInterrupt } else { Patience::SecondInterrupt };
    interrupt::install().unwrap();
    let lock = Lock::take(Path::new("lock")).unwrap();
    let mut launcher = Launcher::start(Some(lock.as_fd())).unwrap();
    let mut tell = |argv: &[&str], patience| {
        let ended = launcher.execute(&command_in(Path::new("."), argv), patience).unwrap();
        println!("{}", serde_json::to_string(&ended).unwrap());
    };
    tell(&["sh", "-c", script], patience);
    tell(&["true"], Patience::FirstInterrupt);
    println!("{}", interrupt::count());
    std::process::exit(0);
}
