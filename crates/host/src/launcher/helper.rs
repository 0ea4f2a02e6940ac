//! The launcher process itself: waits for a command, executes and measures it, sweeps up what it left, replies, and
//! ends when its owner hangs up. It has one thread, ignores interrupts, and stays small, because its own peak memory
//! is the least that any command can show.
#![allow(unsafe_code, reason = "closing unknown descriptors and ignoring signals")]

use super::program::NotStarted;
use super::spawn::Launch;
use super::sweep::{self, Unkillable};
use super::wait::wait4;
use super::wire::{self, Reply, Request};
use super::{Command, End, Ended};
use crate::now_unix_s;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, set_child_subreaper};
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Serves until the owner hangs up; nothing that was started is left then.
pub(super) fn main() -> ! {
    let served = stand_alone().and_then(|control| serve(&control));
    // After an error something may still be executing. Nobody is left to hear of what cannot be killed.
    let _ = sweep::sweep();
    std::process::exit(i32::from(served.is_err()));
}

/// Cuts the ties to the owner's surroundings; the control socket.
fn stand_alone() -> io::Result<UnixStream> {
    close_inherited()?;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: ignoring a signal calls nothing; trials get default signals again.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // A process that was executed by way of /proc/self/exe is called "exe" otherwise.
    let _ = std::fs::write("/proc/self/comm", "bakeoff");
    set_child_subreaper(Some(getpid()))?;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Closes what our owner's own starter left open: a trial must not see it, and we must not hold it.
fn close_inherited() -> io::Result<()> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open.into_iter().filter(|&descriptor| descriptor > 2) {
        // SAFETY: this process has just begun and owns no descriptor above 2; the one that listed them is closed.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}

fn serve(control: &UnixStream) -> io::Result<()> {
    let null = File::open("/dev/null")?;
    wire::send(control, &Reply::Ready)?;
    while let Some(request) = wire::receive(control)? {
        // A late `Kill` is for a command that has ended.
        let Request::Execute(command) = request else { continue };
        let ended = execute(&command, control, &null);
        wire::send(control, &reply(ended, sweep::sweep()))?;
    }
    Ok(())
}

fn reply(ended: io::Result<Ended>, swept: Result<u32, Unkillable>) -> Reply {
    match (ended, swept) {
        (_, Err(Unkillable(pid))) => Reply::Unkillable(pid.as_raw_nonzero().get()),
        (Err(error), _) => Reply::Broken(error.to_string()),
        (Ok(ended), Ok(leftovers)) => Reply::Ended(Ended { leftovers, ..ended }),
    }
}

/// Executes the command, up to the end of its main process; what that leaves is for the sweep.
fn execute(command: &Command, control: &UnixStream, null: &File) -> io::Result<Ended> {
    let launch = match Launch::prepare(command, null) {
        Ok(launch) => launch,
        Err(fault) => return Ok(not_started(fault)),
    };
    let started_unix_s = now_unix_s();
    let clock = Instant::now();
    let main = match launch.spawn() {
        Ok(main) => main,
        Err(fault) => return Ok(not_started(fault)),
    };
    let (wall, interrupted) = until_end(main, control, clock)?;
    let (end, mut measurements) = wait4(main)?;
    measurements.insert("wall".to_owned(), wall.as_secs_f64());
    let end = if interrupted && end == End::Signalled(libc::SIGKILL) { End::Interrupted } else { end };
    Ok(Ended { end, started_unix_s, measurements, leftovers: 0 })
}

/// Waits until the main process has ended, and kills it if the owner says so or hangs up. The time it took, and
/// whether it was killed. The process is a zombie then: its number is still its own.
fn until_end(main: Pid, control: &UnixStream, clock: Instant) -> io::Result<(Duration, bool)> {
    let pidfd = pidfd_open(main, PidfdFlags::empty())?;
    let mut watched = [PollFd::new(&pidfd, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
    let mut interrupted = false;
    loop {
        // An owner that has hung up stays readable for ever.
        let heeded = if interrupted { 1 } else { 2 };
        let woken = poll(&mut watched[..heeded], None);
        let wall = clock.elapsed();
        match woken {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        if !watched[0].revents().is_empty() {
            return Ok((wall, interrupted));
        }
        // Whatever is said while a command executes, even garbage or nothing at all, can only mean its end.
        let _ = wire::receive::<Request>(control);
        interrupted = true;
        // It leads its session, and so cannot have left its group.
        kill_process_group(main, Signal::KILL)?;
    }
}

fn not_started(fault: NotStarted) -> Ended {
    Ended::never_began(End::NotStarted { what: fault.what, why: fault.why })
}
