//! What this kernel does, and lets us do to processes and to the machine, tried on the spot: to a thread of our own that ends
//! at once, or to nothing but an open file. What that means for measurements is not known here.
#![allow(unsafe_code, reason = "rustix does not wrap schedulers, personalities or getrusage")]

use crate::files::Files;
use rustix::process::{Resource, getrlimit};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;

/// The real-time class, for conditions that keep other work from a trial's processors.
pub fn realtime() -> io::Result<()> {
    in_a_thread(|| {
        // SAFETY: all-zero bytes are a valid sched_param.
        let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
        parameter.sched_priority = 1;
        // SAFETY: the pointer is valid for a read of its type; thread 0 is the calling one.
        check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) })
    })
}

/// Fixed addresses for a trial.
pub fn fixed_addresses() -> io::Result<()> {
    in_a_thread(|| {
        // SAFETY: it takes and gives numbers, and is about the calling thread alone.
        let before = unsafe { libc::personality(0xffff_ffff) };
        check(before)?;
        // SAFETY: as above.
        check(unsafe { libc::personality((before | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) })?;
        // SAFETY: as above.
        let now = unsafe { libc::personality(0xffff_ffff) };
        if now & libc::ADDR_NO_RANDOMIZE == 0 { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
    })
}

/// How many processes there may be, by all limits together.
pub fn most_processes(files: &Files) -> Option<u64> {
    let number = |text: String| text.parse::<u64>().ok();
    let groups = files.read("proc/self/cgroup").unwrap_or_default();
    let of_groups = crate::cgroup::hierarchies(files, &groups).into_iter().flat_map(|hierarchy| {
        let above: Vec<_> =
            hierarchy.own.ancestors().take_while(|f| f.starts_with(&hierarchy.top)).map(ToOwned::to_owned).collect();
        above
            .into_iter()
            .filter_map(|folder| number(std::fs::read_to_string(folder.join("pids.max")).ok()?.trim().to_owned()))
    });
    let user = most_processes_of_user();
    of_groups.chain(user).chain(files.read("proc/sys/kernel/pid_max").and_then(number)).min()
}

/// How many processes the user may have.
pub fn most_processes_of_user() -> Option<u64> {
    getrlimit(Resource::Nproc).current
}

/// Whether the kernel separates user and kernel time exactly; none if CPU time is unknown. A kernel that samples them sees no
/// or one tick in half a millisecond, and so gives all of it to one side; an exact one finds both.
pub fn splits_cpu_time() -> Option<bool> {
    let split = |_| std::thread::spawn(user_and_sys_of_a_little_work).join().ok().flatten();
    let parts = (0..4).map(split).collect::<Option<Vec<_>>>()?;
    Some(parts.iter().all(|&(user_us, sys_us)| user_us > 0 && sys_us > 0))
}

/// CPU time in user mode and in the kernel, in µs, of half a millisecond of both in this thread. None if unknown.
fn user_and_sys_of_a_little_work() -> Option<(i64, i64)> {
    loop {
        // Half in user mode, half in system calls.
        for _ in 0..100 {
            black_box((0..100_u64).fold(1, |product: u64, n| black_box(product.wrapping_mul(n | 1))));
            black_box(rustix::process::getppid());
        }
        let (user_us, sys_us) = thread_times_us()?;
        if user_us + sys_us >= 500 {
            return Some((user_us, sys_us));
        }
    }
}

fn thread_times_us() -> Option<(i64, i64)> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of its type.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: all-zero bytes are a valid rusage, and the call has succeeded in filling it.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    Some((us(usage.ru_utime), us(usage.ru_stime)))
}

fn in_a_thread(deed: impl FnOnce() -> io::Result<()> + Send) -> io::Result<()> {
    std::thread::scope(|scope| scope.spawn(deed).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_to_a_thread_stays_with_it() {
        // SAFETY: they take and give numbers.
        let now = || unsafe { (libc::personality(0xffff_ffff), libc::sched_getscheduler(0)) };
        let before = now();
        let _ = (realtime(), fixed_addresses());
        assert_eq!(now(), before);
    }
}
