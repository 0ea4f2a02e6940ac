//! The process itself: its number, its memory, its clock, its signals, what it becomes and how it ends.

use super::call::{Path, Result, call, plain};
use super::number;

pub fn own_pid() -> u32 {
    plain(number::GETPID, 0, 0, 0).unwrap_or(0) as u32
}

pub fn parent_pid() -> u32 {
    plain(number::GETPPID, 0, 0, 0).unwrap_or(0) as u32
}

/// The user and the group that we act for.
pub fn effective_ids() -> [u32; 2] {
    [number::GETEUID, number::GETEGID].map(|call| plain(call, 0, 0, 0).unwrap_or(0) as u32)
}

/// Whether everything in our PID namespace ends with us.
pub fn is_first_process() -> bool {
    plain(number::GETPID, 0, 0, 0) == Ok(1)
}

/// Memory of our own, filled with zeros.
pub fn map(length: usize) -> Result<*mut u8> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS.
    // SAFETY: the kernel chooses an address that is free.
    unsafe { call(number::MMAP, [0, length, 3, 0x22, usize::MAX, 0]) }.map(|address| address as *mut u8)
}

/// Gives memory back.
///
/// # Safety
/// It came from [`map`] with this length, and nothing refers to it any more.
pub unsafe fn unmap(address: *mut u8, length: usize) {
    // SAFETY: the caller vouches for it.
    let _ = unsafe { call(number::MUNMAP, [address as usize, length, 0, 0, 0, 0]) };
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn now_ns() -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: `time` has the layout of struct timespec. The call cannot fail for this clock.
    let _ = unsafe { call(number::CLOCK_GETTIME, [1, (&raw mut time) as usize, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}

/// Blocks these signals and no others.
pub fn block(signals: u64) {
    // SIG_SETMASK.
    // SAFETY: a set of 8 bytes.
    let _ = unsafe { call(number::RT_SIGPROCMASK, [2, (&raw const signals) as usize, 0, 8, 0, 0]) };
}

/// Gives every signal its default action; the C library's own two are among them.
pub fn default_signals() {
    let action = [0_usize; 4];
    for signal in 1..=64 {
        // SAFETY: all zeros are a struct sigaction: the default, no flags, an empty mask. Two cannot be changed.
        let _ = unsafe { call(number::RT_SIGACTION, [signal, (&raw const action) as usize, 0, 8, 0, 0]) };
    }
}

/// What has lost its parent becomes our child.
pub fn become_subreaper() -> Result<()> {
    plain(number::PRCTL, 36, 1, 0).map(drop)
}

pub fn name_process(name: Path<'_>) {
    // PR_SET_NAME.
    // SAFETY: the name ends in NUL, which is where the kernel stops reading.
    let _ = unsafe { call(number::PRCTL, [15, name.as_ptr() as usize, 0, 0, 0, 0]) };
}

pub fn new_session() -> Result<()> {
    plain(number::SETSID, 0, 0, 0).map(drop)
}

/// From here on no program that we run gets privileges that we have not.
pub fn give_up_new_privileges() -> Result<()> {
    const PR_SET_NO_NEW_PRIVS: usize = 38;
    // SAFETY: all arguments are plain numbers.
    unsafe { call(number::PRCTL, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0]) }.map(drop)
}

/// Runs a program in place of this one; returns only if it cannot.
///
/// # Safety
/// Both vectors are arrays of pointers to strings that end in NUL, and end in a null pointer.
pub unsafe fn exec(path: Path<'_>, argv: *const usize, env: *const usize) -> u32 {
    // SAFETY: the caller vouches for the vectors.
    let executed = unsafe { call(number::EXECVE, [path.as_ptr() as usize, argv as usize, env as usize, 0, 0, 0]) };
    executed.err().unwrap_or_default()
}

pub fn exit(code: u32) -> ! {
    loop {
        let _ = plain(number::EXIT_GROUP, code as usize, 0, 0);
    }
}
