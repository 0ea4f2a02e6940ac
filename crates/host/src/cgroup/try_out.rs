//! Puts a process that does nothing into a group, to see whether permissions, kernel and sandbox let us.
#![allow(unsafe_code, reason = "rustix has neither clone3 nor a fork that is safe with threads")]

use super::home::{Home, Needs};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

/// What does not work.
#[derive(Debug)]
pub(super) enum Refusal {
    /// To clone a process into a group of version 2.
    Clone,
    /// To let one join the group of this hierarchy.
    Join(usize, io::Error),
    /// To make a process.
    Fork(io::Error),
}

pub(super) fn a_process(home: &Home) -> Result<(), Refusal> {
    if home.nests.is_empty() {
        return Ok(());
    }
    let group = home
        .group(&Needs { memory_limit: true, cpu_limit: true, ..Needs::everything() })
        .map_err(|error| Refusal::Join(home.nests.len() - 1, error))?;
    let tried =
        group.confinement(home).map_err(|(nth, error)| Refusal::Join(nth, error)).and_then(|(confinement, order)| {
            let join: Vec<RawFd> = confinement.join.iter().map(|file| file.as_raw_fd()).collect();
            let into = confinement.into.as_ref().map(|folder| folder.as_raw_fd());
            let status = exit_status(into, &join).map_err(|error| match into {
                Some(_) => Refusal::Clone,
                None => Refusal::Fork(error),
            })?;
            match order.get(status.wrapping_sub(1)) {
                Some(&nth) => Err(Refusal::Join(nth, io::ErrorKind::PermissionDenied.into())),
                None => Ok(()),
            }
        });
    let _ = group.remove(home);
    tried
}

/// Clones a process into a group, lets it join others and end: with 0, or the number, from 1, of that which it could
/// not join.
pub(super) fn exit_status(into: Option<RawFd>, join: &[RawFd]) -> io::Result<usize> {
    // SAFETY: it is made of numbers only.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.exit_signal = libc::SIGCHLD as u64;
    if let Some(folder) = into {
        arguments.flags = CLONE_INTO_CGROUP;
        arguments.cgroup = folder as u64;
    }
    // SAFETY: without CLONE_VM this is a fork: the child has a copy of this thread's memory and stack. It calls
    // nothing but write and _exit, which are safe whatever the other threads were doing.
    let pid = unsafe {
        match into {
            Some(_) => libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<libc::clone_args>()) as i32,
            None => libc::fork(),
        }
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    if pid == 0 {
        for (nth, &file) in join.iter().enumerate() {
            // SAFETY: one byte is read from a constant.
            if unsafe { libc::write(file, c"0".as_ptr().cast(), 1) } != 1 {
                // SAFETY: it ends this process without running anything of ours.
                unsafe { libc::_exit(nth as i32 + 1) };
            }
        }
        // SAFETY: as above.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the pointer is valid for a write of its type, and the child is ours and unreaped.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFEXITED(status) { Ok(libc::WEXITSTATUS(status) as usize) } else { Err(io::ErrorKind::Other.into()) }
}

/// The libc crate's is of a type that is too narrow for it.
const CLONE_INTO_CGROUP: u64 = 1 << 33;
