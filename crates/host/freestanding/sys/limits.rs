//! What a process may have of the machine: which processors, before whom, how much memory, and at which addresses.

use super::call::{Result, call, plain};
use super::number;

pub fn set_affinity(mask: &[u8]) -> Result<()> {
    // SAFETY: the slice is valid for reads of its length.
    unsafe { call(number::SCHED_SETAFFINITY, [0, mask.len(), mask.as_ptr() as usize, 0, 0, 0]) }.map(drop)
}

/// SCHED_FIFO.
pub fn set_realtime(priority: u32) -> Result<()> {
    // SAFETY: struct sched_param is one number.
    unsafe { call(number::SCHED_SETSCHEDULER, [0, 1, (&raw const priority) as usize, 0, 0, 0]) }.map(drop)
}

/// Has this process run before all ordinary ones.
pub fn hasten(pid: i32) -> Result<()> {
    let priority = 1_u32;
    // SAFETY: struct sched_param is one number.
    unsafe { call(number::SCHED_SETSCHEDULER, [pid as usize, 1, (&raw const priority) as usize, 0, 0, 0]) }.map(drop)
}

/// Our own real-time priority, or 0 for an ordinary process again. Our children do not inherit it.
pub fn set_own_priority(priority: u32) {
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
pub fn set_randomised(randomised: bool) -> Result<()> {
    const ADDR_NO_RANDOMIZE: usize = 0x0004_0000;
    let now = plain(number::PERSONALITY, 0xffff_ffff, 0, 0)?;
    let wanted = if randomised { now & !ADDR_NO_RANDOMIZE } else { now | ADDR_NO_RANDOMIZE };
    if wanted == now { Ok(()) } else { plain(number::PERSONALITY, wanted, 0, 0).map(drop) }
}

/// RLIMIT_AS.
pub fn limit_address_space(bytes: u64) -> Result<()> {
    let limit = [bytes; 2];
    // SAFETY: struct rlimit64 is two numbers.
    unsafe { call(number::PRLIMIT64, [0, 9, (&raw const limit) as usize, 0, 0, 0]) }.map(drop)
}
