//! The wrapper: a freestanding program that stands before compilers, linkers and archivers while something is built,
//! says what they are told, and becomes the real one; by another name it confines a build's script. It has no C library
//! and no allocator, because it starts with every call of a compiler. What it does is in `program/`; what it shares with
//! the launcher, another freestanding program, in `crates/host/freestanding/`.

#![no_std]
#![no_main]

#[path = "../../crates/host/freestanding/memory.rs"]
mod memory;
mod program;
#[path = "../../crates/host/freestanding/start.rs"]
mod start;

/// Called by [`start`] with an aligned stack.
#[unsafe(no_mangle)]
extern "C" fn bakeoff_main(stack: *mut usize) -> ! {
    // SAFETY: it is the stack that the kernel made.
    unsafe { program::main(stack) }
}
