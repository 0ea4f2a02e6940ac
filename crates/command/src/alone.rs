//! Having the machine alone: the messages while waiting for it, and where it is not to be had.

use crate::error::{Code, CommandError};
use crate::screen;
use bakeoff_host::lock::How;
use bakeoff_host::machine::{Held, Machine};

/// Takes the machine for measurements that need no cache, until the value is dropped.
pub fn alone(quiet: bool) -> Result<Held, CommandError> {
    let machine = Machine::here();
    let held = machine.claim(How::Alone, |process| tell_who_is_waited_for(process, quiet))?;
    tell_why_not_alone(machine.why_not());
    held.ok_or_else(|| CommandError::new(Code::Interrupted, "interrupted"))
}

/// Says that trials may be disturbed by others of our kind.
pub fn tell_why_not_alone(why: Option<&str>) {
    if let Some(why) = why {
        screen::err(&format!(
            "note: other commands on this machine may measure or build at the same time, because no folder can hold a lock for \
             all of them ({why}); BAKEOFF_LOCKS names one\n"
        ));
    }
}

/// Says which process has it.
pub fn tell_who_is_waited_for(process: Option<u32>, quiet: bool) {
    if !quiet {
        let who = process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"));
        screen::err(&format!(
            "waiting for {who}: it builds or executes trials, and trials need the machine for themselves\n"
        ));
    }
}
