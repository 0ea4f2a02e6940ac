//! What can still be read of a process that has ended and has not been reaped: its own I/O, and how long it had to
//! wait for a processor. As text, which its owner reads.
//!
//! Files of /proc belong to root once a process has ended, and `io` may be opened by its owner alone. What is open
//! can still be read. So where the launcher is not root, the new process opens its own before it executes its program,
//! in a table of descriptors that it shares with the launcher up to then. (If the launcher opened it, the process could
//! be over by the time.)

use super::job::Job;
use super::sys;
use super::text::{Path, of_process};
use super::wire::{self, ProcessOver};
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether processes must open it for us, and can. Among the other values: the linker could put it behind the large
/// buffers of zeros, and then this one byte costs a page, which shows in the peak of whatever is launched.
#[unsafe(link_section = ".data")]
static HELP: AtomicBool = AtomicBool::new(false);

/// When the launcher begins.
pub(super) fn prepare() {
    HELP.store(!sys::is_root() && sys::unshare_descriptors().is_ok(), Ordering::Relaxed);
}

/// Whether the processes of this job are to open theirs.
pub(super) fn needs_help(job: &Job<'_>) -> bool {
    job.head.flags & (wire::ZOMBIES | wire::LOAD) == wire::ZOMBIES && HELP.load(Ordering::Relaxed)
}

pub(super) fn look(pid: i32, io: u32, over: &mut ProcessOver) {
    over.io_length = match io {
        0 => once(&of_process(pid, b"io"), &mut over.io),
        open => read(open, &mut over.io),
    };
    over.schedstat_length = once(&of_process(pid, b"schedstat"), &mut over.schedstat);
}

/// These files come in one piece.
fn once(path: &Path, into: &mut [u8]) -> u32 {
    sys::open(path.c_str(), 0).map_or(0, |file| read(file, into))
}

fn read(file: u32, into: &mut [u8]) -> u32 {
    let length = sys::read(file, into).unwrap_or(0);
    sys::close(file);
    length as u32
}
