//! A scratch folder with commands to run in it.

use bakeoff_host::{Command, End, Ended, Launcher, Patience};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use tempfile::TempDir;

/// For how long, in seconds, a process sleeps that is to be killed; and what counts as not having waited for it.
pub(crate) const LONG_S: u64 = 120;
pub(crate) const NOT_LONG_S: u64 = 90;
/// Metrics for which a job gets a control group of its own.
pub(crate) const GROUP: &[&str] = &["cgroup_cpu", "cgroup_peak", "pids_peak", "pressure_cpu"];

pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        // A case that waits for what never comes fails with all others, rather than wait for ever.
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            std::thread::spawn(|| {
                std::thread::sleep(std::time::Duration::from_secs(2 * LONG_S));
                std::process::exit(101);
            });
        });
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn command(&self, argv: &[&str]) -> Command {
        command_in(self.dir(), argv)
    }

    pub(crate) fn sh(&self, script: &str) -> Command {
        self.command(&["sh", "-c", script])
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Whether there is a Perl; says so if not.
    pub(crate) fn has_perl(&self) -> bool {
        let ended = execute(&self.command(&["perl", "-e", "1"]));
        if let End::NotStarted { what, why } = &ended.end {
            println!("skipped: {what}: {why}");
        }
        ended.end == End::Exited(0)
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

/// A command with standard output in `out` and standard error in `err`, and little in its environment.
pub(crate) fn command_in(dir: &Path, argv: &[&str]) -> Command {
    Command {
        argv: argv.iter().map(ToString::to_string).collect(),
        dir: dir.to_owned(),
        env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
        stdin: None,
        stdout: dir.join("out"),
        stderr: dir.join("err"),
    }
}

/// Runs a command with a launcher of its own.
pub(crate) fn execute(command: &Command) -> Ended {
    Launcher::start(None).unwrap().execute(command, Patience::SecondInterrupt).unwrap()
}

/// Whether a process is there, if only as a zombie.
pub(crate) fn exists(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// The reading end of a FIFO: opening waits for a writer, lines for being written, the end for the death of all
/// that could write.
pub(crate) struct Listener(BufReader<File>);

impl Listener {
    pub(crate) fn open(path: &Path) -> Self {
        Self(BufReader::new(File::open(path).unwrap()))
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    pub(crate) fn end(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}
