//! System calls that every freestanding program of ours needs: one by its number, files, memory, and the end. The
//! launcher has its others in `sys.rs`, the wrapper in `crates/host/wrapper/program/sys.rs`. Only calls that x86-64 and
//! AArch64 both have are used. An error is its errno.

use core::arch::asm;

/// What a system call gives, or its errno.
pub type Result<T> = core::result::Result<T, u32>;

pub const EINTR: u32 = 4;

pub const O_WRONLY: usize = 1;
pub const O_DIRECTORY: usize = if cfg!(target_arch = "aarch64") { 0o40_000 } else { 0o200_000 };
pub const O_CLOEXEC: usize = 0o2_000_000;
pub const AT_FDCWD: usize = -100_isize as usize;

/// Numbers of system calls.
#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const MMAP: usize = 9;
    pub const EXECVE: usize = 59;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
}

/// Numbers of system calls.
#[cfg(target_arch = "aarch64")]
mod number {
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const EXIT_GROUP: usize = 94;
    pub const EXECVE: usize = 221;
    pub const MMAP: usize = 222;
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("there are system calls for x86-64 and AArch64 only; this file is where others go");

/// One system call.
///
/// # Safety
/// Whatever the call reads or writes must be there.
pub unsafe fn call(number: usize, a: [usize; 6]) -> Result<usize> {
    let mut returned: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller vouches for the arguments; the kernel changes rax, rcx, r11 and what the arguments point to.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => returned,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller vouches for the arguments; the kernel changes x0 and what the arguments point to.
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a[0] as isize => returned,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5], options(nostack));
    }
    if returned < 0 { Err(returned.unsigned_abs() as u32) } else { Ok(returned.unsigned_abs()) }
}

/// One system call whose arguments are plain numbers.
pub fn plain(number: usize, a: usize, b: usize, c: usize) -> Result<usize> {
    // SAFETY: none of the calls for which this is used reads or writes memory of ours.
    unsafe { call(number, [a, b, c, 0, 0, 0]) }
}

/// A string for the kernel: bytes that end in NUL.
pub type Path<'a> = &'a core::ffi::CStr;

pub fn read(descriptor: u32, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the slice is valid for writes of its length.
    unsafe { call(number::READ, [descriptor as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

pub fn write(descriptor: u32, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the slice is valid for reads of its length.
    unsafe { call(number::WRITE, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

pub fn open(path: Path<'_>, flags: usize) -> Result<u32> {
    // SAFETY: the path ends in NUL.
    let opened = unsafe { call(number::OPENAT, [AT_FDCWD, path.as_ptr() as usize, flags | O_CLOEXEC, 0, 0, 0]) };
    opened.map(|descriptor| descriptor as u32)
}

pub fn close(descriptor: u32) {
    let _ = plain(number::CLOSE, descriptor as usize, 0, 0);
}

/// Memory of our own, filled with zeros.
pub fn map(length: usize) -> Result<*mut u8> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS.
    // SAFETY: the kernel chooses an address that is free.
    unsafe { call(number::MMAP, [0, length, 3, 0x22, usize::MAX, 0]) }.map(|address| address as *mut u8)
}

pub fn exit(code: u32) -> ! {
    loop {
        let _ = plain(number::EXIT_GROUP, code as usize, 0, 0);
    }
}

/// Executes a program in place of this one; returns only if it cannot.
///
/// # Safety
/// Both vectors are arrays of pointers to strings that end in NUL, and end in a null pointer.
pub unsafe fn exec(path: Path<'_>, argv: *const usize, env: *const usize) -> u32 {
    // SAFETY: the caller vouches for the vectors.
    let executed = unsafe { call(number::EXECVE, [path.as_ptr() as usize, argv as usize, env as usize, 0, 0, 0]) };
    executed.err().unwrap_or_default()
}
