//! What the first process of a small machine does that was booted for trials: mounts what programs expect, waits for its
//! children, and ends the machine. It knows nothing of trials, and is of no use on a machine that somebody else booted.
#![allow(unsafe_code, reason = "processor I/O ports have no safe wrapper")]

use rustix::fs::{Mode, mkdir};
use rustix::mount::{MountFlags, mount};
use rustix::process::{WaitOptions, wait};
use std::ffi::CStr;
use std::io;
use std::os::fd::AsFd;

/// Kind of file system, where, and whether a machine can do without it.
const MOUNTS: &[(&CStr, &CStr, bool)] = &[
    (c"proc", c"/proc", false),
    (c"sysfs", c"/sys", true),
    (c"devtmpfs", c"/dev", false),
    (c"tmpfs", c"/tmp", false),
    (c"tmpfs", c"/dev/shm", true),
    (c"cgroup2", c"/sys/fs/cgroup", true),
];
/// Half of the memory would not hold what a large build leaves.
const OF_MEMORY: &CStr = c"size=90%";

/// Mounts what programs expect.
///
/// # Errors
/// The system's, with the name of the file system, where one fails that programs need.
pub fn mount_all() -> io::Result<()> {
    for (kind, place, may_fail) in MOUNTS {
        let _ = mkdir(*place, Mode::from_raw_mode(0o755));
        let data = (*kind == c"tmpfs").then_some(OF_MEMORY);
        match mount(*kind, *place, *kind, MountFlags::empty(), data) {
            Ok(()) => {}
            Err(_) if *may_fail => {}
            Err(source) => {
                let place = place.to_string_lossy();
                return Err(io::Error::other(format!("cannot mount {place}: {}", io::Error::from(source))));
            }
        }
    }
    Ok(())
}

/// Waits for every child, also those that others left behind, until that one has ended; its exit code, or 128 and the signal.
pub fn wait_for(process: u32) -> io::Result<i32> {
    loop {
        let Some((ended, status)) = wait(WaitOptions::empty())? else { continue };
        if ended.as_raw_nonzero().get().unsigned_abs() == process {
            return Ok(status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0)));
        }
    }
}

/// Waits until everything that was written to a terminal has left it.
pub fn drain(terminal: impl AsFd) -> io::Result<()> {
    Ok(rustix::termios::tcdrain(terminal)?)
}

/// The port at which the emulated machine has a device that ends it: `isa-debug-exit`.
pub const EXIT_PORT: u16 = 0x501;

/// Ends the machine; its emulator exits with 2 × `code` + 1.
///
/// # Errors
/// The system's, if that port is not to be had. Where nothing is at the port, it returns too.
#[cfg(target_arch = "x86_64")]
pub fn end_machine(code: u8) -> io::Result<()> {
    // SAFETY: it concerns the permission of this thread, and nothing in memory.
    if unsafe { libc::ioperm(EXIT_PORT.into(), 1, 1) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a write to a port for which we just got the permission; it touches no memory of ours.
    unsafe { std::arch::asm!("out dx, al", in("dx") EXIT_PORT, in("al") code, options(nomem, nostack)) };
    Ok(())
}

/// Ends the machine.
#[cfg(not(target_arch = "x86_64"))]
pub fn end_machine(_code: u8) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
