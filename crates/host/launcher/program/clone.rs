//! A new process by clone3, on its own stack, in memory shared with us until it runs a program: the quickest start.

use super::sys::{ENOSYS, Result, SIGCHLD, number};

/// struct clone_args.
#[repr(C)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

unsafe extern "C" {
    /// System call `number` with three arguments; in the new process, `function(argument)` instead of a return.
    fn bakeoff_clone(
        number: usize,
        a: usize,
        b: usize,
        c: usize,
        function: unsafe extern "C" fn(usize) -> !,
        argument: usize,
    ) -> isize;
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl bakeoff_clone",
    "bakeoff_clone:",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "xor r10d, r10d",
    "syscall",
    "test rax, rax",
    "jnz 2f",
    "xor ebp, ebp",
    "mov rdi, r9",
    "call r8",
    "ud2",
    "2:",
    "ret",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl bakeoff_clone",
    "bakeoff_clone:",
    "mov x8, x0",
    "mov x0, x1",
    "mov x1, x2",
    "mov x2, x3",
    "mov x9, x4",
    "mov x10, x5",
    "mov x3, #0",
    "mov x4, #0",
    "svc 0",
    "cbnz x0, 2f",
    "mov x29, #0",
    "mov x0, x10",
    "blr x9",
    "brk #1",
    "2:",
    "ret",
);

/// A new process that shares our memory, and has us wait, until it runs a program or ends: its number, and a
/// descriptor of it. It calls `function(argument)` on `stack`.
///
/// # Safety
/// The stack is the new process's alone and big enough; the function ends the process or runs a program, and
/// leaves memory as the caller can bear it.
pub(super) unsafe fn spawn(
    stack: &mut [u8],
    into: Option<u32>,
    function: unsafe extern "C" fn(usize) -> !,
    argument: usize,
) -> Result<(i32, u32)> {
    // CLONE_VM | CLONE_PIDFD | CLONE_VFORK, CLONE_INTO_CGROUP.
    const FLAGS: u64 = 0x100 | 0x1000 | 0x4000;
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let mut pidfd = 0_u32;
    let bottom = (stack.as_mut_ptr() as usize + 15) & !15;
    let size = (stack.as_mut_ptr() as usize + stack.len() - bottom) & !15;
    let arguments = CloneArguments {
        flags: FLAGS | into.map_or(0, |_| CLONE_INTO_CGROUP),
        pidfd: (&raw mut pidfd) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: SIGCHLD,
        stack: bottom as u64,
        stack_size: size as u64,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: u64::from(into.unwrap_or(0)),
    };
    // Without a cgroup, the structure as of Linux 5.3.
    let known = if into.is_some() { size_of::<CloneArguments>() } else { 64 };
    // SAFETY: the structure has the size that is given; the caller vouches for stack and function.
    let mut pid =
        unsafe { bakeoff_clone(number::CLONE3, (&raw const arguments) as usize, known, 0, function, argument) };
    if pid == -(ENOSYS as isize) && into.is_none() {
        // Docker's filter lets only clone through.
        let flags = (FLAGS | SIGCHLD) as usize;
        let descriptor = (&raw mut pidfd) as usize;
        // SAFETY: as above; where the stack ends is where it begins.
        pid = unsafe { bakeoff_clone(number::CLONE, flags, bottom + size, descriptor, function, argument) };
    }
    if pid < 0 { Err(pid.unsigned_abs() as u32) } else { Ok((pid as i32, pidfd)) }
}
