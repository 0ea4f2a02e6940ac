//! What a new process does between clone and exec, in the launcher's memory: it leaves nothing but a word of failure.

use super::clone::spawn;
use super::job::Job;
use super::sys::{self, Result};
use super::wire::{self, ProcessOver};
use core::cell::UnsafeCell;

/// /dev/null, opened for reading: the standard input of a process that is given none.
pub(super) const NULL: u32 = 2;
/// Signals are handled by nobody here, and the kernel needs little to build the new program's arguments.
const STACK: usize = 16 << 10;

/// The stack of whatever process is about to begin: there is never more than one.
struct Stack(UnsafeCell<[u8; STACK]>);
// SAFETY: the launcher has one thread, and waits while a child uses the stack.
unsafe impl Sync for Stack {}
static CHILD_STACK: Stack = Stack(UnsafeCell::new([0; STACK]));

/// What the new process is told, and what it leaves word of.
struct Orders<'a> {
    job: &'a Job<'a>,
    /// None if limits are only to be tried.
    process: Option<&'a wire::Process>,
    /// The step that failed, and why.
    failed: (u32, u32),
    /// What it goes without, as bits, and why by step.
    without: u32,
    tried: wire::Tried,
}

/// A process that has begun.
pub(super) struct Begun {
    pub(super) pid: i32,
    pub(super) pidfd: u32,
}

impl<'a> Orders<'a> {
    fn new(job: &'a Job<'a>, process: Option<&'a wire::Process>) -> Self {
        let tried = wire::Tried::default();
        Self { job, process, failed: (0, 0), without: 0, tried }
    }
}

/// Starts a process of the job; what has begun, unless it failed: then `over` says where.
pub(super) fn start(job: &Job<'_>, process: &wire::Process, over: &mut ProcessOver) -> Option<Begun> {
    let mut orders = Orders::new(job, Some(process));
    let begun = begin(&mut orders, job.descriptor(job.head.into));
    over.without = orders.without;
    over.without_errno = orders.tried.errno.iter().copied().fold(0, |last, errno| if errno > 0 { errno } else { last });
    (over.failed_step, over.failed_errno) = orders.failed;
    match begun {
        Ok((pid, pidfd)) if over.failed_step == 0 => return Some(Begun { pid, pidfd }),
        // It has ended, or is about to.
        Ok((pid, pidfd)) => reap_failed(pid, pidfd),
        Err(errno) => (over.failed_step, over.failed_errno) = (wire::CLONE, errno),
    }
    None
}

/// Tries the limits of a job in a process that runs nothing.
pub(super) fn try_limits(job: &Job<'_>) -> wire::Tried {
    let mut orders = Orders::new(job, None);
    match begin(&mut orders, None) {
        Ok((pid, pidfd)) => reap_failed(pid, pidfd),
        Err(errno) => orders.tried.errno[wire::CLONE as usize] = errno,
    }
    orders.tried
}

fn begin(orders: &mut Orders<'_>, into: Option<u32>) -> Result<(i32, u32)> {
    let address = core::ptr::from_mut(orders) as usize;
    // SAFETY: nobody else uses the stack (see `Stack`). `child` ends the process or runs a program, and `orders`
    // is not looked at by us before it has done so.
    unsafe { spawn(&mut *CHILD_STACK.0.get(), into, child, address) }
}

/// Reaps a process that has ended, or is about to, without having run a program.
fn reap_failed(pid: i32, pidfd: u32) {
    let mut watched = [sys::Polled { descriptor: pidfd as i32, events: sys::POLLIN, revents: 0 }];
    // The wait is for an exit that is under way, unless somebody froze the cgroup that it was born into.
    let _ = sys::poll(&mut watched, Some(1_000_000_000));
    let _ = sys::reap(pid);
    sys::close(pidfd);
}

/// The new process.
///
/// # Safety
/// The argument is the address of `Orders` that nobody else uses.
unsafe extern "C" fn child(orders: usize) -> ! {
    // SAFETY: `begin` gave it, and waits.
    let orders = unsafe { &mut *(orders as *mut Orders<'_>) };
    set_limits(orders);
    if let Some(process) = orders.process {
        orders.failed = execute(orders.job, process);
    }
    sys::exit(127)
}

/// The limits; what cannot be had is gone without.
fn set_limits(orders: &mut Orders<'_>) {
    let job = orders.job.head;
    let mut limit = |step: u32, set: Result<()>| {
        if let Err(errno) = set {
            orders.without |= 1 << step;
            orders.tried.errno[step as usize] = errno;
        }
    };
    if job.cpus != 0 {
        let mask = orders.job.slice(job.cpus, job.cpus_length);
        limit(wire::AFFINITY, sys::set_affinity(mask));
    } else if job.all_cpus != 0 {
        let _ = sys::set_affinity(orders.job.slice(job.all_cpus, job.all_cpus_length));
    }
    if job.aslr != wire::ASLR_AS_IS {
        limit(wire::PERSONALITY, sys::set_randomised(job.aslr == wire::ASLR_ON));
    }
    if job.address_space != 0 {
        limit(wire::ADDRESS_SPACE, sys::limit_address_space(job.address_space));
    }
    if job.realtime != 0 {
        limit(wire::REALTIME, sys::set_realtime(job.realtime));
    }
}

/// The rest, up to the program; the step that failed, and why.
fn execute(job: &Job<'_>, process: &wire::Process) -> (u32, u32) {
    for join in job.joins() {
        if let Err(errno) = sys::write(*join, b"0") {
            return (wire::JOIN, errno);
        }
    }
    if let Err(errno) = sys::new_session() {
        return (wire::SESSION, errno);
    }
    // 3 comes last, but 0 to 3 are the launcher's own, so that none of these can be a source of another.
    let sources = [(process.stdin, 0), (process.stdout, 1), (process.stderr, 2), (process.marks, 3)];
    for (index, target) in sources {
        let descriptor = if index == wire::NONE && target == 0 { Some(NULL) } else { job.descriptor(index) };
        if let Some(descriptor) = descriptor
            && let Err(errno) = sys::duplicate(descriptor, target, true)
        {
            return (wire::DESCRIPTORS, errno);
        }
    }
    sys::block(0);
    if let Err(errno) = sys::chdir(job.text(process.dir)) {
        return (wire::FOLDER, errno);
    }
    // SAFETY: both vectors were made into arrays of addresses by `Job::relocate`, and end in 0.
    let errno = unsafe { sys::exec(job.text(process.program), job.vector(process.argv), job.vector(process.env)) };
    (wire::EXEC, errno)
}
