//! The launcher as its owner sees it: a tiny process that executes one command at a time. It is a process of its
//! own because Linux lets the peak memory of a child begin at that of the process that launched it, and so that
//! whatever becomes of us, something is left that kills what we started. It measures; it neither judges an exit
//! code nor reads what a command printed.

mod helper;
mod job;
mod program;
mod spawn;
mod sweep;
mod wait;
mod wire;

pub use job::{Achieved, Job, JobEnded, Limits, Rounds};

use crate::probe::Probe;
use crate::{Error, interrupt, now_unix_s};
use bakeoff_model::metric::Measurements;
use bakeoff_model::record::Unavailable;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use wire::{Reply, Request};

/// The first argument that makes this executable the launcher.
const SECRET: &str = "__bakeoff-launcher";

/// Becomes the launcher, and never returns, if this process was started as one. `main` must call it before anything
/// else: what happens before it adds to the least peak memory that can be told.
pub fn launcher_main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|word| word == SECRET) {
        helper::main();
    }
}

/// A command to execute: nothing is inherited but what stands here, user and limits apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` of `env`; a relative one
    /// with a slash is relative to `dir`.
    pub argv: Vec<String>,
    /// Where it starts.
    pub dir: PathBuf,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Takes its standard output; created, or emptied.
    pub stdout: PathBuf,
    /// Takes its standard error; created, or emptied. If it equals `stdout`, both share one open file.
    pub stderr: PathBuf,
}

/// Which interrupt kills what is executing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The first one: for what can be repeated at little cost.
    FirstInterrupt,
    /// The second one: after the first, what is executing may finish.
    SecondInterrupt,
}

impl Patience {
    fn limit(self) -> u32 {
        match self {
            Self::FirstInterrupt => 1,
            Self::SecondInterrupt => 2,
        }
    }
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// When it was launched, in seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// Elapsed time and everything that wait4 tells, by the names of [`bakeoff_model::metric`] and in its base
    /// units. Empty if the command was not started.
    pub measurements: Measurements,
    /// How many processes outlived the main one and were killed.
    pub leftovers: u32,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Signalled(i32),
    /// It could not be started.
    NotStarted {
        /// The program, folder or file that is at fault.
        what: String,
        /// The system's word for it.
        why: String,
    },
    /// It was killed, or not even started, because of an interrupt.
    Interrupted,
    /// It took longer than [`Limits::timeout_s`], and was killed.
    TimedOut,
    /// The kernel killed it because all of the job used more than [`Limits::memory_bytes`].
    OutOfMemory,
}

impl Ended {
    fn never_began(end: End) -> Self {
        Self { end, started_unix_s: now_unix_s(), measurements: Measurements::new(), leftovers: 0 }
    }
}

/// How a launcher is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Kept open until the process ends; see [`Launcher::start`].
    pub keep: Option<BorrowedFd<'a>>,
    /// Set if probes watch its jobs: the metrics that are wanted beyond what all probes give at no cost.
    pub watched: Option<&'a [&'a str]>,
}

/// A launcher process. When this value is dropped, the process ends, and with it whatever it executes. If we are
/// killed, it kills what it executes and everything that came of it, and then ends.
#[derive(Debug)]
pub struct Launcher {
    process: Child,
    control: UnixStream,
    job: Option<Job>,
    probes: Vec<Box<dyn Probe>>,
}

impl Launcher {
    /// Starts the process. It keeps `keep` open until it ends: a lock kept so lasts until nothing is left of the
    /// last command, even if we are killed.
    ///
    /// # Errors
    /// [`Error::Start`] if the process cannot be started, [`Error::NotALauncher`] if `main` does not begin with
    /// [`launcher_main_if_asked`].
    pub fn start(keep: Option<BorrowedFd<'_>>) -> Result<Self, Error> {
        let (control, theirs) = UnixStream::pair().map_err(Error::Start)?;
        let kept = match keep {
            Some(descriptor) => Stdio::from(descriptor.try_clone_to_owned().map_err(Error::Start)?),
            None => Stdio::null(),
        };
        // Its standard input is the control socket and its standard output the kept descriptor: so nothing but
        // 0, 1 and 2, which every trial gets anew, ever has to be open across an exec.
        let process = std::process::Command::new("/proc/self/exe")
            .arg0("bakeoff")
            .arg(SECRET)
            .stdin(OwnedFd::from(theirs))
            .stdout(kept)
            // The terminal sends its interrupts to our process group; the launcher must not get them.
            .process_group(0)
            .spawn()
            .map_err(Error::Start)?;
        let mut launcher = Self { process, control, job: None, probes: vec![] };
        match wire::receive(&launcher.control) {
            Ok(Some(Reply::Ready)) => Ok(launcher),
            Ok(Some(other)) => Err(launcher.unexpected(other)),
            Ok(None) => Err(Error::NotALauncher { how: launcher.obituary() }),
            Err(source) => Err(Error::Talk(source)),
        }
    }

    /// Starts the process as these options ask.
    ///
    /// # Errors
    /// Those of [`Self::start`].
    pub fn start_with(options: &Options<'_>) -> Result<Self, Error> {
        let mut launcher = Self::start(options.keep)?;
        if let Some(wanted) = options.watched {
            launcher.probes = crate::probes::all(launcher.process.id(), wanted);
        }
        Ok(launcher)
    }

    /// Executes a command, waits for its end, and kills and reaps whatever it leaves behind. Relative paths are
    /// relative to our working directory. If an interrupt that `patience` does not bear has already come, nothing is
    /// started.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher; it is of no more use then.
    pub fn execute(&mut self, command: &Command, patience: Patience) -> Result<Ended, Error> {
        if interrupt::count() >= patience.limit() {
            return Ok(Ended::never_began(End::Interrupted));
        }
        let command = match absolute(command) {
            Ok(command) => command,
            Err(not_started) => return Ok(Ended::never_began(not_started)),
        };
        self.say(&Request::Execute(command))?;
        if self.interrupted_first(interrupt::event(patience.limit())).map_err(Error::Talk)? {
            self.say(&Request::Kill)?;
        }
        match wire::receive(&self.control) {
            Ok(Some(Reply::Ended(ended))) => Ok(ended),
            Ok(Some(other)) => Err(self.unexpected(other)),
            Ok(None) => Err(Error::LauncherEnded { how: self.obituary() }),
            Err(source) => Err(Error::Talk(source)),
        }
    }

    /// Starts a job; [`Self::wait`] or [`Self::stop`] ends it.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher.
    pub fn launch(&mut self, job: &Job) -> Result<(), Error> {
        self.job = Some(job.clone());
        Ok(())
    }

    /// Waits until all processes of the job have ended, kills and reaps whatever they leave behind, and measures.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher.
    pub fn wait(&mut self, patience: Patience) -> Result<JobEnded, Error> {
        let job = self.job.take().unwrap_or_default();
        let mut ended = JobEnded::default();
        for command in &job.commands {
            let one = self.execute(command, patience)?;
            ended.measurements = one.measurements.clone();
            ended.leftovers += one.leftovers;
            ended.processes.push(one);
        }
        Ok(ended)
    }

    /// What has become of the job, if it has ended of itself.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher.
    pub fn ended(&mut self) -> Result<Option<JobEnded>, Error> {
        Ok(None)
    }

    /// Ends the job: sends this signal to its main processes, waits so many seconds, and kills what is left.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher.
    pub fn stop(&mut self, _signal: i32, _within_s: f64) -> Result<JobEnded, Error> {
        Ok(JobEnded::default())
    }

    /// What a load has achieved so far.
    ///
    /// # Errors
    /// Any [`Error`] about the launcher.
    pub fn achieved(&mut self) -> Result<Achieved, Error> {
        Ok(Achieved::default())
    }

    /// Metrics that this launcher cannot measure here, and why.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.probes.iter().flat_map(|probe| probe.unavailable()).collect()
    }

    /// Parts of limits that cannot be had here: what, and why.
    pub fn refused(&self, _limits: &Limits) -> Vec<(String, String)> {
        vec![]
    }

    /// The peak resident memory of the launcher process so far, in bytes: a command's peak of this much or less may
    /// be the launcher's and not its own. None if the kernel does not tell.
    pub fn memory_floor_bytes(&self) -> Option<u64> {
        let status = crate::files::Files::here().field(&format!("proc/{}/status", self.process.id()), "VmHWM")?;
        let kib: u64 = status.strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }

    fn say(&mut self, request: &Request) -> Result<(), Error> {
        match wire::send(&self.control, request) {
            Err(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Err(Error::LauncherEnded { how: self.obituary() }),
            said => said.map_err(Error::Talk),
        }
    }

    /// Waits for a reply; true if the interrupt came first.
    fn interrupted_first(&self, interrupt: Option<BorrowedFd<'static>>) -> io::Result<bool> {
        let Some(interrupt) = interrupt else { return Ok(false) };
        loop {
            let mut watched =
                [PollFd::new(&self.control, PollFlags::IN), PollFd::from_borrowed_fd(interrupt, PollFlags::IN)];
            match poll(&mut watched, None) {
                Ok(_) => return Ok(watched[0].revents().is_empty()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn unexpected(&mut self, reply: Reply) -> Error {
        match reply {
            Reply::Unkillable(pid) => Error::Unkillable { pid },
            Reply::Broken(why) => Error::Launcher { why },
            Reply::Ready | Reply::Ended(_) => Error::Launcher { why: "it replied out of turn".to_owned() },
        }
    }

    /// How the process ended; it has hung up, so it ends or has ended.
    fn obituary(&mut self) -> String {
        self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // Hanging up is the order to end. Both can fail only if the process has already ended and been waited for.
        let _ = self.control.shutdown(Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// The launcher's working directory is where it was started, ours may have changed.
fn absolute(command: &Command) -> Result<Command, End> {
    let mut command = command.clone();
    for path in [&mut command.dir, &mut command.stdout, &mut command.stderr] {
        *path = std::path::absolute(&*path)
            .map_err(|error| End::NotStarted { what: path.display().to_string(), why: error.to_string() })?;
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The executable of a unit test has not got our `main`; all else is tested in `tests/launcher/`.
    #[test]
    fn an_executable_without_our_main_is_found_out() {
        let refused = Launcher::start(None).unwrap_err();
        assert!(matches!(refused, Error::NotALauncher { .. }), "{refused:?}");
    }
}
