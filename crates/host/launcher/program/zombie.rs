//! What can still be read of a process that has ended and has not been reaped: its own I/O, and how long it had to
//! wait for a processor. As text, which its owner reads.

use super::sys;
use super::text::{Path, of_process};
use super::wire::ProcessOver;

pub(super) fn look(pid: i32, over: &mut ProcessOver) {
    over.io_length = once(&of_process(pid, b"io"), &mut over.io);
    over.schedstat_length = once(&of_process(pid, b"schedstat"), &mut over.schedstat);
}

/// These files come in one piece.
fn once(path: &Path, into: &mut [u8]) -> u32 {
    let Ok(file) = sys::open(path.c_str(), 0) else { return 0 };
    let length = sys::read(file, into).unwrap_or(0);
    sys::close(file);
    length as u32
}
