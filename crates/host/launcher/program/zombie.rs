//! What the kernel knows of an ended process when it is reaped: what it read and wrote, and its wait for a processor.
//!
//! A process that reaps another is charged with what that one and those reaped by it read and wrote: the difference of our
//! account, from a file that stays open, as opening `/proc/PID/io` takes five times as long, and only root may.

use super::sys;
use super::text::of_process;
use super::wire::ProcessOver;

/// Our own `/proc/self/io`; the null device where there is none.
pub(super) const IO: u32 = 4;

/// When the launcher begins, and has no descriptor above [`IO`].
pub(super) fn prepare(null: u32) -> sys::Result<()> {
    match sys::open(c"/proc/self/io", 0) {
        Ok(IO) => Ok(()),
        opened => {
            let source = opened.unwrap_or(null);
            sys::duplicate(source, IO, false)?;
            if source != null {
                sys::close(source);
            }
            Ok(())
        }
    }
}

/// Our account before a process is reaped.
pub(super) fn before(over: &mut ProcessOver) {
    over.io_before_length = account(&mut over.io_before);
}

/// Our account after it.
pub(super) fn after(over: &mut ProcessOver) {
    over.io_length = account(&mut over.io);
}

/// How long it had to wait. These files come in one piece.
pub(super) fn look_at_wait(pid: i32, over: &mut ProcessOver) {
    let Ok(file) = sys::open(of_process(pid, b"schedstat").c_str(), 0) else { return };
    over.schedstat_length = sys::read(file, &mut over.schedstat).unwrap_or(0) as u32;
    sys::close(file);
}

fn account(into: &mut [u8]) -> u32 {
    sys::read_from_start(IO, into).unwrap_or(0) as u32
}
