//! The launcher process: a freestanding program, without a C library and without an allocator, so that it has next to
//! no memory of its own to show in the peak of what it launches. What it does is in `program/`; what it shares with the
//! wrapper, another freestanding program, in `../freestanding/`.

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
