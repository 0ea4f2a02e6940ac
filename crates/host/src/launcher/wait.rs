//! wait4: how a process ended and what the kernel counted for it and for every descendant that was waited for.
#![allow(unsafe_code, reason = "rustix has no wait4")]

use super::End;
use bakeoff_model::metric::Measurements;
use rustix::process::Pid;
use std::io;
use std::mem::MaybeUninit;

/// Waits for a child and reaps it.
pub(super) fn wait4(pid: Pid) -> io::Result<(End, Measurements)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes of their types.
        if unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, usage.as_mut_ptr()) } >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let end = if libc::WIFSIGNALED(status) {
        End::Signalled(libc::WTERMSIG(status))
    } else {
        End::Exited(libc::WEXITSTATUS(status))
    };
    // SAFETY: all-zero bytes are a valid rusage, and wait4 has succeeded in filling it.
    Ok((end, measurements(&unsafe { usage.assume_init() })))
}

/// The sixteen fields of a rusage, in base units. Linux gives memory in KiB (getrusage(2)).
fn measurements(usage: &libc::rusage) -> Measurements {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let bytes = |kib: libc::c_long| kib as f64 * 1024.0;
    let count = |n: libc::c_long| n as f64;
    let fields = [
        ("user", seconds(usage.ru_utime)),
        ("sys", seconds(usage.ru_stime)),
        ("maxrss", bytes(usage.ru_maxrss)),
        ("ixrss", bytes(usage.ru_ixrss)),
        ("idrss", bytes(usage.ru_idrss)),
        ("isrss", bytes(usage.ru_isrss)),
        ("minflt", count(usage.ru_minflt)),
        ("majflt", count(usage.ru_majflt)),
        ("nswap", count(usage.ru_nswap)),
        ("inblock", count(usage.ru_inblock)),
        ("oublock", count(usage.ru_oublock)),
        ("msgsnd", count(usage.ru_msgsnd)),
        ("msgrcv", count(usage.ru_msgrcv)),
        ("nsignals", count(usage.ru_nsignals)),
        ("nvcsw", count(usage.ru_nvcsw)),
        ("nivcsw", count(usage.ru_nivcsw)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
