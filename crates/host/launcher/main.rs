//! The launcher process: a freestanding program, without a C library and without an allocator, so that it has next to
//! no memory of its own to show in the peak of what it launches. This file is what a program needs that has nothing
//! below it: where it begins, what it does when it panics, and the memory functions that the compiler calls. What it
//! does as a launcher is in `program/`.

#![no_std]
#![no_main]

mod memory;
mod program;

/// Called by [`start`] with an aligned stack.
#[unsafe(no_mangle)]
extern "C" fn bakeoff_main() -> ! {
    program::main()
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call bakeoff_main",
    "ud2",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(".globl _start", "_start:", "mov x29, #0", "mov x30, #0", "bl bakeoff_main", "brk #1");

/// A panic is a defect of ours; even then nothing of a job may live on.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    program::last_resort()
}

/// `core` refers to it, because it was compiled for programs that unwind; nothing here does, so it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
