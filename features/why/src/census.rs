//! The census: watches a process and all that come of it from within the kernel, by small programs at its raw
//! tracepoints (bpf(2)): system calls, page faults, and where the time of every task goes. Nothing is stopped, so services
//! can be watched. It needs root's rights, and nothing installed; where it is refused, it says why, and
//! [`bakeoff_host::tracer`] counts. It launches nothing and judges nothing.
//!
//! # What is counted
//! A call counts when it is made, as in the tracer. A task lives from its fork (the first one: from its execve) to its
//! last switch from a processor. While it lives it is on a CPU, blocked, or waits for a CPU.
//! Intervals of which one end was missed are left out, so that [`Times::accounted`] tells of them.
//!
//! Sums over tasks have waiting that nobody waits for. Of a command that was launched, [`Path`] has what made it longer.
//!
//! # What it costs
//! All processes of the machine pay two look-ups at each call and switch while something is watched.

mod assembler;
mod btf;
mod layout;
mod path;
mod programs;
mod report;

use bakeoff_host::bpf::{self, Kind, Map};
use layout::State;
use programs::{Namespace, Programs};
pub use report::{Blocked, Faults, Path, Report, Spent, SyscallSums, Times};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;

/// Where the kernel describes its types; some ten megabytes.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
const MOST_TYPE_BYTES: u64 = 1 << 28;

/// Tasks that can be watched at a time.
const MOST_TASKS: u32 = 1 << 15;

/// Entries of the log: births, ends and waits. It takes 32 MB of the kernel's memory.
const MOST_ENTRIES: u32 = 1 << 19;

/// Processors that Linux can have (NR_CPUS), and more.
const MOST_PROCESSORS: u32 = 1 << 14;

/// PROC_PID_INIT_INO: the namespace in which processes have the numbers that the kernel's programs see.
const FIRST_PID_NAMESPACE: u64 = 0xefff_fffc;

/// What is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Calls, faults and times.
    Times,
    /// The path that ends last, too.
    Path,
}

/// Why nothing can be watched here, in one line.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Usually only root may.
    #[error("bpf(2) is not permitted; it needs root privileges")]
    NotPermitted,
    /// The kernel was built without, or has no bpf(2).
    #[error("this kernel has no bpf(2)")]
    NoBpf,
    /// Where a task's number is cannot be found.
    #[error("{TYPES} does not show where the kernel keeps the number of a task: {why}")]
    NoTypes {
        /// The system's word, or ours.
        why: String,
    },
    /// The kernel lacks a tracepoint.
    #[error("this kernel has no tracepoint `{0}`")]
    NoTracepoint(String),
    /// A tracepoint has fewer arguments than it has today.
    #[error("the tracepoint `{0}` has fewer arguments in this kernel; Linux 5.18 or newer is needed")]
    OldTracepoint(String),
    /// Something else.
    #[error("cannot watch system calls with bpf(2): {what}: {why}")]
    Other {
        /// What was tried.
        what: String,
        /// The system's word.
        why: io::Error,
    },
}

/// Processes are watched for as long as this exists. If it is dropped, or this process is killed, nothing remains.
#[derive(Debug)]
pub struct Watch {
    maps: Maps,
    attached: Vec<OwnedFd>,
    has_faults: bool,
    processors: u32,
}

#[derive(Debug)]
struct Maps {
    tasks: Map,
    shared: Map,
    sums: Map,
    /// The log, and the process that was launched.
    log: Option<(Map, u32)>,
}

impl Watch {
    /// Watches a process of one thread, which waits, and all that come of it: from its next execve on, so that nothing before is
    /// counted.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub fn start(pid: u32, detail: Detail) -> Result<Self, Refused> {
        let namespace = namespace()?;
        let processors = processors()?;
        let maps = Maps::create(processors, Some(pid).filter(|_| detail == Detail::Path))?;
        let programs = Programs {
            tasks: maps.tasks.descriptor(),
            shared: maps.shared.descriptor(),
            sums: maps.sums.descriptor(),
            log: maps.log.as_ref().map(|(log, _)| log.descriptor()),
            root: pid.cast_signed(),
            pid_offset: pid_offset()?,
            namespace,
        };
        let mut watch = Self { maps, attached: vec![], has_faults: false, processors };
        watch.attach(&programs)?;
        Ok(watch)
    }

    fn attach(&mut self, programs: &Programs) -> Result<(), Refused> {
        for program in programs.all() {
            let name = program.tracepoint.to_string_lossy().into_owned();
            let code = program.code.ok_or(io::ErrorKind::InvalidData.into()).map_err(other(&name))?;
            let loaded = bpf::load(&code).map_err(other(&name))?;
            match bpf::attach(&loaded, program.tracepoint) {
                Ok(attached) => {
                    self.attached.push(attached);
                    self.has_faults |= program.may_be_absent;
                }
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                    if !program.may_be_absent {
                        return Err(Refused::NoTracepoint(name));
                    }
                }
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Err(Refused::OldTracepoint(name)),
                Err(error) => return Err(other(&name)(error)),
            }
        }
        Ok(())
    }

    /// Ends watching, and adds up what was seen, of tasks that live on too.
    ///
    /// # Errors
    /// If the kernel's maps cannot be read.
    pub fn finish(mut self) -> io::Result<Report> {
        let end_ns = now_ns();
        // From here on the numbers stand still.
        self.attached.clear();
        self.read(end_ns)
    }

    /// What was seen so far; watching goes on.
    ///
    /// # Errors
    /// If the kernel's maps cannot be read.
    pub fn so_far(&self) -> io::Result<Report> {
        self.read(now_ns())
    }

    fn read(&self, end_ns: u64) -> io::Result<Report> {
        let maps = &self.maps;
        let mut sums = report::Sums::new();
        for processor in 0..self.processors {
            maps.sums.lookup(&processor.to_ne_bytes())?.into_iter().for_each(|bytes| sums.add(&bytes));
        }
        states(&maps.tasks)?.iter().for_each(|task| sums.add_unfinished(task, end_ns));
        let mut report = sums.report(self.has_faults);
        let logged;
        [report.tasks, report.lost_tasks, logged] = maps.counted()?;
        if let Some((log, root)) = &maps.log {
            let entries = entries(log, logged)?.ok_or("there were too many waits, threads and processes to record");
            let path = entries
                .and_then(|all| path::walk(all, *root).ok_or("the kernel did not report all steps of this path"));
            report.no_path = path.as_ref().err().map(|why| (*why).to_owned());
            report.path = path.ok();
        }
        Ok(report)
    }
}

impl Maps {
    fn create(processors: u32, logged: Option<u32>) -> Result<Self, Refused> {
        let create = |kind, key_bytes, value_bytes, most_entries| {
            Map::create(kind, key_bytes, value_bytes, most_entries).map_err(other("maps"))
        };
        let log = |pid| Ok((create(Kind::Array, size_of::<u32>(), layout::STATE_BYTES, MOST_ENTRIES)?, pid));
        Ok(Self {
            log: logged.map(log).transpose()?,
            tasks: create(Kind::Hash, size_of::<u64>(), layout::STATE_BYTES, MOST_TASKS)?,
            shared: create(Kind::Array, size_of::<u32>(), layout::SHARED_BYTES, 1)?,
            sums: create(Kind::Array, size_of::<u32>(), layout::SUMS_BYTES, processors)?,
        })
    }

    /// Tasks, those that were lost, and entries of the log.
    fn counted(&self) -> io::Result<[u64; 3]> {
        let bytes = self.shared.lookup(&0_u32.to_ne_bytes())?.unwrap_or_default();
        let mut words = layout::words(&bytes);
        Ok(std::array::from_fn(|_| words.next().unwrap_or(0)))
    }
}

fn states(map: &Map) -> io::Result<Vec<State>> {
    let mut states = vec![];
    let mut key = map.next_key(None)?;
    // While programs change the map, a key may come back or lead to the first one.
    while let Some(at) = key.filter(|_| states.len() < MOST_TASKS as usize) {
        states.extend(map.lookup(&at)?.as_deref().and_then(State::of));
        key = map.next_key(Some(&at))?;
    }
    Ok(states)
}

/// What was logged; none if there was too little room.
fn entries(log: &Map, logged: u64) -> io::Result<Option<Vec<State>>> {
    let Some(last) = u32::try_from(logged).ok().filter(|&logged| logged <= MOST_ENTRIES) else { return Ok(None) };
    let entry = |index: u32| Ok(log.lookup(&index.to_ne_bytes())?.as_deref().and_then(State::of));
    (0..last).map(entry).filter_map(Result::transpose).collect::<io::Result<_>>().map(Some)
}

/// The PID namespace that we are in, unless it is the first one. What we launch is in the same.
fn namespace() -> Result<Option<Namespace>, Refused> {
    const OURS: &str = "/proc/self/ns/pid";
    let file = std::fs::metadata(OURS).map_err(other(OURS))?;
    if file.ino() == FIRST_PID_NAMESPACE {
        return Ok(None);
    }
    // The kernel's own numbers of devices have 20 bits for the minor one.
    let device = rustix::fs::major(file.dev()) << 20 | rustix::fs::minor(file.dev());
    let inode = u32::try_from(file.ino()).map_err(|error| other(OURS)(io::Error::other(error)))?;
    Ok(Some(Namespace { device: device.cast_signed(), inode }))
}

/// The kernel's clock for its programs, which is ours too.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Processors that may ever be there: numbers are below this.
fn processors() -> Result<u32, Refused> {
    const POSSIBLE: &str = "/sys/devices/system/cpu/possible";
    let text = std::fs::read_to_string(POSSIBLE).map_err(other(POSSIBLE))?;
    let highest = text.trim().rsplit([',', '-']).next().and_then(|number| number.parse::<u32>().ok());
    highest.filter(|&highest| highest < MOST_PROCESSORS).map(|highest| highest + 1).ok_or_else(|| {
        let why = io::Error::other(format!("`{}` is not a list of processors", text.trim().escape_default()));
        Refused::Other { what: POSSIBLE.to_owned(), why }
    })
}

fn pid_offset() -> Result<i32, Refused> {
    let mut types = vec![];
    let read = std::fs::File::open(TYPES).and_then(|file| file.take(MOST_TYPE_BYTES).read_to_end(&mut types));
    read.map_err(|error| Refused::NoTypes { why: error.to_string() })?;
    let offset = btf::offset_of(&types, "task_struct", "pid").and_then(|offset| i32::try_from(offset).ok());
    offset.ok_or_else(|| Refused::NoTypes { why: "its `task_struct` has no `pid`".to_owned() })
}

/// What a system's word means for the caller.
fn other(what: &str) -> impl FnOnce(io::Error) -> Refused {
    let what = what.to_owned();
    move |why| match why.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Refused::NotPermitted,
        Some(libc::ENOSYS) => Refused::NoBpf,
        _ => Refused::Other { what, why },
    }
}
