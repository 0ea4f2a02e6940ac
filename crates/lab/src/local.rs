//! This host as a place: each trial in a folder and an environment of its own, through the launcher. It compares
//! what was printed with what was expected, and measures nothing itself: that is the `host` crate's.

use crate::{Error, Execution, Executor, Task, expected};
use bakeoff_host::disk::wipe;
use bakeoff_host::{Command, End, Launcher, Patience};
use bakeoff_model::record::{Failure, Outcome, TWIN};
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Lines of standard error that a failed trial keeps.
const STDERR_LINES: usize = 10;
/// Bytes of standard error that are looked at for them.
const STDERR_BYTES: i64 = 4096;
/// With less than this, a disk is full: what most file systems hand out at the least.
const LEAST_FREE_BYTES: u64 = 4096;

/// All that this host must know to execute a plan's trials.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The folder in which trials execute: the study's own.
    pub dir: PathBuf,
    /// A folder of ours for output and for the trials' scratch folders; created where missing.
    pub scratch: PathBuf,
    /// Whether a trial gets an empty folder as `HOME` and `TMPDIR`.
    pub fresh_home: bool,
    /// The environment of every trial.
    pub environment: BTreeMap<String, String>,
    /// The baseline's display name; the twin executes what the baseline does.
    pub baseline: String,
    /// The prefix of each variant that has a build, handed to it as `PREFIX`.
    pub prefixes: BTreeMap<String, PathBuf>,
    /// A command of its own, by variant.
    pub commands: BTreeMap<String, String>,
    /// The command and the expected output, by workload.
    pub workloads: BTreeMap<String, LocalWorkload>,
}

/// A workload, as this host executes it.
#[derive(Debug, Clone, Default)]
pub struct LocalWorkload {
    /// The command.
    pub run: String,
    /// What it must print on standard output, if that is checked.
    pub expected: Option<Vec<u8>>,
}

/// Executes trials on this host.
#[derive(Debug)]
pub struct Local {
    setup: Setup,
    launcher: Launcher,
    /// Whether commands are executed by a shell: all of them, if one needs it, or the shell would be what differs.
    shell: bool,
}

impl Local {
    /// Prepares the folder for trials.
    pub fn new(setup: Setup, launcher: Launcher) -> Result<Self, Error> {
        std::fs::create_dir_all(&setup.scratch).map_err(|source| folder_error(&setup.scratch, source))?;
        let commands = setup.commands.values().chain(setup.workloads.values().map(|workload| &workload.run));
        let shell = !commands.filter(|text| !text.is_empty()).all(|text| is_plain(text));
        Ok(Self { setup, launcher, shell })
    }
}

impl Executor for Local {
    fn memory_floor_bytes(&self) -> Option<f64> {
        self.launcher.memory_floor_bytes().map(|bytes| bytes as f64)
    }

    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        let variant = if task.variant == TWIN { &self.setup.baseline } else { task.variant };
        let home = self.setup.home();
        if self.setup.fresh_home {
            // What a killed trial left must not be there for the next one.
            let emptied = wipe(&home).and_then(|()| std::fs::create_dir_all(&home));
            emptied.map_err(|source| folder_error(&home, source))?;
        }
        let command = self.setup.command(variant, &task.block.workload, self.shell);
        let ended = self.launcher.execute(&command, Patience::SecondInterrupt)?;
        let outcome = self.setup.outcome(ended.end, &task.block.workload)?;
        if matches!(outcome, Some(Outcome::Failed(_))) {
            self.setup.disk_is_not_full()?;
        }
        if self.setup.fresh_home {
            wipe(&home).map_err(|source| folder_error(&home, source))?;
        }
        let (started_unix_s, measurements, leftovers) = (ended.started_unix_s, ended.measurements, ended.leftovers);
        Ok(outcome.map(|outcome| Execution {
            started_unix_s,
            outcome,
            measurements,
            leftovers,
            ..Execution::default()
        }))
    }
}

impl Setup {
    fn command(&self, variant: &str, workload: &str, shell: bool) -> Command {
        let mut env = self.environment.clone();
        if let Some(prefix) = self.prefixes.get(variant) {
            env.insert("PREFIX".to_owned(), prefix.to_string_lossy().into_owned());
        }
        if self.fresh_home {
            for name in ["HOME", "TMPDIR"] {
                env.insert(name.to_owned(), self.home().to_string_lossy().into_owned());
            }
        }
        let stdout = if self.expected(workload).is_some() { self.stdout() } else { PathBuf::from("/dev/null") };
        let own = self.commands.get(variant);
        let text = own.or_else(|| self.workloads.get(workload).map(|w| &w.run)).map_or("", String::as_str);
        Command { argv: argv(text, shell), dir: self.dir.clone(), env, stdout, stderr: self.stderr() }
    }

    fn expected(&self, workload: &str) -> Option<&[u8]> {
        self.workloads.get(workload)?.expected.as_deref()
    }

    fn home(&self) -> PathBuf {
        self.scratch.join("home")
    }

    fn stdout(&self) -> PathBuf {
        self.scratch.join("stdout")
    }

    fn stderr(&self) -> PathBuf {
        self.scratch.join("stderr")
    }

    /// A trial that fails because its output finds no space says nothing about the program: it is not one of its trials.
    fn disk_is_not_full(&self) -> Result<(), Error> {
        match bakeoff_host::disk::free_bytes(&self.scratch) {
            Ok(free) if free < LEAST_FREE_BYTES => {
                Err(folder_error(&self.scratch, std::io::ErrorKind::StorageFull.into()))
            }
            _ => Ok(()),
        }
    }

    /// What the end of a trial amounts to; none if it was interrupted.
    fn outcome(&self, end: End, workload: &str) -> Result<Option<Outcome>, Error> {
        let failure = match end {
            End::Interrupted => return Ok(None),
            // Our own files: no fault of the program's.
            End::NotStarted { what, why }
                if [self.stdout(), self.stderr()].iter().any(|own| own.as_os_str() == what.as_str()) =>
            {
                return Err(folder_error(Path::new(&what), std::io::Error::other(why)));
            }
            // What the limits were is not known here: no limit is set here.
            End::TimedOut => Some(Failure::TimedOut { after_s: 0.0, stderr: last_lines(&self.stderr()) }),
            End::OutOfMemory => Some(Failure::OutOfMemory { limit_bytes: 0, stderr: last_lines(&self.stderr()) }),
            End::NotStarted { what, why } => Some(Failure::NotStarted { command: what, why }),
            End::Exited(0) => match self.expected(workload) {
                Some(expected) => {
                    let path = self.stdout();
                    let printed = std::fs::read(&path).map_err(|source| folder_error(&path, source))?;
                    expected::difference(expected, &printed)
                }
                None => None,
            },
            End::Exited(code) => Some(Failure::Exit { code, stderr: last_lines(&self.stderr()) }),
            End::Signalled(signal) => Some(Failure::Signal { signal, stderr: last_lines(&self.stderr()) }),
        };
        Ok(Some(failure.map_or(Outcome::Ok, Outcome::Failed)))
    }
}

fn folder_error(path: &Path, source: std::io::Error) -> Error {
    Error::Folder { path: path.to_owned(), source }
}

/// How a command text is executed: by `sh -c`, or directly.
fn argv(text: &str, shell: bool) -> Vec<String> {
    if shell {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// Whether a command is nothing but plain words, which can be executed without a shell: it dilutes a short trial.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _@%+=:,./-".contains(c);
    let first = text.split_whitespace().next().unwrap_or_default();
    text.chars().all(plain) && !first.contains('=') && !SHELL_WORDS.contains(&first)
}

/// First words that only a shell understands (POSIX.1-2024, sections 2.4 and 2.15, and the usual built-in utilities).
const SHELL_WORDS: &[&str] = &[
    "", ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
    "for", "getopts", "hash", "if", "jobs", "local", "read", "readonly", "return", "set", "shift", "times", "trap",
    "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
];

/// The last lines of a file that may be long or not be there.
fn last_lines(path: &Path) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::End(-STDERR_BYTES.min(i64::try_from(length).unwrap_or(0))))?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].iter().map(|&line| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{argv, is_plain};

    #[test]
    fn a_shell_is_used_only_where_it_is_needed() {
        for (text, expect) in [
            ("true", true),
            ("sleep  0.1", true),
            ("dd if=/dev/zero bs=1M", true),
            ("A=1 env", false),
            ("exit 3", false),
            (":", false),
            ("echo $HOME", false),
            ("ls *", false),
            ("\"$PREFIX/bin/perl\" x.pl", false),
            ("", false),
        ] {
            assert_eq!(is_plain(text), expect, "{text:?}");
        }
        assert_eq!(argv("sleep  0.1", false), ["sleep", "0.1"]);
        assert_eq!(argv("sleep  0.1", true), ["sh", "-c", "sleep  0.1"]);
    }
}
