//! A launcher, the log that everything it starts prints to, and what the end of a process means. All processes of
//! this crate but `tool --version` go through a [`Shell`]. It decides nothing about what is run.

use crate::error::{At, Error, Failure};
use crate::files::{fresh_folder, wipe};
use bakeoff_host::lock::Lock;
use bakeoff_host::{Command, Enclosure, End, Ended, Launcher, Limits, Options, Patience};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// How many of a log's last lines a failure shows.
const TAIL_LINES: usize = 20;

/// How the lines of a log begin that are ours.
pub(crate) const NOTE: &str = "bakeoff: ";

/// No more of a log than this is read for its last lines.
const TAIL_BYTES: u64 = 32 * 1024;

/// Environment variables by name.
pub(crate) type Environment = BTreeMap<String, String>;

/// A launcher with a log.
pub(crate) struct Shell {
    launcher: Launcher,
    log: PathBuf,
    /// What the present command prints. A file of its own, because the launcher empties it first.
    output: PathBuf,
    /// What takes longer is killed, in seconds.
    pub(crate) timeout_s: Option<f64>,
}

impl Shell {
    /// Starts a launcher and a new log. The launcher shares the lock, so that nobody else can begin before all that
    /// it starts is dead.
    pub(crate) fn start(lock: &Lock, log: PathBuf) -> Result<Self, Error> {
        File::create(&log).at("write", &log)?;
        let output = log.with_extension("output");
        Ok(Self { launcher: enclosed(lock)?, log, output, timeout_s: None })
    }

    /// Writes a line of our own to the log, or several.
    pub(crate) fn note(&self, lines: &str) -> Result<(), Error> {
        self.append(NOTE, lines.lines())
    }

    fn append<'l>(&self, start: &str, mut lines: impl Iterator<Item = &'l str>) -> Result<(), Error> {
        let log = File::options().append(true).open(&self.log);
        log.and_then(|mut log| lines.try_for_each(|line| writeln!(log, "{start}{line}"))).at("write", &self.log)
    }

    /// Runs a program to its end.
    pub(crate) fn execute(&mut self, argv: &[&str], dir: &Path, env: &Environment) -> Result<Ended, Error> {
        let command = Command {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            dir: dir.to_owned(),
            env: env.clone(),
            stdin: None,
            stdout: self.output.clone(),
            stderr: self.output.clone(),
        };
        let limits = Limits { timeout_s: self.timeout_s, ..Limits::default() };
        let ended = self.launcher.execute_within(&limits, &command, Patience::FirstInterrupt)?;
        self.keep_output()?;
        match ended.end {
            End::Interrupted => Err(Error::Interrupted),
            _ => Ok(ended),
        }
    }

    fn keep_output(&self) -> Result<(), Error> {
        if !self.output.exists() {
            return Ok(()); // nothing was started
        }
        let append =
            || std::io::copy(&mut File::open(&self.output)?, &mut File::options().append(true).open(&self.log)?);
        let appended = append().at("append the output to", &self.log);
        // Also where there was no space for it in the log: that is the more reason to free what it takes.
        fs::remove_file(&self.output).at("remove", &self.output)?;
        appended.map(drop)
    }

    /// Writes lines to the log as if what is run had printed them.
    pub(crate) fn show(&self, lines: &[String]) -> Result<(), Error> {
        self.append("", lines.iter().map(String::as_str))
    }

    /// What is wrong with an end, as [`complaint`] says it, and the remedy if it took too long.
    pub(crate) fn complaint(&self, end: &End) -> Option<String> {
        match (end, self.timeout_s) {
            (End::TimedOut, Some(timeout_s)) => Some(format!(
                "did not end within its `timeout` of {timeout_s} s and was killed; if it needs longer, raise the \
                 timeout"
            )),
            _ => complaint(end),
        }
    }

    /// A failure with the last lines of what was printed; where the remains are stands in the log.
    pub(crate) fn failure(&self, why: String, remains: &Path) -> Result<Failure, Error> {
        self.note(&format!("failed: {why}"))?;
        self.note(&format!("the unfinished files stay in {} until the next attempt", remains.display()))?;
        let tail = tail(&self.log).at("read", &self.log)?;
        Ok(Failure { why, tail, log: Some(self.log.clone()) })
    }
}

/// What every process of a build gets, whatever it is for.
pub(crate) fn basic_environment() -> Environment {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut env: Environment = [("PATH".to_owned(), path), ("LC_ALL".to_owned(), "C".to_owned())].into();
    env.extend(crate::rustup::variables());
    env
}

/// A launcher of which nothing stays, whatever becomes of us. It keeps the lock as long as anything of it lives.
fn enclosed(lock: &Lock) -> Result<Launcher, bakeoff_host::Error> {
    let keep = Some(lock.as_fd());
    Launcher::start_with(&Options { keep, watched: None, within: Some(&Enclosure::open(keep)) })
}

/// What a short question was answered.
pub(crate) struct Answer {
    /// Whether it could be answered.
    pub(crate) is_answer: bool,
    /// What was printed then.
    pub(crate) out: Vec<u8>,
    /// What was complained about.
    pub(crate) err: String,
}

/// Runs a program that answers a question by what it prints; `work` is a folder that is made for that.
pub(crate) fn answer(
    lock: &Lock,
    work: &Path,
    argv: Vec<String>,
    dir: &Path,
    env: Environment,
) -> Result<Answer, Error> {
    fresh_folder(work)?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| work.join(name));
    let command =
        Command { argv, dir: dir.to_owned(), env, stdin: None, stdout: stdout.clone(), stderr: stderr.clone() };
    let ended = enclosed(lock)?.execute(&command, Patience::FirstInterrupt)?;
    if ended.end == End::Interrupted {
        return Err(Error::Interrupted);
    }
    let is_answer = ended.end == End::Exited(0);
    let out = if is_answer { fs::read(&stdout).at("read", &stdout)? } else { vec![] };
    let err = String::from_utf8_lossy(&fs::read(&stderr).unwrap_or_default()).trim().to_owned();
    wipe(work)?;
    Ok(Answer { is_answer, out, err })
}

/// What is wrong with an end, in words that follow the name of what ended; none if it succeeded.
pub(crate) fn complaint(end: &End) -> Option<String> {
    match end {
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("exited {code}")),
        End::Signalled(signal) => Some(format!("was killed by signal {signal}")),
        End::NotStarted { what, why } => Some(format!("could not start: {what}: {why}")),
        End::Interrupted => Some("was interrupted".to_owned()),
        End::TimedOut => Some("took too long".to_owned()),
        End::OutOfMemory => Some("used too much memory".to_owned()),
    }
}

/// The last lines of a log, without our own: the failure's reason says what they say. A line that was overprinted, as
/// progress bars are, counts as what is left to see of it.
fn tail(path: &Path) -> std::io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let start = fs::metadata(path)?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![];
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let seen = text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line).trim_end());
    let theirs = seen.filter(|line| !line.is_empty() && !line.starts_with(NOTE));
    let lines: Vec<String> = theirs.map(str::to_owned).collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_what_one_would_see_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let check = |content: &[u8], expect: &[&str]| {
            fs::write(&log, content).unwrap();
            assert_eq!(tail(&log).unwrap(), expect);
        };
        check(b"", &[]);
        check(b"one\n\n  two\n", &["one", "  two"]);
        check(b"10%\r50%\r100%\ndone\xff", &["100%", "done\u{fffd}"]);

        let long: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        let last: Vec<String> = (9_980..10_000).map(|n| format!("line {n}")).collect();
        check(long.as_bytes(), &last.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
