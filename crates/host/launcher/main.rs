//! The launcher process: a freestanding program, without a C library and an allocator, so that its memory hardly shows
//! in the peak of what it launches. It is in `program/`; it shares `../freestanding/` with the compiler wrapper.

#![no_std]
#![no_main]

#[path = "../freestanding/memory.rs"]
mod memory;
mod program;
#[path = "../freestanding/start.rs"]
mod start;

/// Called by [`start`] with an aligned stack. Nothing of what the kernel put on it matters: all words come over a socket.
#[unsafe(no_mangle)]
extern "C" fn bakeoff_main(_: *const usize) -> ! {
    program::main()
}
