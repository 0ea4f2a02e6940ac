//! One system call by its number, for x86-64 and AArch64: only this file knows how a program asks the kernel.

use core::arch::asm;

/// What a system call gives, or its errno.
pub type Result<T> = core::result::Result<T, u32>;

pub const EPERM: u32 = 1;
pub const EINTR: u32 = 4;
pub const ECHILD: u32 = 10;
pub const EACCES: u32 = 13;
pub const EEXIST: u32 = 17;
pub const ENOSYS: u32 = 38;
pub const EPROTO: u32 = 71;
pub const EOPNOTSUPP: u32 = 95;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("there are system calls for x86-64 and AArch64 only; this file and number.rs are where others go");

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
