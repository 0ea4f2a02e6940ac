//! What every truth test needs: the C program, a launcher and a folder for it, and a place for what must be skipped.

use bakeoff_host::{Command, End, Job, JobEnded, Launcher, Limits, Options, Patience};
use bakeoff_model::metric::METRICS;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) const MIB: f64 = 1_048_576.0;

/// For how long, in seconds, a process sleeps that is to be killed; and what counts as not having waited for it.
pub(crate) const LONG_S: f64 = 120.0;
pub(crate) const NOT_LONG_S: f64 = 90.0;

/// Says that something is not shown here. Past the harness, which keeps what is printed of tests that pass to itself.
pub(crate) fn skipped(what: &str, why: &str) {
    // If standard error is gone, nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}

/// A launcher and an empty folder for what it runs.
pub(crate) struct Place {
    dir: TempDir,
    pub(crate) launcher: Launcher,
    program: &'static Path,
}

impl Place {
    /// None if there is no C compiler; it has said so then.
    pub(crate) fn new() -> Option<Self> {
        let program = program()?;
        let wanted: Vec<&str> = METRICS.iter().map(|metric| &*metric.name).collect();
        let launcher = Launcher::start_with(&Options { watched: Some(&wanted), ..Options::default() }).unwrap();
        Some(Self { dir: tempfile::tempdir().unwrap(), launcher, program })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Any command, with its standard output in `out` and little in its environment.
    pub(crate) fn command(&self, argv: &[&str]) -> Command {
        Command {
            argv: argv.iter().map(ToString::to_string).collect(),
            dir: self.dir.path().to_owned(),
            env: BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())]),
            stdin: None,
            stdout: self.path("out"),
            stderr: self.path("err"),
        }
    }

    /// A subcommand of the C program, by its words.
    pub(crate) fn known(&self, words: &str) -> Command {
        let program = self.program.to_str().unwrap();
        self.command(&[program].into_iter().chain(words.split(' ')).collect::<Vec<_>>())
    }

    /// Runs a job.
    pub(crate) fn execute(&mut self, job: &Job) -> JobEnded {
        self.launcher.launch(job).unwrap();
        self.launcher.wait(Patience::SecondInterrupt).unwrap()
    }

    /// Runs a subcommand of the C program within limits; it must exit with 0.
    pub(crate) fn within(&mut self, limits: Limits, words: &str) -> JobEnded {
        let job = Job { commands: vec![self.known(words).into()], limits, ..Job::default() };
        let ended = self.execute(&job);
        assert_eq!(ended.processes.len(), 1, "{ended:?}");
        let said = std::fs::read_to_string(self.path("err")).unwrap_or_default();
        assert_eq!(ended.processes[0].end, End::Exited(0), "{words}: {said}");
        ended
    }

    /// The same without limits.
    pub(crate) fn ended(&mut self, words: &str) -> JobEnded {
        self.within(Limits::default(), words)
    }

    /// The numbers that were printed.
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        self.read(name).split_whitespace().map(|word| word.parse().unwrap()).collect()
    }

    /// What was measured. What was not must be among what cannot be measured here, and is skipped for that reason:
    /// one that lacks without a word is a fault.
    pub(crate) fn measured(&self, ended: &JobEnded, metric: &str) -> Option<f64> {
        if let Some(&value) = ended.measurements.get(metric) {
            return Some(value);
        }
        let unavailable = self.launcher.unavailable();
        let entry = unavailable.iter().find(|entry| entry.metrics.iter().any(|name| name == metric));
        let entry = entry.unwrap_or_else(|| panic!("{metric} was not measured, and nothing says why: {ended:?}"));
        assert!(!entry.why.trim().is_empty(), "{metric} is unavailable without a reason");
        skipped(metric, &entry.why);
        None
    }

    /// Whether these limits can be had here; says why not.
    pub(crate) fn can(&self, limits: &Limits) -> bool {
        let refused = self.launcher.refused(limits);
        for (what, why) in &refused {
            assert!(!why.trim().is_empty(), "{what} is refused without a reason");
            skipped(what, why);
        }
        refused.is_empty()
    }
}

/// The C program, compiled when it is first asked for; none if there is no compiler.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(compile).as_deref();
    if program.is_none() {
        skipped("all that needs a program of its own", "no C compiler: `cc` cannot be executed");
    }
    program
}

/// Where the program goes. Whoever runs this test once more, as someone else, says where: it removes it afterwards.
fn folder() -> PathBuf {
    match crate::everywhere::inner() {
        Some(folder) => folder,
        None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
    }
}

fn compile() -> Option<PathBuf> {
    let source = folder().join(format!("truth-{}.c", std::process::id()));
    let (made, program) = (source.with_extension(""), folder().join("truth"));
    std::fs::write(&source, include_str!("truth.c")).unwrap();
    let cc = |more: &[&str]| {
        let mut cc = std::process::Command::new("cc");
        cc.args(["-O2", "-o"]).arg(&made).arg(&source).args(more).stderr(std::process::Stdio::null());
        cc.status().ok().map(|status| status.success())
    };
    // A static program needs the least itself; not every system has a C library for one.
    let compiled = cc(&["-static"]).map(|done| done || cc(&[]) == Some(true));
    std::fs::remove_file(&source).unwrap();
    assert_ne!(compiled, Some(false), "cc is there, but cannot compile truth.c");
    compiled.filter(|&done| done)?;
    // Another process may be about to compile the same.
    std::fs::rename(&made, &program).unwrap();
    Some(program)
}

/// That a value is within bounds.
pub(crate) fn within(what: &str, value: f64, [low, high]: [f64; 2]) {
    assert!((low..=high).contains(&value), "{what}: {value} is not within {low} … {high}");
}
