//! What every test of the census needs: the C programs, a process that waits until it is watched, and the tracer.

use bakeoff_host::tracer::{Order, TraceReport};
use bakeoff_why::census::{Detail, Refused, Report, Watch};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The program of the tracer's tests, from the folder of ours.
const OF_TRACER: &str = "../../../crates/host/tests/tracer/traced.c";

/// Waits for a byte, and becomes the program that follows.
const BECOME: &str = "wait-and-become";
/// Is the tracer; the order follows.
const TRACE: &str = "trace-this";
/// Watches the process that follows for a moment, or says why it cannot.
const WATCH: &str = "watch-this";
/// Runs what follows, watched as the first word says, and prints the report. For measuring.
const RUN: &str = "run-watched";
pub(crate) const WORDS: [&str; 4] = [BECOME, TRACE, WATCH, RUN];

pub(crate) fn become_helper(word: &str, rest: &[String]) -> i32 {
    match word {
        BECOME => {
            std::io::stdin().read_exact(&mut [0]).unwrap();
            let refused = Command::new(&rest[0]).args(&rest[1..]).stdin(Stdio::null()).exec();
            panic!("{}: {refused}", rest[0]);
        }
        TRACE => bakeoff_host::tracer::execute(rest[0].as_ref()).unwrap(),
        WATCH => {
            match Watch::start(rest[0].parse().unwrap(), Detail::Times) {
                Ok(_) => println!("watched"),
                Err(refused) => println!("{refused}"),
            }
            0
        }
        _ => {
            let detail = if rest[0] == "path" { Detail::Path } else { Detail::Times };
            let argv: Vec<&str> = rest[1..].iter().map(String::as_str).collect();
            let (report, printed) = Place::new().watched(&argv, detail).unwrap();
            print!("{printed}");
            println!("{}", serde_json::to_string(&report).unwrap());
            0
        }
    }
}

/// Says that something is not shown here.
pub(crate) fn skipped(what: &str, why: &str) {
    // If standard error is gone, nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}

/// A watch, unless that is refused here, which is said then.
pub(crate) fn watch(pid: u32, detail: Detail) -> Option<Watch> {
    match Watch::start(pid, detail) {
        Ok(watch) => Some(watch),
        Err(refused @ (Refused::NotPermitted | Refused::NoBpf | Refused::NoTypes { .. })) => {
            skipped("what the census counts", &refused.to_string());
            None
        }
        Err(refused) => panic!("{refused}"),
    }
}

/// This executable, in one of its roles.
pub(crate) fn helper(word: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(word).env_clear().envs(environment());
    command
}

fn environment() -> BTreeMap<String, String> {
    let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")];
    env.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// A watcher of a process.
pub(crate) fn watcher(of: u32) -> Command {
    let mut command = helper(WATCH);
    command.arg(of.to_string());
    command
}

pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a file of a folder of tests; none if that cannot be done, which is said then.
    pub(crate) fn compiled(&self, source: &str, options: &[&str]) -> Option<String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
        let program = self.path("program");
        let compiled = Command::new("cc").args(options).arg("-o").arg(&program).arg(source).output();
        match compiled {
            Ok(output) if output.status.success() => Some(program.display().to_string()),
            Ok(output) => {
                skipped("what a program of our own does", &String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skipped("what a program of our own does", &format!("cc: {error}"));
                None
            }
        }
    }

    pub(crate) fn program(&self) -> Option<String> {
        self.compiled("census/census.c", &["-O1", "-static", "-pthread"])
    }

    pub(crate) fn program_of_tracer(&self) -> Option<String> {
        self.compiled(OF_TRACER, &["-O1", "-static", "-pthread"])
    }

    /// What a program does, and what it prints; none if nothing may be watched here.
    pub(crate) fn watched(&self, argv: &[&str], detail: Detail) -> Option<(Report, String)> {
        let mut command = helper(BECOME);
        command.args(argv).current_dir(self.dir.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let Some(watch) = watch(child.id(), detail) else {
            end(&mut child);
            return None;
        };
        child.stdin.take().unwrap().write_all(&[1]).unwrap();
        let mut printed = String::new();
        child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        child.wait().unwrap();
        Some((watch.finish().unwrap(), printed))
    }

    /// How often each call is made as the tracer counts, and how many tasks there are.
    pub(crate) fn traced(&self, argv: &[&str]) -> Option<(BTreeMap<String, u64>, u64)> {
        let output = self.path("told.json");
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        let (env, output_file) = (environment(), output.clone());
        let order = Order { argv, env, output: output_file, ..Order::default() };
        fs::write(self.path("order.json"), serde_json::to_vec(&order).unwrap()).unwrap();
        let mut tracer = helper(TRACE);
        tracer.arg(self.path("order.json")).current_dir(self.dir.path()).stdin(Stdio::null()).output().unwrap();
        match serde_json::from_slice::<TraceReport>(&fs::read(output).unwrap()).unwrap() {
            TraceReport::Seen(census) => {
                Some((census.syscalls.into_iter().map(|(name, calls)| (name, calls.count)).collect(), census.tasks))
            }
            other => {
                skipped("what the tracer counts", &format!("{other:?}"));
                None
            }
        }
    }
}

/// Kills a process that is not needed any more.
pub(crate) fn end(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

pub(crate) fn count(report: &Report, call: &str) -> u64 {
    report.syscalls.get(call).map_or(0, |sums| sums.count)
}

/// That a value is within bounds.
pub(crate) fn within(what: &str, value: f64, [low, high]: [f64; 2]) {
    assert!((low..=high).contains(&value), "{what}: {value} is not within {low} … {high}");
}
