//! A job as the launcher wants it: programs found, files opened, strings and vectors laid out, so that it only has to
//! launch. A command that comes again, as in each block, is prepared once; only its files are opened again.

use super::marks::Marks;
use super::program::{NotStarted, Program, ProgramCache};
use super::wire::{self, Kill, NONE};
use crate::command::Command;
use crate::job::{Job, Limits};
use crate::output;
use crate::probe::Confinement;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The variable that names the descriptor for marks.
const MARKS_VARIABLE: &str = "BAKEOFF_MARKS=3";
const NULL: &str = "/dev/null";

/// A command that is ready to start, but for its files. All paths are absolute.
#[derive(Debug)]
struct Ready {
    command: Arc<Command>,
    program: Arc<Program>,
    env: Vec<String>,
    stdin: Option<PathBuf>,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// Which files a process gets as its standard input, output and error.
#[derive(Debug)]
struct Streams {
    stdin: Option<usize>,
    stdout: usize,
    stderr: usize,
}

/// Commands that were prepared before. They differ by where they are: to compare what they say takes long.
#[derive(Debug, Default)]
pub(super) struct CommandCache {
    ready: Vec<Arc<Ready>>,
    found: ProgramCache,
}

impl CommandCache {
    /// The most that are kept.
    const MOST: usize = 256;

    fn ready(&mut self, command: &Arc<Command>, mark: Option<&str>) -> Result<Arc<Ready>, NotStarted> {
        if let Some(known) = self.ready.iter().find(|known| Arc::ptr_eq(&known.command, command)) {
            return Ok(Arc::clone(known));
        }
        let ready = Arc::new(prepare(command, mark, &mut self.found)?);
        if self.ready.len() == Self::MOST {
            self.ready.clear();
        }
        self.ready.push(Arc::clone(&ready));
        Ok(ready)
    }

    /// All are prepared again: a program is not where it was.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

/// Files that are open for a job; one that several processes write to is opened once, one that they read for each.
#[derive(Debug, Default)]
struct Files {
    files: Vec<(PathBuf, Open)>,
}

#[derive(Debug)]
enum Open {
    Own(OwnedFd),
    /// The null device, which is opened for writing once and stays open.
    Null(BorrowedFd<'static>),
}

impl Open {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(file) => file.as_fd(),
            Self::Null(file) => *file,
        }
    }

    /// To be written, from its beginning.
    fn for_writing(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == NULL {
            return null().map(Self::Null);
        }
        if output::is_ours(path) {
            return Ok(Self::Own(File::options().write(true).open(path)?.into()));
        }
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        // To truncate what is empty would be written to the disk.
        let meta = file.metadata()?;
        if meta.is_file() && meta.len() > 0 {
            file.set_len(0)?;
        }
        Ok(Self::Own(file.into()))
    }
}

fn null() -> io::Result<BorrowedFd<'static>> {
    static OPEN: OnceLock<OwnedFd> = OnceLock::new();
    match OPEN.get() {
        Some(open) => Ok(open.as_fd()),
        None => {
            let file = File::options().write(true).open(NULL)?;
            Ok(OPEN.get_or_init(|| file.into()).as_fd())
        }
    }
}

impl Files {
    fn of(&mut self, ready: &Ready) -> Result<Streams, NotStarted> {
        let stdin = ready.stdin.as_deref().map(|path| self.open_input(path)).transpose()?;
        Ok(Streams { stdin, stdout: self.open(&ready.stdout)?, stderr: self.open(&ready.stderr)? })
    }

    fn open(&mut self, path: &Path) -> Result<usize, NotStarted> {
        if let Some(known) = self.files.iter().position(|(open, _)| open.as_os_str() == path.as_os_str()) {
            return Ok(known);
        }
        let file = Open::for_writing(path).map_err(|error| NotStarted::path(path, error))?;
        self.files.push((path.to_owned(), file));
        Ok(self.files.len() - 1)
    }

    fn open_input(&mut self, path: &Path) -> Result<usize, NotStarted> {
        let file = File::open(path).map_err(|error| NotStarted::path(path, error))?;
        // Under no path: nobody may write to it.
        self.files.push((PathBuf::new(), Open::Own(file.into())));
        Ok(self.files.len() - 1)
    }
}

/// Commands that are ready, with their files open.
#[derive(Debug)]
pub(super) struct Prepared {
    ready: Vec<(Arc<Ready>, Streams)>,
    files: Files,
}

/// What a job is launched with.
#[derive(Debug, Clone, Copy)]
pub(super) struct With<'f> {
    pub(super) confinement: &'f Confinement,
    /// The writing ends of the pipes, if any.
    pub(super) marks: &'f Marks,
    /// Where the launcher moves itself first.
    pub(super) warm: Option<&'f File>,
    /// The limit of each process's address space.
    pub(super) address_space: Option<u64>,
    /// What probes want to know of a process that has ended ([`wire::IO`], [`wire::WAIT`]).
    pub(super) wanted: u32,
    /// The processors that launcher and processes may use, if it was put on a single one for the launch.
    pub(super) all_cpus: Option<&'f [u32]>,
}

impl Prepared {
    /// Prepares the commands of a job, or says of each what is wrong with it. All get the mark into their environment.
    pub(super) fn new(
        commands: &[Arc<Command>],
        mark: Option<&str>,
        known: &mut CommandCache,
    ) -> Result<Self, Vec<Option<NotStarted>>> {
        let mut files = Files::default();
        let mut prepare = |command| {
            let ready = known.ready(command, mark)?;
            let streams = files.of(&ready)?;
            Ok((ready, streams))
        };
        let prepared: Vec<_> = commands.iter().map(&mut prepare).collect();
        if prepared.iter().any(Result::is_err) {
            return Err(prepared.into_iter().map(Result::err).collect());
        }
        Ok(Self { ready: prepared.into_iter().flatten().collect(), files })
    }

    pub(super) fn programs(&self) -> Vec<Arc<Program>> {
        self.ready.iter().map(|(ready, _)| Arc::clone(&ready.program)).collect()
    }

    /// The body of the request and the descriptors that go with it.
    pub(super) fn request<'f>(&'f self, job: &Job, with: &With<'f>) -> (Vec<u8>, Vec<BorrowedFd<'f>>) {
        let With { confinement, marks, warm, address_space, wanted, all_cpus } = *with;
        let mut descriptors: Vec<BorrowedFd<'f>> = self.files.files.iter().map(|(_, file)| file.as_fd()).collect();
        let mut add = |these: &mut dyn Iterator<Item = BorrowedFd<'f>>| {
            let first = descriptors.len() as u32;
            descriptors.extend(these);
            first
        };
        let first_mark = add(&mut marks.writers());
        let into = add(&mut confinement.into.iter().map(OwnedFd::as_fd));
        let first_join = add(&mut confinement.join.iter().map(OwnedFd::as_fd));
        let first_kill = add(&mut confinement.kill.iter().map(|(file, _)| file.as_fd()));
        let first_warm = add(&mut warm.into_iter().map(File::as_fd));
        let head = wire::Job {
            processes: self.ready.len() as u32,
            kills: confinement.kill.len() as u32,
            into: if confinement.into.is_some() { into } else { NONE },
            first_join,
            warm: if warm.is_some() { first_warm } else { NONE },
            joins: confinement.join.len() as u32,
            flags: wanted | if job.rounds.is_some() { wire::LOAD } else { 0 },
            address_space: address_space.unwrap_or(0),
            pace_ns: job.rounds.and_then(|again| again.pace_s).map_or(0, nanoseconds),
            ..limits(&job.limits)
        };
        let kills: Vec<Kill> = (first_kill..).zip(&confinement.kill).map(|(at, (_, text))| kill(at, text)).collect();
        let first_mark = (marks.writers().next().is_some()).then_some(first_mark);
        (self.body(head, &kills, &job.limits, first_mark, all_cpus), descriptors)
    }

    fn body(
        &self,
        mut head: wire::Job,
        kills: &[Kill],
        limits: &Limits,
        first_mark: Option<u32>,
        all_cpus: Option<&[u32]>,
    ) -> Vec<u8> {
        let fixed = size_of::<wire::Job>() + self.ready.len() * size_of::<wire::Process>() + size_of_val(kills);
        let mut body = vec![0; fixed];
        if let Some(cpus) = &limits.cpus {
            let mask = mask(cpus);
            (head.cpus, head.cpus_length) = (body.len() as u64, mask.len() as u64);
            body.extend(mask);
        }
        if let Some(cpus) = all_cpus {
            let mask = mask(cpus);
            (head.all_cpus, head.all_cpus_length) = (body.len() as u64, mask.len() as u64);
            body.extend(mask);
        }
        let mut at = 0;
        let mut put = |body: &mut Vec<u8>, bytes: &[u8]| {
            body[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&mut body, wire::bytes(&head));
        for (nth, (ready, streams)) in (0..).zip(&self.ready) {
            let marks = first_mark.map_or(NONE, |first| first + nth);
            let added = first_mark.is_some().then_some(MARKS_VARIABLE);
            let process = wire::Process {
                stdout: streams.stdout as u32,
                stderr: streams.stderr as u32,
                marks,
                stdin: streams.stdin.map_or(NONE, |index| index as u32),
                argv: vector(&mut body, ready.command.argv.iter().map(String::as_str)),
                env: vector(&mut body, ready.env.iter().map(String::as_str).chain(added)),
                dir: text(&mut body, ready.program.dir.as_os_str().as_bytes()),
                program: text(&mut body, ready.program.path.as_os_str().as_bytes()),
            };
            put(&mut body, wire::bytes(&process));
        }
        for kill in kills {
            put(&mut body, wire::bytes(kill));
        }
        body
    }
}

/// A request that only tries limits.
pub(super) fn trial_of(limits: &Limits) -> Vec<u8> {
    let nothing = Prepared { ready: vec![], files: Files::default() };
    nothing.body(wire::Job { into: NONE, warm: NONE, ..self::limits(limits) }, &[], limits, None, None)
}

fn limits(limits: &Limits) -> wire::Job {
    wire::Job {
        realtime: limits.realtime.unwrap_or(0),
        aslr: match limits.aslr {
            None => wire::ASLR_AS_IS,
            Some(true) => wire::ASLR_ON,
            Some(false) => wire::ASLR_OFF,
        },
        timeout_ns: limits.timeout_s.map_or(0, |seconds| nanoseconds(seconds).max(1)),
        ..wire::Job::default()
    }
}

/// Saturates; a time below zero is none.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn kill(descriptor: u32, text: &[u8]) -> Kill {
    let mut kill = Kill { descriptor, length: text.len().min(24) as u32, text: [0; 24] };
    kill.text.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    kill
}

/// The processors as a bit mask of whole words (sched_setaffinity(2)).
fn mask(cpus: &[u32]) -> Vec<u8> {
    let words = cpus.iter().max().map_or(1, |last| last / 64 + 1);
    let mut mask = vec![0_u8; words as usize * 8];
    for cpu in cpus {
        mask[*cpu as usize / 8] |= 1 << (cpu % 8);
    }
    mask
}

/// Appends a string and its NUL; where it begins.
fn text(body: &mut Vec<u8>, bytes: &[u8]) -> u64 {
    let at = body.len() as u64;
    body.extend_from_slice(bytes);
    body.push(0);
    at
}

/// Appends strings and, before them, the array of where they begin; where that is.
fn vector<'a>(body: &mut Vec<u8>, texts: impl Iterator<Item = &'a str> + Clone) -> u64 {
    body.resize(body.len().next_multiple_of(8), 0);
    let start = body.len();
    body.resize(start + 8 * (texts.clone().count() + 1), 0);
    for (nth, string) in texts.enumerate() {
        let at = text(body, string.as_bytes()).to_ne_bytes();
        body[start + 8 * nth..start + 8 * (nth + 1)].copy_from_slice(&at);
    }
    start as u64
}

fn prepare(command: &Arc<Command>, mark: Option<&str>, found: &mut ProgramCache) -> Result<Ready, NotStarted> {
    let program = found.find(command, &absolute(&command.dir)?)?;
    // One that we were given ourselves names a descriptor that this command does not have.
    let is_marks = |name: &str| MARKS_VARIABLE.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let own = command.env.iter().filter(|(name, _)| !is_marks(name));
    let own = own.map(|(name, value)| [name, "=", value].concat());
    let env: Vec<String> = own.chain(mark.map(str::to_owned)).collect();
    let texts = command.argv.iter().chain(&env).map(|text| text.as_bytes());
    for bytes in texts.chain([program.path.as_os_str().as_bytes(), program.dir.as_os_str().as_bytes()]) {
        if bytes.contains(&0) {
            return Err(NotStarted::new(String::from_utf8_lossy(bytes), "it contains a NUL byte"));
        }
    }
    let stdin = command.stdin.as_deref().map(absolute).transpose()?;
    let (stdout, stderr) = (absolute(&command.stdout)?, absolute(&command.stderr)?);
    Ok(Ready { command: Arc::clone(command), program, env, stdin, stdout, stderr })
}

/// The launcher's working directory is not ours.
fn absolute(path: &Path) -> Result<PathBuf, NotStarted> {
    std::path::absolute(path).map_err(|error| NotStarted::path(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_whole_words() {
        for (cpus, expect) in [
            (vec![], vec![0_u8; 8]),
            (vec![0, 3], vec![9, 0, 0, 0, 0, 0, 0, 0]),
            (vec![64], [vec![0; 8], vec![1, 0, 0, 0, 0, 0, 0, 0]].concat()),
        ] {
            assert_eq!(mask(&cpus), expect, "{cpus:?}");
        }
    }
}
