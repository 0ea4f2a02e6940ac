//! What the launcher does: it runs one job at a time, kills and reaps what is left of it, says what it saw, and
//! ends when its owner hangs up. It opens nothing but files of /proc, and decides nothing: commands, files, cgroups and
//! what becomes of figures are its owner's. One thread, and nothing that wakes while a trial goes on.
//!
//! The crate `host` compiles these modules too when it is tested or linted, but never calls them.

mod child;
mod clone;
mod job;
mod sweep;
#[allow(dead_code, unused_imports, reason = "each program uses its part")]
#[path = "../../freestanding/sys/mod.rs"]
mod sys;
mod talk;
#[allow(dead_code, unused_imports, reason = "each program uses its part")]
#[path = "../../freestanding/text.rs"]
mod text;
mod thaw;
mod watch;
#[allow(dead_code, reason = "each side uses its part")]
mod wire;
mod zombie;

use child::NULL;
use job::Job;
use sweep::Mains;
use talk::{CONTROL, hear, hear_stop, receive_body, say, send_all};
use watch::{Over, Watch};

/// Taken by us so that no descriptor that we are sent has this number: it is where a process finds its marks.
const MARKS: u32 = 3;

/// Serves until the owner hangs up; nothing that was started is left then.
pub(crate) fn main() -> ! {
    // The owner has it run as a program that does nothing, and as fast as it can.
    if !sys::is_socket(CONTROL) {
        sys::exit(0);
    }
    let served = stand_alone().and_then(|()| serve());
    // After an error something may still be running. Nobody is left to hear of what cannot be killed.
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
    // Standard error was the null device from the start; so was this, if there is nothing to keep.
    sys::duplicate(NULL, MARKS, false)?;
    for own in [CONTROL, 1, NULL] {
        keep_from_exec(own)?;
    }
    zombie::prepare(NULL)?;
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
    // The descriptors that came; all others are closed by now.
    sys::close_from(zombie::IO + 1);
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

/// Reads a request as a fuzzer made it.
#[cfg(fuzzing)]
pub(crate) fn fuzz_job(body: &[u8]) {
    let Some(head) = wire::read::<wire::Job>(body, 0) else { return };
    let count = head.processes as usize;
    if count > 1024 {
        return;
    }
    let Ok(mut memory) = job::Memory::take(body.len() + job::beyond(count)) else { return };
    memory.bytes()[..body.len()].copy_from_slice(body);
    if let Some((job, _)) = Job::read(memory.bytes(), body.len(), &[]) {
        for process in job.processes {
            let _ = (job.vector(process.argv), job.joins(), job.descriptor(0));
        }
    }
}
