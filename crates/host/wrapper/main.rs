//! The wrapper: a freestanding program that stands before compilers, linkers and archivers while something is built,
//! says what they are told, and becomes the real one; by another name it confines a build's script. It has no C library
//! and no allocator, because it starts with every call of a compiler. This file is what a program needs that has
//! nothing below it; what it does is in `program/`.

#![no_std]
#![no_main]

#[path = "../launcher/memory.rs"]
mod memory;
mod program;

/// Called by [`start`] with an aligned stack.
#[unsafe(no_mangle)]
extern "C" fn bakeoff_main(stack: *mut usize) -> ! {
    // SAFETY: it is the stack that the kernel made.
    unsafe { program::main(stack) }
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call bakeoff_main",
    "ud2",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, #0",
    "mov x30, #0",
    "mov x0, sp",
    "bl bakeoff_main",
    "brk #1"
);

/// A panic is a defect of ours.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    program::last_resort()
}

/// `core` refers to it, because it was compiled for programs that unwind; nothing here does, so it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
