//! Signals and reaps other processes. How one begins is in `launcher/program/clone.rs`: it needs another stack.

use super::call::{Result, call, plain};
use super::number;

pub const SIGKILL: u32 = 9;
pub const SIGCHLD: u64 = 17;
const WNOHANG: usize = 1;

pub fn kill(pid: i32, signal: u32) -> Result<()> {
    plain(number::KILL, pid as usize, signal as usize, 0).map(drop)
}

/// The process group, even of a zombie.
pub fn group_of(pid: i32) -> Result<i32> {
    plain(number::GETPGID, pid as usize, 0, 0).map(|group| group as i32)
}

/// A child that was reaped.
#[derive(Clone, Copy)]
pub struct Reaped {
    pub pid: i32,
    pub status: i32,
    /// struct rusage.
    pub usage: [i64; 18],
}

/// Reaps this child, or any for -1, if it has ended.
pub fn reap(pid: i32) -> Result<Option<Reaped>> {
    let mut reaped = Reaped { pid: 0, status: 0, usage: [0; 18] };
    let (status, usage) = ((&raw mut reaped.status) as usize, (&raw mut reaped.usage) as usize);
    // SAFETY: both point to fields of the layout that the kernel fills.
    reaped.pid = unsafe { call(number::WAIT4, [pid as usize, status, WNOHANG, usage, 0, 0]) }? as i32;
    Ok((reaped.pid != 0).then_some(reaped))
}

/// Waits until a child ends, at most so long. SIGCHLD must be blocked.
pub fn await_child(at_most_ns: u64) {
    let (signals, time) = (1_u64 << (SIGCHLD - 1), [at_most_ns / 1_000_000_000, at_most_ns % 1_000_000_000]);
    let (signals, time) = ((&raw const signals) as usize, (&raw const time) as usize);
    // SAFETY: a set of 8 bytes and a struct timespec.
    let _ = unsafe { call(number::RT_SIGTIMEDWAIT, [signals, 0, time, 8, 0, 0]) };
}
