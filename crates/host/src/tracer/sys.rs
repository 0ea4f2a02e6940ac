//! The calls that rustix does not have: ptrace(2), waitpid(2) for all children whatever they are, fork(2), and the memory
//! of another process. Wrappers only; what the answers mean is known elsewhere.
#![allow(unsafe_code, reason = "there are no safe wrappers for these calls")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

const PTRACE_CONT: u32 = 7;
const PTRACE_SYSCALL: u32 = 24;
const PTRACE_GETEVENTMSG: u32 = 0x4201;
const PTRACE_SEIZE: u32 = 0x4206;
const PTRACE_LISTEN: u32 = 0x4208;
const PTRACE_GET_SYSCALL_INFO: u32 = 0x420e;

/// TRACESYSGOOD, TRACEFORK, TRACEVFORK, TRACECLONE, TRACEEXEC, TRACEEXIT, TRACESECCOMP, EXITKILL.
const OPTIONS: usize = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 20;

/// A task that is traced, or its process.
pub(super) type Pid = libc::pid_t;

/// Words of `struct ptrace_syscall_info`, with the longest of its variants.
pub(super) const INFO_WORDS: usize = 11;

/// The exit code of a tracer that had nothing to trace.
pub(super) const NOTHING: i32 = 127;

fn ptrace(request: u32, pid: Pid, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: none of the requests here but GETEVENTMSG and GET_SYSCALL_INFO writes to our memory, and these two are given
    // places of the size that they write to, which outlive the call.
    match unsafe { libc::ptrace(request as _, pid, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub(super) fn seize(pid: Pid) -> io::Result<()> {
    ptrace(PTRACE_SEIZE, pid, 0, OPTIONS)
}

/// Lets a stopped task go on to its next system call, with a signal if one is due. Nothing is wrong if it was killed.
pub(super) fn go_on(pid: Pid, signal: i32) {
    let _ = ptrace(PTRACE_SYSCALL, pid, 0, signal as usize);
}

/// The same, to its next event, which no system call is that the filter lets through.
pub(super) fn go_on_to_event(pid: Pid, signal: i32) {
    let _ = ptrace(PTRACE_CONT, pid, 0, signal as usize);
}

/// Leaves a task stopped as it would be if nobody traced it.
pub(super) fn stay(pid: Pid) {
    let _ = ptrace(PTRACE_LISTEN, pid, 0, 0);
}

/// What the stop of a system call tells; none if the task is gone.
pub(super) fn syscall_info(pid: Pid) -> Option<[u64; INFO_WORDS]> {
    let mut words = [0_u64; INFO_WORDS];
    ptrace(PTRACE_GET_SYSCALL_INFO, pid, size_of_val(&words), words.as_mut_ptr() as usize).ok()?;
    Some(words)
}

/// The number that comes with an event; of an exec, the task that called it.
pub(super) fn event_message(pid: Pid) -> Option<u64> {
    let mut message: libc::c_ulong = 0;
    ptrace(PTRACE_GETEVENTMSG, pid, 0, (&raw mut message) as usize).ok()?;
    #[allow(clippy::useless_conversion, reason = "it has 32 bits on some machines")]
    Some(u64::from(message))
}

/// The next of our tasks to which something happened, and what; none if there is none left.
pub(super) fn wait() -> io::Result<Option<(Pid, i32)>> {
    wait_with(0)
}

/// The same if something has happened by now; else the task is 0.
pub(super) fn wait_no_longer() -> io::Result<Option<(Pid, i32)>> {
    wait_with(libc::WNOHANG)
}

fn wait_with(options: i32) -> io::Result<Option<(Pid, i32)>> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is valid for the write.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | options) };
        if pid > 0 || pid == 0 && options != 0 {
            return Ok(Some((pid, status)));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(error),
        }
    }
}

pub(super) fn kill(pid: Pid) {
    // SAFETY: neither call touches our memory.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL);
    }
}

/// Reads memory of another process from an address on, as far as it goes.
pub(super) fn read_memory(pid: Pid, address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let Ok(address) = usize::try_from(address) else { return 0 };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: `local` describes `into`, which is ours to write; the other address is one of the other process.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// What a new process is to become.
pub(super) struct Image<'a> {
    pub(super) program: &'a CStr,
    pub(super) argv: &'a [CString],
    pub(super) env: &'a [CString],
    /// It waits for a byte here first, and gives up if there comes none.
    pub(super) barrier: RawFd,
    /// The other end of that, which it has to close so that it can be seen to be closed.
    pub(super) barrier_other: RawFd,
    /// Takes the errno of a failed exec.
    pub(super) word: RawFd,
    /// The filter that it and its children get, if any: see [`filter_of`].
    pub(super) filter: &'a [libc::sock_filter],
}

/// A filter that stops at these calls of this machine, and at all calls of other machines; seccomp(2), struct seccomp_data.
pub(super) fn filter_of(machine: u32, calls: &[u32]) -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let stop = step(RETURN, libc::SECCOMP_RET_TRACE, 0, 0);
    let mut filter = vec![step(LOAD, 4, 0, 0), step(IS, machine, 1, 0), stop, step(LOAD, 0, 0, 0)];
    for &call in calls {
        filter.extend([step(IS, call, 0, 1), stop]);
    }
    filter.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    filter
}

/// Gives this process the filter; without root's rights only if no program that it runs may gain any.
///
/// # Safety
/// Async-signal-safe; `filter` is read only.
unsafe fn take(filter: &[libc::sock_filter]) -> bool {
    let Ok(len) = u16::try_from(filter.len()) else { return false };
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program outlives the calls, which read it.
    unsafe {
        let set = || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0;
        filter.is_empty() || set() || (libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && set())
    }
}

/// Forks; the child waits in a process group of its own, and becomes the image.
pub(super) fn fork(image: &Image<'_>) -> io::Result<Pid> {
    let vector = |strings: &[CString]| {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>()
    };
    let (argv, env) = (vector(image.argv), vector(image.env));
    // SAFETY: this process has one thread, and the child calls nothing but async-signal-safe functions on memory that was
    // made before; it never returns.
    unsafe {
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let mut byte = 0_u8;
                libc::setpgid(0, 0);
                libc::close(image.barrier_other);
                if libc::read(image.barrier, (&raw mut byte).cast(), 1) == 1 && take(image.filter) {
                    // Rust programs ignore it, and an ignored signal stays so over an exec.
                    libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                    libc::execve(image.program.as_ptr(), argv.as_ptr(), env.as_ptr());
                }
                let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0).to_ne_bytes();
                libc::write(image.word, errno.as_ptr().cast(), errno.len());
                libc::_exit(NOTHING)
            }
            pid => Ok(pid),
        }
    }
}

/// Signals by which programs are asked to end, or to do something else that only they know.
const ASKING: [libc::c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// The process group that gets what we are asked; 0 if there is none yet.
static ASKED: AtomicI32 = AtomicI32::new(0);

extern "C" fn hand_on(signal: libc::c_int) {
    let group = ASKED.load(Ordering::Relaxed);
    if group > 0 {
        // SAFETY: kill is async-signal-safe and touches no memory; errno is this thread's, which reads it after a call.
        unsafe {
            let errno = *libc::__errno_location();
            libc::kill(-group, signal);
            *libc::__errno_location() = errno;
        }
    }
}

/// From now on hands signals on to a process group. A child gets their default actions when it runs another program.
pub(super) fn hand_on_signals_to(group: Pid) {
    ASKED.store(group, Ordering::Relaxed);
    for signal in ASKING {
        // SAFETY: an all-zero sigaction is a valid one, and the handler does what a handler may.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = hand_on as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Ends this process by a signal, without a core of its own; an exit code in its place if the signal does not end it.
pub(crate) fn die_of(signal: i32) -> i32 {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls read `none` and nothing else of ours.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    128 + signal
}
