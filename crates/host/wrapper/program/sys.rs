//! System calls of Linux, by their numbers: those that the wrapper needs beyond `basic`, which it shares with the
//! launcher.

#[path = "../../launcher/program/sys/basic.rs"]
mod basic;

use basic::{AT_FDCWD, call, plain};
pub(super) use basic::{EINTR, O_DIRECTORY, O_WRONLY, Path, Result, close, exec, exit, map, open, read, write};

pub(super) const EOPNOTSUPP: u32 = 95;
pub(super) const O_APPEND: usize = 0o2_000;
/// A descriptor that only stands for the file.
pub(super) const O_PATH: usize = 0o10_000_000;

/// Numbers of system calls.
#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const GETPID: usize = 39;
    pub(super) const GETCWD: usize = 79;
    pub(super) const GETPPID: usize = 110;
    pub(super) const PRCTL: usize = 157;
    pub(super) const READLINKAT: usize = 267;
    pub(super) const FACCESSAT: usize = 269;
}

/// Numbers of system calls.
#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const GETCWD: usize = 17;
    pub(super) const FACCESSAT: usize = 48;
    pub(super) const READLINKAT: usize = 78;
    pub(super) const PRCTL: usize = 167;
    pub(super) const GETPID: usize = 172;
    pub(super) const GETPPID: usize = 173;
}

const LANDLOCK_CREATE_RULESET: usize = 444;
const LANDLOCK_ADD_RULE: usize = 445;
const LANDLOCK_RESTRICT_SELF: usize = 446;

pub(super) fn own_pid() -> u32 {
    plain(number::GETPID, 0, 0, 0).unwrap_or(0) as u32
}

pub(super) fn parent_pid() -> u32 {
    plain(number::GETPPID, 0, 0, 0).unwrap_or(0) as u32
}

/// The folder we are in, with its NUL.
pub(super) fn folder(into: &mut [u8]) -> Result<&[u8]> {
    // SAFETY: the slice is valid for writes of its length.
    let length = unsafe { call(number::GETCWD, [into.as_mut_ptr() as usize, into.len(), 0, 0, 0, 0]) }?;
    Ok(&into[..length])
}

/// What a symbolic link says.
pub(super) fn read_link<'a>(path: Path<'_>, into: &'a mut [u8]) -> Result<&'a [u8]> {
    let arguments = [AT_FDCWD, path.as_ptr() as usize, into.as_mut_ptr() as usize, into.len(), 0, 0];
    // SAFETY: the path ends in NUL, and the slice is valid for writes of its length.
    let length = unsafe { call(number::READLINKAT, arguments) }?;
    Ok(&into[..length])
}

/// Whether it may be executed, which folders may too.
pub(super) fn may_execute(path: Path<'_>) -> bool {
    const X_OK: usize = 1;
    // SAFETY: the path ends in NUL.
    unsafe { call(number::FACCESSAT, [AT_FDCWD, path.as_ptr() as usize, X_OK, 0, 0, 0]) }.is_ok()
}

/// From here on no program that we execute gets privileges that we have not.
pub(super) fn give_up_new_privileges() -> Result<()> {
    const PR_SET_NO_NEW_PRIVS: usize = 38;
    // SAFETY: all arguments are plain numbers.
    unsafe { call(number::PRCTL, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0]) }.map(drop)
}

/// The version of Landlock that the kernel has.
pub(super) fn landlock_version() -> Result<usize> {
    const LANDLOCK_CREATE_RULESET_VERSION: usize = 1;
    plain(LANDLOCK_CREATE_RULESET, 0, 0, LANDLOCK_CREATE_RULESET_VERSION)
}

/// A new set of rules: these rights on files are given to nobody but by a rule.
pub(super) fn landlock_rules(handled: u64) -> Result<u32> {
    // SAFETY: the first field of struct landlock_ruleset_attr, and its size.
    let made = unsafe { call(LANDLOCK_CREATE_RULESET, [(&raw const handled) as usize, 8, 0, 0, 0, 0]) };
    made.map(|descriptor| descriptor as u32)
}

/// Gives rights on a file, or on a folder and all below it.
pub(super) fn landlock_allow(rules: u32, below: u32, rights: u64) -> Result<()> {
    /// struct landlock_path_beneath_attr.
    #[repr(C, packed)]
    struct Below {
        rights: u64,
        descriptor: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: usize = 1;
    let below = Below { rights, descriptor: below as i32 };
    let arguments = [rules as usize, LANDLOCK_RULE_PATH_BENEATH, (&raw const below) as usize, 0, 0, 0];
    // SAFETY: the structure of this kind of rule.
    unsafe { call(LANDLOCK_ADD_RULE, arguments) }.map(drop)
}

/// From here on the rules hold for us and for all that we start.
pub(super) fn landlock_restrict(rules: u32) -> Result<()> {
    plain(LANDLOCK_RESTRICT_SELF, rules as usize, 0, 0).map(drop)
}

/// Opens a file that others append to as well.
pub(super) fn open_to_append(path: Path<'_>) -> Result<u32> {
    open(path, O_WRONLY | O_APPEND)
}
