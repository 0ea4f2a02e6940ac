//! What a program needs that has nothing below it: where it begins, and where it ends after a panic. It begins by calling
//! `bakeoff_main`, which the root of the program defines, with the address of the stack that the kernel made.

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

/// A panic is a defect of ours, of which nobody is told but by the end.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    crate::program::last_resort()
}

/// `core` refers to it, because it was compiled for programs that unwind; nothing here does, so it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
