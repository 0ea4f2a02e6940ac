//! What the launcher does: it executes one job at a time, kills and reaps what is left of it, says what it saw, and
//! ends when its owner hangs up. It opens nothing but files of /proc, and decides nothing: commands, files, cgroups and
//! what becomes of figures are its owner's. One thread, and nothing that wakes while a trial goes on.
//!
//! The crate `host` compiles these modules too when it is tested or linted, but never calls them.

mod child;
mod clone;
mod job;
mod sweep;
mod sys;
mod text;
mod thaw;
mod watch;
#[allow(dead_code, reason = "each side uses its part")]
mod wire;
mod zombie;

use job::{Job, Memory};
use sweep::Mains;
use watch::{Over, Watch};

/// The owner's socket. Descriptor 1 is what the owner has us keep open.
const CONTROL: u32 = 0;
/// /dev/null, opened for reading: the standard input of every process.
const NULL: u32 = 2;
/// Taken by us so that no descriptor that we are sent has this number: it is where a process finds its marks.
const MARKS: u32 = 3;

/// Serves until the owner hangs up; nothing that was started is left then.
pub(crate) fn main() -> ! {
    // The owner has it executed as a program that does nothing, and as fast as it can.
    if !sys::is_socket(CONTROL) {
        sys::exit(0);
    }
    let served = stand_alone().and_then(|()| serve());
    // After an error something may still be executing. Nobody is left to hear of what cannot be killed.
    let _ = sweep::sweep(&Job::none(), &mut Mains::none());
    if sys::is_first_process() {
        sweep::outlive_the_others();
    }
    sys::exit(u32::from(served.is_err()))
}

/// The end after a defect of our own.
pub(crate) fn last_resort() -> ! {
    let _ = sweep::sweep(&Job::none(), &mut Mains::none());
    sys::exit(70)
}

/// Cuts the ties to the owner's surroundings.
fn stand_alone() -> sys::Result<()> {
    sys::close_from(3);
    zombie::prepare();
    // Standard error was the null device from the start; so was this, if there is nothing to keep.
    sys::duplicate(NULL, MARKS, false)?;
    for own in [CONTROL, 1, NULL] {
        keep_from_exec(own)?;
    }
    sys::default_signals();
    // Nothing is to interrupt us, and SIGCHLD is waited for. A process starts with none blocked.
    sys::block(u64::MAX);
    sys::name_process(c"bakeoff");
    sys::become_subreaper()
}

fn keep_from_exec(descriptor: u32) -> sys::Result<()> {
    const SPARE: u32 = 4;
    sys::duplicate(descriptor, SPARE, false)?;
    sys::duplicate(SPARE, descriptor, false)?;
    sys::close(SPARE);
    Ok(())
}

fn serve() -> sys::Result<()> {
    say(wire::READY, &[])?;
    let mut descriptors = [0; wire::MOST_DESCRIPTORS];
    let mut achieved = wire::Achieved::default();
    while let Some(heard) = hear(&mut descriptors)? {
        match heard.kind {
            wire::JOB => achieved = serve_job(heard, &mut descriptors)?,
            wire::TRY => {
                let (mut memory, length) = receive_body(heard, &mut descriptors)?;
                let (job, _) = Job::read(memory.bytes(), length, &[]).ok_or(sys::EPROTO)?;
                say(wire::TRIED, wire::bytes(&child::try_limits(&job)))?;
            }
            wire::SWEEP => {
                // Nobody can be told here of what will not die; it dies with us at the latest.
                let _ = sweep::sweep(&Job::none(), &mut Mains::none());
                say(wire::SWEPT, &[])?;
            }
            wire::ASK => say(wire::ACHIEVED, wire::bytes(&achieved))?,
            // It was meant for a job that has just ended.
            wire::STOP => drop(hear_stop()?),
            _ => return Err(sys::EPROTO),
        }
    }
    Ok(())
}

fn serve_job(heard: wire::Head, descriptors: &mut [u32]) -> sys::Result<wire::Achieved> {
    let (mut memory, length) = receive_body(heard, descriptors)?;
    let come = &descriptors[..heard.descriptors as usize];
    let (job, state) = Job::read(memory.bytes(), length, come).ok_or(sys::EPROTO)?;
    let mut watch = Watch::new(job, state);
    let over = watch.execute();
    let outcome = reply(&mut watch, over);
    // The descriptors that came; all others above 3 are closed by now.
    sys::close_from(MARKS + 1);
    outcome
}

fn reply(watch: &mut Watch<'_>, over: Over) -> sys::Result<wire::Achieved> {
    let achieved = over.job.achieved;
    match over.swept {
        // Nobody is there to hear it.
        _ if over.hung_up => {}
        Err(pid) => say(wire::UNKILLABLE, wire::bytes(&wire::Unkillable { pid: pid as u64 }))?,
        Ok(leftovers) => {
            let job = wire::JobOver { leftovers, ..over.job };
            let processes = watch.over_bytes();
            let length = (size_of::<wire::JobOver>() + processes.len()) as u64;
            let mut front = [0; size_of::<wire::Head>() + size_of::<wire::JobOver>()];
            let (head, rest) = front.split_at_mut(size_of::<wire::Head>());
            head.copy_from_slice(wire::bytes(&wire::Head { kind: wire::ENDED, descriptors: 0, length }));
            rest.copy_from_slice(wire::bytes(&job));
            send_all(&front, processes)?;
        }
    }
    Ok(achieved)
}

fn say(kind: u32, body: &[u8]) -> sys::Result<()> {
    let head = wire::Head { kind, descriptors: 0, length: body.len() as u64 };
    send_all(wire::bytes(&head), body)
}

fn send_all(mut first: &[u8], mut second: &[u8]) -> sys::Result<()> {
    while !first.is_empty() || !second.is_empty() {
        match sys::send(CONTROL, first, second) {
            Ok(sent) => {
                let of_first = sent.min(first.len());
                (first, second) = (&first[of_first..], &second[sent - of_first..]);
            }
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// The next message's head, and the first of its descriptors; none if the owner has hung up.
fn hear(descriptors: &mut [u32]) -> sys::Result<Option<wire::Head>> {
    let mut head = wire::Head::default();
    let (mut filled, mut come) = (0, 0);
    while filled < size_of::<wire::Head>() {
        let into = &mut wire::bytes_mut(&mut head)[filled..];
        match sys::receive(CONTROL, into, descriptors.get_mut(come..).unwrap_or_default()) {
            Ok((0, _)) => return Ok(None),
            Ok((more, with)) => (filled, come) = (filled + more, come + with),
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    // The others come after the body, and are counted on from here.
    let expected = (head.descriptors as usize).min(wire::MOST_AT_ONCE);
    if come == expected { Ok(Some(head)) } else { Err(sys::EPROTO) }
}

fn hear_stop() -> sys::Result<wire::Stop> {
    let mut stop = wire::Stop::default();
    receive_all(wire::bytes_mut(&mut stop))?;
    Ok(stop)
}

/// The body, in memory that has room for the job as well, and the rest of its descriptors.
fn receive_body(head: wire::Head, descriptors: &mut [u32]) -> sys::Result<(Memory, usize)> {
    let length = usize::try_from(head.length).map_err(|_| sys::EPROTO)?;
    if length < size_of::<wire::Job>() || head.descriptors as usize > descriptors.len() {
        return Err(sys::EPROTO);
    }
    let mut fixed = wire::Job::default();
    receive_all(wire::bytes_mut(&mut fixed))?;
    let mut memory = Memory::take(length + job::beyond(fixed.processes as usize))?;
    let body = &mut memory.bytes()[..length];
    let (start, rest) = body.split_at_mut(size_of::<wire::Job>());
    start.copy_from_slice(wire::bytes(&fixed));
    receive_all(rest)?;
    let mut come = wire::MOST_AT_ONCE;
    while come < head.descriptors as usize {
        match sys::receive(CONTROL, &mut [0], &mut descriptors[come..])? {
            (_, 0) => return Err(sys::EPROTO),
            (_, more) => come += more,
        }
    }
    Ok((memory, length))
}

fn receive_all(mut into: &mut [u8]) -> sys::Result<()> {
    while !into.is_empty() {
        match sys::read(CONTROL, into) {
            Ok(0) => return Err(sys::EPROTO),
            Ok(more) => into = &mut into[more..],
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Reads a request as a fuzzer made it.
#[cfg(fuzzing)]
pub(crate) fn fuzz_job(body: &[u8]) {
    let Some(head) = wire::read::<wire::Job>(body, 0) else { return };
    let count = head.processes as usize;
    if count > 1024 {
        return;
    }
    let Ok(mut memory) = Memory::take(body.len() + job::beyond(count)) else { return };
    memory.bytes()[..body.len()].copy_from_slice(body);
    if let Some((job, _)) = Job::read(memory.bytes(), body.len(), &[]) {
        for process in job.processes {
            let _ = (job.vector(process.argv), job.joins(), job.descriptor(0));
        }
    }
}
