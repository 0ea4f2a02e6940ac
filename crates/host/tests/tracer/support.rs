//! What every test of the tracer needs: a folder, the C program, and the tracer itself, which is this very executable.

use bakeoff_host::tracer::{Calls, Census};
use bakeoff_host::tracer::{Order, TraceReport, Used};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The first word by which this executable is the tracer; the second is the order.
pub(crate) const TRACE: &str = "trace-this";

/// Says that something is not shown here.
pub(crate) fn skipped(what: &str, why: &str) {
    // If standard error is gone, nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}

/// Where something is traced.
pub(crate) struct Place {
    dir: TempDir,
    pub(crate) env: BTreeMap<String, String>,
}

/// What came of it.
pub(crate) struct Ended {
    pub(crate) told: TraceReport,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { dir: tempfile::tempdir().unwrap(), env }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    /// The path of the C program; none if there is no static C library, and that has been said.
    pub(crate) fn program(&self) -> Option<String> {
        let (source, program) =
            (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tracer/traced.c"), self.path("traced"));
        let compiled = Command::new("cc").args(["-O1", "-static", "-pthread", "-o"]).arg(&program).arg(source).output();
        match compiled {
            Ok(Output { status, .. }) if status.success() => Some(program.display().to_string()),
            Ok(output) => {
                skipped("what a static program does", &String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skipped("what a static program does", &format!("cc: {error}"));
                None
            }
        }
    }

    /// A tracer that is about to begin, and where it tells what it saw.
    pub(crate) fn tracer(&self, argv: &[&str]) -> (Command, PathBuf) {
        self.tracer_during(argv, None)
    }

    /// The same, of one that tells only what happens while there is a file of that name.
    pub(crate) fn tracer_during(&self, argv: &[&str], during: Option<&str>) -> (Command, PathBuf) {
        let output = self.path("told.json");
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        let during = during.map(|name| self.path(name));
        let (env, output_file) = (self.env.clone(), output.clone());
        let order = Order { argv, env, output: output_file, during, ..Order::default() };
        let path = self.path("order.json");
        fs::write(&path, serde_json::to_vec(&order).unwrap()).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(TRACE).arg(path).env_clear().current_dir(self.dir.path()).stdin(Stdio::null());
        (command, output)
    }

    /// Which files a command uses; none if nothing may be filtered here, and that has been said.
    pub(crate) fn files(&self, argv: &[&str]) -> Option<(Used, Option<i32>)> {
        let (mut tracer, told) = self.tracer(argv);
        let path = self.path("order.json");
        let order: Order = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        fs::write(&path, serde_json::to_vec(&Order { files: true, ..order }).unwrap()).unwrap();
        let ended = Ended::of(&tracer.output().unwrap(), &told);
        match ended.told {
            TraceReport::Used(used) => Some((used, ended.code)),
            TraceReport::Refused { why } => {
                skipped("which files are used", &why);
                None
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn trace(&self, argv: &[&str]) -> Ended {
        let (mut tracer, told) = self.tracer(argv);
        Ended::of(&tracer.output().unwrap(), &told)
    }
}

impl Ended {
    pub(crate) fn of(output: &Output, told: &Path) -> Self {
        let text = fs::read(told).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        Self {
            told: serde_json::from_slice(&text).unwrap(),
            code: output.status.code(),
            signal: output.status.signal(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
        }
    }

    pub(crate) fn traced(&self) -> &Census {
        match &self.told {
            TraceReport::Seen(census) => census,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn calls(&self, name: &str) -> (u64, u64) {
        let Calls { count, errors } = self.traced().syscalls.get(name).copied().unwrap_or_default();
        (count, errors)
    }

    /// How often a path was there, and was not.
    pub(crate) fn looked_for(&self, path: &str) -> (u64, u64) {
        let opened = self.traced().opened.iter().find(|opened| opened.path == path);
        opened.map_or((0, 0), |opened| (opened.found, opened.missed))
    }

    /// Whether a file whose path has this part was mapped, and executable.
    pub(crate) fn executes(&self, part: &str) -> bool {
        self.traced().mapped.iter().any(|mapped| mapped.path.contains(part) && mapped.executable)
    }

    pub(crate) fn maps(&self, path: &str) -> bool {
        self.traced().mapped.iter().any(|mapped| mapped.path == path)
    }
}

/// What `strace -f -c` counts of the same command, as (calls, errors) by name; none if it is not there or may not trace.
pub(crate) fn strace(place: &Place, argv: &[&str]) -> Option<BTreeMap<String, (u64, u64)>> {
    let counts = place.path("strace.txt");
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-U", "calls,errors,name", "-o"]).arg(&counts).args(argv);
    command.env_clear().envs(&place.env).current_dir(place.dir.path()).stdin(Stdio::null());
    if let Err(error) = command.output() {
        skipped("what strace counts", &error.to_string());
        return None;
    }
    let text = fs::read_to_string(counts).unwrap_or_default();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, numbers) = words.split_last()?;
        let mut numbers = numbers.iter().map(|number| number.parse::<u64>());
        let count = numbers.next()?.ok()?;
        Some(((*name).to_owned(), (count, numbers.next().and_then(Result::ok).unwrap_or(0))))
    };
    let mut counts: BTreeMap<_, _> = text.lines().filter_map(row).collect();
    counts.remove("total");
    if counts.is_empty() {
        skipped("what strace counts", "it counted nothing");
        return None;
    }
    Some(counts)
}
