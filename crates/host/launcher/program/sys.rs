//! System calls of Linux, by their numbers: those that the launcher needs and nothing more. What every freestanding
//! program needs is in `sys/basic.rs`. Only calls that both architectures have are used. An error is its errno.

mod basic;

use basic::{AT_FDCWD, O_CLOEXEC, call, plain};
pub(super) use basic::{EINTR, O_DIRECTORY, O_WRONLY, Path, Result, close, exec, exit, map, open, read, write};

pub(super) const EPERM: u32 = 1;
pub(super) const EACCES: u32 = 13;
pub(super) const ECHILD: u32 = 10;
pub(super) const ENOSYS: u32 = 38;
pub(super) const EPROTO: u32 = 71;

pub(super) const SIGKILL: u32 = 9;
pub(super) const SIGCHLD: u64 = 17;
pub(super) const POLLIN: i16 = 1;
const WNOHANG: usize = 1;

/// Numbers of system calls.
#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const MUNMAP: usize = 11;
    pub(super) const RT_SIGACTION: usize = 13;
    pub(super) const RT_SIGPROCMASK: usize = 14;
    pub(super) const SENDMSG: usize = 46;
    pub(super) const RECVMSG: usize = 47;
    pub(super) const GETPID: usize = 39;
    pub(super) const WAIT4: usize = 61;
    pub(super) const KILL: usize = 62;
    pub(super) const GETEUID: usize = 107;
    pub(super) const FCHMODAT: usize = 268;
    pub(super) const CHDIR: usize = 80;
    pub(super) const SETSID: usize = 112;
    pub(super) const GETPGID: usize = 121;
    pub(super) const RT_SIGTIMEDWAIT: usize = 128;
    pub(super) const PERSONALITY: usize = 135;
    pub(super) const SCHED_SETSCHEDULER: usize = 144;
    pub(super) const PRCTL: usize = 157;
    pub(super) const SCHED_SETAFFINITY: usize = 203;
    pub(super) const GETDENTS64: usize = 217;
    pub(super) const CLOCK_GETTIME: usize = 228;
    pub(super) const PPOLL: usize = 271;
    pub(super) const DUP3: usize = 292;
    pub(super) const PRLIMIT64: usize = 302;
}

/// Numbers of system calls.
#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const DUP3: usize = 24;
    pub(super) const CHDIR: usize = 49;
    pub(super) const FCHMODAT: usize = 53;
    pub(super) const GETDENTS64: usize = 61;
    pub(super) const PPOLL: usize = 73;
    pub(super) const PERSONALITY: usize = 92;
    pub(super) const CLOCK_GETTIME: usize = 113;
    pub(super) const SCHED_SETSCHEDULER: usize = 119;
    pub(super) const SCHED_SETAFFINITY: usize = 122;
    pub(super) const KILL: usize = 129;
    pub(super) const RT_SIGACTION: usize = 134;
    pub(super) const RT_SIGPROCMASK: usize = 135;
    pub(super) const RT_SIGTIMEDWAIT: usize = 137;
    pub(super) const GETPGID: usize = 155;
    pub(super) const SETSID: usize = 157;
    pub(super) const PRCTL: usize = 167;
    pub(super) const GETPID: usize = 172;
    pub(super) const GETEUID: usize = 175;
    pub(super) const SENDMSG: usize = 211;
    pub(super) const RECVMSG: usize = 212;
    pub(super) const MUNMAP: usize = 215;
    pub(super) const WAIT4: usize = 260;
    pub(super) const PRLIMIT64: usize = 261;
}

const CLOSE_RANGE: usize = 436;

/// Gives memory back.
///
/// # Safety
/// It came from [`map`] with this length, and nothing refers to it any more.
pub(super) unsafe fn unmap(address: *mut u8, length: usize) {
    // SAFETY: the caller vouches for it.
    let _ = unsafe { call(number::MUNMAP, [address as usize, length, 0, 0, 0, 0]) };
}

/// Closes this descriptor and all above it.
pub(super) fn close_from(first: u32) {
    if plain(CLOSE_RANGE, first as usize, u32::MAX as usize, 0).is_err() {
        // Before Linux 5.9; RLIMIT_NOFILE is 1024 by default.
        (first..4096).for_each(close);
    }
}

/// From here on the descriptors are ours alone, if we shared them. It closes none: it is the way to do this that filters
/// of containers let through. Since Linux 5.9.
pub(super) fn unshare_descriptors() -> Result<()> {
    const CLOSE_RANGE_UNSHARE: usize = 2;
    plain(CLOSE_RANGE, u32::MAX as usize, u32::MAX as usize, CLOSE_RANGE_UNSHARE).map(drop)
}

/// Whether everything in our PID namespace ends with us.
pub(super) fn is_first_process() -> bool {
    plain(number::GETPID, 0, 0, 0) == Ok(1)
}

pub(super) fn is_root() -> bool {
    plain(number::GETEUID, 0, 0, 0) == Ok(0)
}

/// Makes `target` the same as `descriptor`; it survives exec only if `keep`.
pub(super) fn duplicate(descriptor: u32, target: u32, keep: bool) -> Result<()> {
    let flags = if keep { 0 } else { O_CLOEXEC };
    plain(number::DUP3, descriptor as usize, target as usize, flags).map(drop)
}

pub(super) fn chdir(path: Path<'_>) -> Result<()> {
    // SAFETY: the path ends in NUL.
    unsafe { call(number::CHDIR, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

pub(super) fn chmod(path: Path<'_>, mode: usize) -> Result<()> {
    // SAFETY: the path ends in NUL.
    unsafe { call(number::FCHMODAT, [AT_FDCWD, path.as_ptr() as usize, mode, 0, 0, 0]) }.map(drop)
}

/// Entries of a folder, as `struct linux_dirent64` lays them out.
pub(super) fn entries(folder: u32, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the slice is valid for writes of its length.
    unsafe { call(number::GETDENTS64, [folder as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

/// CLOCK_MONOTONIC in nanoseconds.
pub(super) fn now_ns() -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: `time` has the layout of struct timespec. The call cannot fail for this clock.
    let _ = unsafe { call(number::CLOCK_GETTIME, [1, (&raw mut time) as usize, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}

/// struct pollfd.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Polled {
    /// Ignored if negative.
    pub(super) descriptor: i32,
    pub(super) events: i16,
    pub(super) revents: i16,
}

/// Waits for one of them; none is no limit.
pub(super) fn poll(watched: &mut [Polled], timeout_ns: Option<u64>) -> Result<usize> {
    let time = timeout_ns.map(|ns| [ns / 1_000_000_000, ns % 1_000_000_000]);
    let time = time.as_ref().map_or(0, |time| time.as_ptr() as usize);
    // SAFETY: the slice is valid for reads and writes of its length; the time is null or a struct timespec.
    unsafe { call(number::PPOLL, [watched.as_mut_ptr() as usize, watched.len(), time, 0, 8, 0]) }
}

pub(super) fn kill(pid: i32, signal: u32) -> Result<()> {
    plain(number::KILL, pid as usize, signal as usize, 0).map(drop)
}

/// The process group, even of a zombie.
pub(super) fn group_of(pid: i32) -> Result<i32> {
    plain(number::GETPGID, pid as usize, 0, 0).map(|group| group as i32)
}

/// A child that was reaped.
#[derive(Clone, Copy)]
pub(super) struct Reaped {
    pub(super) pid: i32,
    pub(super) status: i32,
    /// struct rusage.
    pub(super) usage: [i64; 18],
}

/// Reaps this child, or any for -1, if it has ended.
pub(super) fn reap(pid: i32) -> Result<Option<Reaped>> {
    let mut reaped = Reaped { pid: 0, status: 0, usage: [0; 18] };
    let (status, usage) = ((&raw mut reaped.status) as usize, (&raw mut reaped.usage) as usize);
    // SAFETY: both point to fields of the layout that the kernel fills.
    reaped.pid = unsafe { call(number::WAIT4, [pid as usize, status, WNOHANG, usage, 0, 0]) }? as i32;
    Ok((reaped.pid != 0).then_some(reaped))
}

/// Waits until a child ends, at most so long. SIGCHLD must be blocked.
pub(super) fn await_child(at_most_ns: u64) {
    let (signals, time) = (1_u64 << (SIGCHLD - 1), [at_most_ns / 1_000_000_000, at_most_ns % 1_000_000_000]);
    let (signals, time) = ((&raw const signals) as usize, (&raw const time) as usize);
    // SAFETY: a set of 8 bytes and a struct timespec.
    let _ = unsafe { call(number::RT_SIGTIMEDWAIT, [signals, 0, time, 8, 0, 0]) };
}

/// Blocks these signals and no others.
pub(super) fn block(signals: u64) {
    // SIG_SETMASK.
    // SAFETY: a set of 8 bytes.
    let _ = unsafe { call(number::RT_SIGPROCMASK, [2, (&raw const signals) as usize, 0, 8, 0, 0]) };
}

/// Gives every signal its default action; the C library's own two are among them.
pub(super) fn default_signals() {
    let action = [0_usize; 4];
    for signal in 1..=64 {
        // SAFETY: all zeros are a struct sigaction: the default, no flags, an empty mask. Two cannot be changed.
        let _ = unsafe { call(number::RT_SIGACTION, [signal, (&raw const action) as usize, 0, 8, 0, 0]) };
    }
}

/// What has lost its parent becomes our child.
pub(super) fn become_subreaper() -> Result<()> {
    plain(number::PRCTL, 36, 1, 0).map(drop)
}

pub(super) fn name_process(name: Path<'_>) {
    // PR_SET_NAME.
    // SAFETY: the name ends in NUL, which is where the kernel stops reading.
    let _ = unsafe { call(number::PRCTL, [15, name.as_ptr() as usize, 0, 0, 0, 0]) };
}

pub(super) fn new_session() -> Result<()> {
    plain(number::SETSID, 0, 0, 0).map(drop)
}

pub(super) fn set_affinity(mask: &[u8]) -> Result<()> {
    // SAFETY: the slice is valid for reads of its length.
    unsafe { call(number::SCHED_SETAFFINITY, [0, mask.len(), mask.as_ptr() as usize, 0, 0, 0]) }.map(drop)
}

/// SCHED_FIFO.
pub(super) fn set_realtime(priority: u32) -> Result<()> {
    // SAFETY: struct sched_param is one number.
    unsafe { call(number::SCHED_SETSCHEDULER, [0, 1, (&raw const priority) as usize, 0, 0, 0]) }.map(drop)
}

/// Has this process executed before all ordinary ones.
pub(super) fn hasten(pid: i32) -> Result<()> {
    let priority = 1_u32;
    // SAFETY: struct sched_param is one number.
    unsafe { call(number::SCHED_SETSCHEDULER, [pid as usize, 1, (&raw const priority) as usize, 0, 0, 0]) }.map(drop)
}

/// Our own real-time priority, or 0 for an ordinary process again. Our children do not inherit it.
pub(super) fn set_own_priority(priority: u32) {
    const SCHED_RESET_ON_FORK: usize = 0x4000_0000;
    // Only the privileged can take the flag back; without a priority it means little.
    let classes = if priority > 0 { [1 | SCHED_RESET_ON_FORK; 2] } else { [0, SCHED_RESET_ON_FORK] };
    for class in classes {
        // SAFETY: struct sched_param is one number.
        if unsafe { call(number::SCHED_SETSCHEDULER, [0, class, (&raw const priority) as usize, 0, 0, 0]) }.is_ok() {
            return;
        }
    }
}

/// Whether addresses are randomised.
pub(super) fn set_randomised(randomised: bool) -> Result<()> {
    const ADDR_NO_RANDOMIZE: usize = 0x0004_0000;
    let now = plain(number::PERSONALITY, 0xffff_ffff, 0, 0)?;
    let wanted = if randomised { now & !ADDR_NO_RANDOMIZE } else { now | ADDR_NO_RANDOMIZE };
    if wanted == now { Ok(()) } else { plain(number::PERSONALITY, wanted, 0, 0).map(drop) }
}

/// RLIMIT_AS.
pub(super) fn limit_address_space(bytes: u64) -> Result<()> {
    let limit = [bytes; 2];
    // SAFETY: struct rlimit64 is two numbers.
    unsafe { call(number::PRLIMIT64, [0, 9, (&raw const limit) as usize, 0, 0, 0]) }.map(drop)
}

/// struct msghdr with one piece of data.
#[repr(C)]
struct Message {
    name: usize,
    name_length: usize,
    pieces: *const [usize; 2],
    piece_count: usize,
    control: *mut u8,
    control_length: usize,
    flags: usize,
}

/// Whether a descriptor is a socket; nothing is taken from it.
pub(super) fn is_socket(descriptor: u32) -> bool {
    const MSG_PEEK_DONTWAIT: usize = 0x42;
    const ENOTSOCK: u32 = 88;
    let piece = [0_usize; 2];
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: &raw const piece,
        piece_count: 1,
        control: core::ptr::null_mut(),
        control_length: 0,
        flags: 0,
    };
    // SAFETY: the message describes no buffer at all.
    let looked = unsafe {
        call(number::RECVMSG, [descriptor as usize, (&raw const message) as usize, MSG_PEEK_DONTWAIT, 0, 0, 0])
    };
    looked != Err(ENOTSOCK)
}

/// Receives bytes, and with them descriptors, which are put into `descriptors` and counted.
pub(super) fn receive(from: u32, into: &mut [u8], descriptors: &mut [u32]) -> Result<(usize, usize)> {
    // struct cmsghdr: its length, then level and type; then the descriptors.
    let mut control = [0_u64; 2 + super::wire::MOST_AT_ONCE / 2];
    let piece = [into.as_mut_ptr() as usize, into.len()];
    let mut message = Message {
        name: 0,
        name_length: 0,
        pieces: &raw const piece,
        piece_count: 1,
        control: control.as_mut_ptr().cast(),
        control_length: size_of_val(&control),
        flags: 0,
    };
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    let arguments = [from as usize, (&raw mut message) as usize, MSG_CMSG_CLOEXEC, 0, 0, 0];
    // SAFETY: the message describes buffers that are valid for writes of the lengths that it gives.
    let length = unsafe { call(number::RECVMSG, arguments) }?;
    if message.control_length < 16 {
        return Ok((length, 0));
    }
    let count = ((control[0] as usize).saturating_sub(16) / 4).min(descriptors.len());
    for (at, descriptor) in descriptors[..count].iter_mut().enumerate() {
        *descriptor = (control[2 + at / 2] >> (32 * (at % 2))) as u32;
    }
    Ok((length, count))
}

/// Sends what stands in two pieces; how much of it.
pub(super) fn send(to: u32, first: &[u8], second: &[u8]) -> Result<usize> {
    let pieces = [[first.as_ptr() as usize, first.len()], [second.as_ptr() as usize, second.len()]];
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: pieces.as_ptr(),
        piece_count: 2,
        control: core::ptr::null_mut(),
        control_length: 0,
        flags: 0,
    };
    const MSG_NOSIGNAL: usize = 0x4000;
    // SAFETY: the message describes slices that are valid for reads of their lengths.
    unsafe { call(number::SENDMSG, [to as usize, (&raw const message) as usize, MSG_NOSIGNAL, 0, 0, 0]) }
}
