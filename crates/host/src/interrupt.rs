//! Interrupts: SIGINT, SIGTERM and SIGHUP are counted and end nothing by themselves. A caller can wait for the first or
//! the second. A signal that was ignored when the program began (`nohup`, background jobs) stays ignored.
#![allow(unsafe_code, reason = "rustix cannot install signal handlers")]

use crate::Error;
use rustix::event::{EventfdFlags, eventfd};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, ptr};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Readable from the first interrupt on, and from the second on.
static EVENTS: OnceLock<[OwnedFd; 2]> = OnceLock::new();

/// Begins to count. Calling it again changes nothing.
pub fn install() -> Result<(), Error> {
    if EVENTS.get().is_some() {
        return Ok(());
    }
    let event = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from);
    let events = [event().map_err(Error::Interrupts)?, event().map_err(Error::Interrupts)?];
    if EVENTS.set(events).is_err() {
        return Ok(()); // another thread was faster, and installs the handlers
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        catch(signal).map_err(Error::Interrupts)?;
    }
    Ok(())
}

/// How many interrupts there were.
pub fn count() -> u32 {
    COUNT.load(Ordering::SeqCst)
}

/// What becomes readable at the `nth` interrupt, 1 or 2, and stays so; none if nobody counts.
pub(crate) fn event(nth: u32) -> Option<BorrowedFd<'static>> {
    let events = EVENTS.get()?;
    Some(if nth <= 1 { &events[0] } else { &events[1] }.as_fd())
}

/// Interrupts a process that this one started and has not waited for.
pub fn send(child: &std::process::Child) {
    // One that has ended since needs no interrupt.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT);
}

fn catch(signal: libc::c_int) -> io::Result<()> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action only asks; `before` is valid for a write of its type.
    if unsafe { libc::sigaction(signal, ptr::null(), before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all-zero bytes are a valid sigaction, and the call above succeeded in filling it.
    if unsafe { before.assume_init() }.sa_sigaction == libc::SIG_IGN {
        return Ok(());
    }
    // SAFETY: all-zero bytes are a valid sigaction: no flags, an empty mask.
    let mut action = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
    action.sa_sigaction = note as extern "C" fn(libc::c_int) as libc::sighandler_t;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: `action` is fully initialised, and `note` does only what a signal handler may do.
    if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The handler: an atomic addition, an atomic load and write(2), all of them async-signal-safe (signal-safety(7)).
extern "C" fn note(_signal: libc::c_int) {
    let nth = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
    for event in EVENTS.get().into_iter().flatten().take(nth as usize) {
        // It can only fail when the event is already readable.
        let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
    }
}
