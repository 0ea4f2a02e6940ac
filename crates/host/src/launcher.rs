//! The launcher as its owner sees it: a tiny process that runs one command at a time. It is a process because Linux
//! lets the peak memory of a child begin at that of the process that launched it, and because something must be left
//! that kills what we started. It judges no exit code and does not read what a command printed.

mod channel;
mod enclosure;
mod left;
mod limits;
mod marks;
mod near;
mod orphans;
mod program;
mod reply;
mod request;
mod start;
mod tree;
mod under_way;
mod warm;
/// One definition for us and for the launcher, of which each uses its part.
#[allow(
    dead_code,
    unreachable_pub,
    unsafe_code,
    clippy::duplicate_mod,
    reason = "the other side is a separate program"
)]
#[path = "../launcher/program/wire.rs"]
mod wire;

/// What the launcher process does, here only to be linted and to have its parts tested.
#[cfg(any(test, clippy, fuzzing))]
#[allow(dead_code, unreachable_pub, unsafe_code, clippy::duplicate_mod, reason = "a separate program")]
#[path = "../launcher/program/mod.rs"]
mod freestanding;

pub use enclosure::{Enclosure, are_switched_off};
pub use limits::offline;
pub use marks::MOST_BYTES as MOST_MARKED_BYTES;

use crate::command::{Command, End, Ended, Patience};
use crate::job::{Achieved, Job, JobEnded, Limits};
use crate::probe::{Confinement, JobObserved, Probe};
use crate::{Error, interrupt};
use bakeoff_model::record::Unavailable;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use under_way::UnderWay;

/// The path that a command runs, as it is found in its folder; else what is at fault, and why.
pub(crate) fn find(command: &Command) -> Result<PathBuf, (String, String)> {
    program::find(command).map_err(|not_started| (not_started.what, not_started.why))
}

/// How a launcher is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Kept open until the process ends; see [`Launcher::start`].
    pub keep: Option<BorrowedFd<'a>>,
    /// Set if probes watch its jobs: the metrics that are wanted beyond what all probes give at no cost.
    pub watched: Option<&'a [&'a str]>,
    /// What encloses it and all that it starts.
    pub within: Option<&'a Enclosure>,
}

/// A launcher process. When this value is dropped, or we are killed, it kills what it runs, and ends.
#[derive(Debug)]
pub struct Launcher {
    process: Child,
    /// When the process began, in the kernel's ticks.
    began: Option<u64>,
    control: UnixStream,
    enclosure: Option<Enclosure>,
    under_way: Option<UnderWay>,
    /// Once it has been looked for: where the launcher moves itself before a job joins cgroups.
    warm: Option<Option<File>>,
    /// Where its jobs are to begin beside us, and there is more than one processor.
    near: Option<near::Near>,
    probes: Vec<Box<dyn Probe>>,
    /// Whether it is to say how long its processes had to wait for a processor: to find that out takes long.
    says_wait: bool,
    /// Commands that were prepared.
    known: request::CommandCache,
    /// What the last job left for marks.
    marks: marks::Marks,
}

impl Launcher {
    /// Starts the process, with nothing but its own life to kill what it starts. It keeps `keep` open until it ends: a
    /// lock kept so lasts until nothing is left of the last command, even if we are killed.
    ///
    /// # Errors
    /// [`Error::Start`] if the process cannot be started.
    pub fn start(keep: Option<BorrowedFd<'_>>) -> Result<Self, Error> {
        Self::start_with(&Options { keep, ..Options::default() })
    }

    /// Starts the process as these options ask.
    pub fn start_with(options: &Options<'_>) -> Result<Self, Error> {
        // If it is killed, its children come to us, or to the process that keeps the enclosure.
        orphans::adopt();
        let (process, control) = match options.within {
            Some(enclosure) => enclosure.start(options.keep)?,
            None => start::start(options.keep, start::PidNamespace::Ours).map_err(Error::Start)?,
        };
        let began = orphans::began(&crate::files::Files::here(), process.id());
        let mut launcher = Self {
            process,
            began,
            control,
            enclosure: options.within.cloned(),
            under_way: None,
            warm: None,
            near: None,
            probes: vec![],
            says_wait: false,
            known: request::CommandCache::default(),
            marks: marks::Marks::default(),
        };
        match channel::receive(&launcher.control) {
            Ok(Some((wire::READY, _))) => {}
            Ok(Some(_)) => return Err(Error::Launcher { why: "it sent an unexpected message".to_owned() }),
            Ok(None) => return Err(Error::LauncherEnded { how: launcher.obituary() }),
            Err(source) => return Err(Error::Talk(source)),
        }
        if let Some(wanted) = options.watched {
            launcher.probes = crate::probes::all(launcher.process.id(), wanted);
            launcher.says_wait = wanted.contains(&crate::probes::WAIT);
            launcher.near = near::Near::of(launcher.process.id());
        }
        Ok(launcher)
    }

    /// Runs a command, waits for its end, and kills and reaps whatever it leaves behind. Relative paths are
    /// relative to our working directory. If an interrupt that `patience` does not bear has already come, nothing is
    /// started.
    pub fn execute(&mut self, command: &Command, patience: Patience) -> Result<Ended, Error> {
        self.execute_within(&Limits::default(), command, patience)
    }

    /// Runs a command as [`Self::execute`] does, within limits.
    pub fn execute_within(&mut self, limits: &Limits, command: &Command, patience: Patience) -> Result<Ended, Error> {
        if interrupt::count() >= patience.limit() {
            return Ok(Ended::never_began(End::Interrupted));
        }
        self.launch(&Job { commands: vec![command.clone().into()], limits: limits.clone(), ..Job::default() })?;
        let mut job = self.wait(patience)?;
        let ended = job.processes.pop().ok_or_else(|| Error::Launcher { why: "it lost a process".to_owned() })?;
        Ok(Ended { measurements: job.measurements, ..ended })
    }

    /// Runs a program that does nothing, like any other, and ignores what was measured: the launcher's own floor.
    pub fn execute_nothing(&mut self) -> Result<(), Error> {
        let null = PathBuf::from("/dev/null");
        let command = Command {
            argv: vec!["/proc/self/exe".to_owned()],
            dir: PathBuf::from("/"),
            env: BTreeMap::new(),
            stdin: None,
            stdout: null.clone(),
            stderr: null,
        };
        // Nobody watches it.
        let (probes, near) = (std::mem::take(&mut self.probes), self.near.take());
        let launched = self.launch(&Job { commands: vec![command.into()], ..Job::default() });
        let ended = launched.and_then(|()| self.wait(Patience::SecondInterrupt));
        (self.probes, self.near) = (probes, near);
        ended.map(drop)
    }

    /// Starts a job; [`Self::wait`] or [`Self::stop`] ends it. If a command cannot be prepared, none is started.
    pub fn launch(&mut self, job: &Job) -> Result<(), Error> {
        if self.under_way.is_some() {
            return Err(Error::Launcher { why: "a job is already running".to_owned() });
        }
        let mark = self.enclosure.as_ref().and_then(Enclosure::mark);
        let prepared = match request::Prepared::new(&job.commands, mark, &mut self.known) {
            Ok(prepared) => prepared,
            Err(faults) => {
                self.under_way = Some(UnderWay::never_began(faults));
                return Ok(());
            }
        };
        let mut confinement = Confinement::default();
        for probe in &mut self.probes {
            probe.before(job, &mut confinement).map_err(Error::Probe)?;
        }
        let ends = if job.marks { job.commands.len() } else { 0 };
        // Nobody asks what the copies of a load mark, but a workload that marks must find its descriptor.
        let last = std::mem::take(&mut self.marks);
        let opened = if job.rounds.is_some() { marks::Marks::unheard(ends) } else { last.again(ends) };
        let no_pipe = |error| Error::Launcher { why: format!("cannot create a pipe for marks: {error}") };
        let marks = opened.map_err(no_pipe)?;
        let address_space = job.limits.memory_bytes.filter(|_| self.memory_is_unlimited(&job.limits));
        let watched = !self.probes.is_empty();
        if !confinement.join.is_empty() {
            self.warm.get_or_insert_with(|| warm::own_group(self.process.id()));
        }
        let warm = self.warm.iter().flatten().next().filter(|_| !confinement.join.is_empty());
        // A load, or a service, is to begin wherever there is room.
        let near = self.near.as_ref().filter(|_| watched && job.rounds.is_none());
        let all_cpus = near.and_then(near::Near::come);
        let wanted = match (watched, self.says_wait) {
            (true, true) => wire::IO | wire::WAIT,
            (true, false) => wire::IO,
            (false, _) => 0,
        };
        let with = request::With { confinement: &confinement, marks: &marks, warm, address_space, wanted, all_cpus };
        let (body, descriptors) = prepared.request(job, &with);
        if descriptors.len() > wire::MOST_DESCRIPTORS {
            return Err(Error::Launcher { why: format!("it cannot start {} processes at once", job.commands.len()) });
        }
        let programs = prepared.programs();
        // From here on the trial may run, and whatever we do, we do beside it.
        let said = channel::send(&self.control, wire::JOB, &body, &descriptors);
        self.said(said)?;
        self.under_way = Some(UnderWay::new(job.rounds.is_some(), programs, marks, (prepared, confinement)));
        Ok(())
    }

    /// Waits until all processes of the job have ended, kills and reaps whatever they leave behind, and measures.
    pub fn wait(&mut self, patience: Patience) -> Result<JobEnded, Error> {
        let mut under_way = self.take()?;
        if under_way.interrupted_first(&self.control, patience).map_err(Error::Talk)? {
            under_way.interrupted = true;
            self.say_stop(libc::SIGKILL, 0.0)?;
        }
        self.finish(under_way)
    }

    /// How the job ended, if nobody ended it.
    pub fn ended(&mut self) -> Result<Option<JobEnded>, Error> {
        let mut under_way = self.take()?;
        if under_way.look_for_word(&self.control).map_err(Error::Talk)? {
            return self.finish(under_way).map(Some);
        }
        self.under_way = Some(under_way);
        Ok(None)
    }

    /// Ends the job: sends this signal to the process groups of its main processes, waits this number of seconds, and
    /// kills what is left.
    pub fn stop(&mut self, signal: i32, within_s: f64) -> Result<JobEnded, Error> {
        let under_way = self.take()?;
        if !under_way.is_over() {
            self.say_stop(signal, within_s)?;
        }
        self.finish(under_way)
    }

    /// What a load has achieved so far.
    pub fn achieved(&mut self) -> Result<Achieved, Error> {
        let mut under_way = self.take()?;
        // It answers even if the job has ended meanwhile; that word comes first then.
        let said = channel::send(&self.control, wire::ASK, &[], &[]);
        self.said(said)?;
        let achieved = loop {
            match self.hear()? {
                (wire::ACHIEVED, body) => break wire::read(&body, 0).unwrap_or_default(),
                (wire::ENDED, body) => under_way.over(body),
                _ => return Err(Error::Launcher { why: "it sent an unexpected reply".to_owned() }),
            }
        };
        self.under_way = Some(under_way);
        Ok(reply::achieved(&achieved))
    }

    /// Metrics that this launcher cannot measure here, and why.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.probes.iter().flat_map(|probe| probe.unavailable()).collect()
    }

    /// The launcher's peak resident memory so far, in bytes: a command's peak of this much may be the launcher's.
    pub fn memory_floor_bytes(&self) -> Option<u64> {
        tree::of_memory(&crate::files::Files::here(), self.process.id())
    }

    /// CPU time of all that this launcher has run so far and runs now, without its own, in seconds: to the nanosecond
    /// for living processes, to a tick (10 ms) for the sum of ended ones. None where the kernel does not tell.
    pub fn cpu_so_far_s(&self) -> Option<f64> {
        tree::cpu_so_far_s(self.process.id())
    }

    /// Sets the peaks of all that this launcher runs now back, for [`Self::peak_bytes`]; none if the kernel refuses.
    pub fn peaks_begin(&self) -> Option<u64> {
        tree::peaks_begin(self.process.id())
    }

    /// The peak resident memory of the largest process that this launcher runs now, in bytes; since the peaks were set
    /// back, if they were: then none if a process was waited for meanwhile, because nobody knows the peak of that one.
    pub fn peak_bytes(&self, begun: Option<u64>) -> Option<f64> {
        tree::peak_bytes(self.process.id(), begun)
    }

    /// Whether no probe sees to the memory limit: then it is one of each process's address space.
    fn memory_is_unlimited(&self, limits: &Limits) -> bool {
        self.probes.is_empty()
            || self.probes.iter().flat_map(|probe| probe.refused(limits)).any(|(what, _)| what == "memory_bytes")
    }

    fn take(&mut self) -> Result<UnderWay, Error> {
        self.under_way.take().ok_or_else(|| Error::Launcher { why: "no job is running".to_owned() })
    }

    /// Waits for the end, if it has not come yet, and asks the probes what they saw.
    fn finish(&mut self, mut under_way: UnderWay) -> Result<JobEnded, Error> {
        while !under_way.is_over() {
            under_way.await_word(&self.control).map_err(Error::Talk)?;
            match self.hear()? {
                (wire::ENDED, body) => under_way.over(body),
                _ => return Err(Error::Launcher { why: "it sent an unexpected reply".to_owned() }),
            }
        }
        let (outcome, marks) = under_way.finish();
        self.marks = marks;
        let report = match outcome {
            under_way::Outcome::NeverBegan(ended) => return Ok(ended),
            under_way::Outcome::Over(report) => report,
            under_way::Outcome::Garbled => return Err(Error::Launcher { why: "its reply is corrupt".to_owned() }),
        };
        let mut ended = report.ended;
        if ended.processes.iter().any(|process| matches!(process.end, End::NotStarted { .. })) {
            self.known.forget();
        }
        let wall_s = ended.measurements.get("wall").copied().unwrap_or(0.0);
        let seen = JobObserved { wall_s, zombies: &report.zombies };
        for probe in &mut self.probes {
            probe.after(&seen, &mut ended.measurements).map_err(Error::Probe)?;
        }
        if self.probes.iter().any(|probe| probe.out_of_memory()) {
            let killed = ended.processes.iter_mut().filter(|process| process.end == End::Signalled(libc::SIGKILL));
            killed.for_each(|process| process.end = End::OutOfMemory);
        }
        Ok(ended)
    }

    fn say_stop(&mut self, signal: i32, within_s: f64) -> Result<(), Error> {
        let within_ns = request::nanoseconds(within_s);
        let stop = wire::Stop { signal: signal.unsigned_abs(), unused: 0, within_ns };
        let said = channel::send(&self.control, wire::STOP, wire::bytes(&stop), &[]);
        self.said(said)
    }

    fn said(&mut self, said: io::Result<()>) -> Result<(), Error> {
        match said {
            Err(gone) if matches!(gone.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                Err(Error::LauncherEnded { how: self.obituary() })
            }
            said => said.map_err(Error::Talk),
        }
    }

    fn hear(&mut self) -> Result<(u32, Vec<u8>), Error> {
        match channel::receive(&self.control) {
            Ok(Some((wire::UNKILLABLE, body))) => {
                let pid = wire::read(&body, 0).map_or(0, |who: wire::Unkillable| who.pid as i32);
                Err(Error::Unkillable { pid })
            }
            Ok(Some(heard)) => Ok(heard),
            Ok(None) => Err(Error::LauncherEnded { how: self.obituary() }),
            Err(source) => Err(Error::Talk(source)),
        }
    }

    /// How the process ended; it has hung up, so it ends or has ended. What it has left is gone then.
    fn obituary(&mut self) -> String {
        let ended = self.process.wait();
        self.kill_orphans();
        ended.map_or_else(|error| error.to_string(), |status| status.to_string())
    }

    fn kill_orphans(&self) {
        if !self.enclosure.as_ref().is_some_and(Enclosure::sweep) {
            orphans::kill(self.began);
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // Hanging up is the order to end. Both can fail only if the process has already ended and been waited for.
        let _ = self.control.shutdown(Shutdown::Both);
        if self.process.wait().is_ok_and(|status| !status.success()) {
            self.kill_orphans();
        }
    }
}

/// Both sides' readers of what goes over the socket, for a fuzzer.
#[cfg(fuzzing)]
pub fn fuzz_wire(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let command = Command {
        argv: vec!["/a".to_owned()],
        dir: PathBuf::from("/"),
        env: BTreeMap::new(),
        stdin: None,
        stdout: PathBuf::new(),
        stderr: PathBuf::new(),
    };
    let Ok(program) = program::ProgramCache::default().find(&command, &command.dir) else { return };
    let _ = reply::read(rest, false, &vec![program; usize::from(*first % 4)], false);
    freestanding::fuzz_job(rest);
}
