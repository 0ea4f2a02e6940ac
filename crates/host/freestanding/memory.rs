//! The five functions that the compiler may call for copies, fills and comparisons. Their loops are instructions or
//! volatile, because a plain loop would be compiled into a call of the very function it stands in.

#[cfg(target_arch = "x86_64")]
use core::arch::asm;

/// memcpy(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller vouches for both ranges; the direction flag is clear by the calling convention.
    unsafe {
        asm!("rep movsb", inout("rcx") length => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for at in 0..length {
        // SAFETY: the caller vouches for both ranges.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
    }
    to
}

/// memmove(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    if (to as usize) < (from as usize) || (to as usize) >= (from as usize).wrapping_add(length) {
        // SAFETY: forwards is right for ranges that do not overlap, or that move down; `memcpy` goes forwards.
        return unsafe { memcpy(to, from, length) };
    }
    for at in (0..length).rev() {
        // SAFETY: the caller vouches for both ranges.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
    }
    to
}

/// memset(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memset(to: *mut u8, byte: i32, length: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller vouches for the range; the direction flag is clear by the calling convention.
    unsafe {
        asm!("rep stosb", inout("rcx") length => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for at in 0..length {
        // SAFETY: the caller vouches for the range.
        unsafe { to.add(at).write_volatile(byte as u8) };
    }
    to
}

/// memcmp(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    for at in 0..length {
        // SAFETY: the caller vouches for both ranges.
        let (a, b) = unsafe { (one.add(at).read_volatile(), other.add(at).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// bcmp(3).
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    // SAFETY: the same promise.
    unsafe { memcmp(one, other, length) }
}
