//! Files, folders and descriptors: opened, read, written, looked at. What is opened is closed by exec.

use super::call::{Path, Result, call, plain};
use super::number;

pub const O_WRONLY: usize = 1;
pub const O_APPEND: usize = 0o2_000;
pub const O_DIRECTORY: usize = if cfg!(target_arch = "aarch64") { 0o40_000 } else { 0o200_000 };
/// A descriptor that only stands for the file.
pub const O_PATH: usize = 0o10_000_000;
const O_CLOEXEC: usize = 0o2_000_000;
const AT_FDCWD: usize = -100_isize as usize;

pub fn open(path: Path<'_>, flags: usize) -> Result<u32> {
    // SAFETY: the path ends in NUL.
    let opened = unsafe { call(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags | O_CLOEXEC, 0, 0, 0]) };
    opened.map(|descriptor| descriptor as u32)
}

/// Opens a new file, or an old one that is emptied, to write to it.
pub fn create(path: Path<'_>) -> Result<u32> {
    const O_CREAT_TRUNC: usize = 0o1_100;
    let flags = O_WRONLY | O_CREAT_TRUNC | O_CLOEXEC;
    // SAFETY: the path ends in NUL.
    let opened = unsafe { call(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags, 0o600, 0, 0]) };
    opened.map(|descriptor| descriptor as u32)
}

/// Opens a file that others append to as well.
pub fn open_to_append(path: Path<'_>) -> Result<u32> {
    open(path, O_WRONLY | O_APPEND)
}

pub fn read(descriptor: u32, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the slice is valid for writes of its length.
    unsafe { call(number::READ, [descriptor as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

/// What stands at the beginning of a file, wherever reading it has come to.
pub fn read_from_start(descriptor: u32, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the slice is valid for writes of its length.
    unsafe { call(number::PREAD64, [descriptor as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

pub fn write(descriptor: u32, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the slice is valid for reads of its length.
    unsafe { call(number::WRITE, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

pub fn close(descriptor: u32) {
    let _ = plain(number::CLOSE, descriptor as usize, 0, 0);
}

/// Closes this descriptor and all above it.
pub fn close_from(first: u32) {
    if plain(number::CLOSE_RANGE, first as usize, u32::MAX as usize, 0).is_err() {
        // Before Linux 5.9; RLIMIT_NOFILE is 1024 by default.
        (first..4096).for_each(close);
    }
}

/// Makes `target` the same as `descriptor`; it survives exec only if `keep`.
pub fn duplicate(descriptor: u32, target: u32, keep: bool) -> Result<()> {
    let flags = if keep { 0 } else { O_CLOEXEC };
    plain(number::DUP3, descriptor as usize, target as usize, flags).map(drop)
}

pub fn chdir(path: Path<'_>) -> Result<()> {
    // SAFETY: the path ends in NUL.
    unsafe { call(number::CHDIR, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// The folder we are in, with its NUL.
pub fn folder(into: &mut [u8]) -> Result<&[u8]> {
    // SAFETY: the slice is valid for writes of its length.
    let length = unsafe { call(number::GETCWD, [into.as_mut_ptr() as usize, into.len(), 0, 0, 0, 0]) }?;
    Ok(&into[..length])
}

pub fn chmod(path: Path<'_>, mode: usize) -> Result<()> {
    // SAFETY: the path ends in NUL.
    unsafe { call(number::FCHMODAT, [AT_FDCWD, path.as_ptr() as usize, mode, 0, 0, 0]) }.map(drop)
}

/// Gives a file one more name.
pub fn link(path: Path<'_>, name: Path<'_>) -> Result<()> {
    let arguments = [AT_FDCWD, path.as_ptr() as usize, AT_FDCWD, name.as_ptr() as usize, 0, 0];
    // SAFETY: both paths end in NUL.
    unsafe { call(number::LINKAT, arguments) }.map(drop)
}

/// Takes a name from a file.
pub fn unlink(name: Path<'_>) -> Result<()> {
    // SAFETY: the path ends in NUL.
    unsafe { call(number::UNLINKAT, [AT_FDCWD, name.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// What a symbolic link says.
pub fn read_link<'a>(path: Path<'_>, into: &'a mut [u8]) -> Result<&'a [u8]> {
    let arguments = [AT_FDCWD, path.as_ptr() as usize, into.as_mut_ptr() as usize, into.len(), 0, 0];
    // SAFETY: the path ends in NUL, and the slice is valid for writes of its length.
    let length = unsafe { call(number::READLINKAT, arguments) }?;
    Ok(&into[..length])
}

/// What tells a file from all others: its device and its number there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

/// That of the file that a path leads to.
pub fn identity(path: Path<'_>) -> Result<Identity> {
    const STATX_INO: usize = 0x100;
    // struct statx: the number of the file is its fifth word, and the device, in two halves, its eighteenth.
    let mut about = [0_u64; 32];
    let arguments = [AT_FDCWD, path.as_ptr() as usize, 0, STATX_INO, (&raw mut about) as usize, 0];
    // SAFETY: the path ends in NUL, and the structure has 256 bytes.
    unsafe { call(number::STATX, arguments) }?;
    Ok(Identity { device: about[17], inode: about[4] })
}

/// Whether it may be run, which folders may too.
pub fn may_execute(path: Path<'_>) -> bool {
    const X_OK: usize = 1;
    // SAFETY: the path ends in NUL.
    unsafe { call(number::FACCESSAT, [AT_FDCWD, path.as_ptr() as usize, X_OK, 0, 0, 0]) }.is_ok()
}

/// Entries of a folder, as `struct linux_dirent64` lays them out.
pub fn entries(folder: u32, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the slice is valid for writes of its length.
    unsafe { call(number::GETDENTS64, [folder as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}
