//! A user namespace for us and all that we start: in it an ordinary user may make the PID namespace that [`crate::Enclosure`]
//! wants. It changes what trials see (files of other users belong to nobody), so nobody gets it unasked.
#![allow(unsafe_code, reason = "the rustix call is unsafe if there are other threads; there are none")]

use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;

/// Enters a new one, as the user that we are. Only a process with a single thread can.
///
/// # Errors
/// What the system says if it is not permitted: some switch it off, and so do many containers.
pub fn enter() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: no other thread shares anything with us (the kernel refuses it otherwise).
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    // Since Linux 3.19 this comes before the groups.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
