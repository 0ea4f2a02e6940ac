//! Having the machine alone: the messages while waiting for it, and where it is not to be had.

use crate::error::{Code, CommandError};
use crate::screen;
use bakeoff_host::Who;
use bakeoff_host::lock::LockMode;
use bakeoff_host::machine::{Held, Machine};
use bakeoff_model::plain::clean;
use bakeoff_report::format::waiting_time;
use std::sync::atomic::{AtomicBool, Ordering};

/// Takes the machine for measurements that need no cache, until the value is dropped.
pub fn alone(quiet: bool) -> Result<Held, CommandError> {
    let machine = Machine::here();
    let held = machine.claim(LockMode::Exclusive, |process| tell_who_is_waited_for(process, quiet))?;
    tell_why_not_alone(machine.why_not());
    held.ok_or_else(|| CommandError::new(Code::Interrupted, "interrupted"))
}

/// Waits until nobody has the machine, and says once for whom; false if that was interrupted.
pub fn wait_until_free() -> Result<bool, CommandError> {
    Ok(Machine::here().claim(LockMode::Exclusive, |process| tell_who_is_waited_for(process, true))?.is_some())
}

/// Says that trials may be disturbed by others of our kind.
pub fn tell_why_not_alone(why: Option<&str>) {
    if let Some(why) = why {
        screen::err(&format!(
            "note: other Bakeoff commands on this machine may measure or build at the same time. No folder can hold a \
             lock for all of them ({why}); set BAKEOFF_LOCKS to a folder that can\n"
        ));
    }
}

/// Whether it was said once that somebody is waited for, which is enough where nothing is drawn.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Says which process has it, and how not to wait.
pub fn tell_who_is_waited_for(process: Option<u32>, quiet: bool) {
    if IS_TOLD.swap(true, Ordering::SeqCst) && quiet {
        return;
    }
    let number = process.map_or_else(|| "another process".to_owned(), |process| format!("process {process}"));
    let who = process.and_then(Who::of).map_or_else(String::new, |who| {
        let folder = who.folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
        let since = waiting_time(who.for_s);
        format!(" That process is `{}`, started by {}{folder} {since} ago.", who.command, who.user)
    });
    screen::err(&format!(
        "waiting for {number} to finish building or running trials.{} Trials need the machine to themselves\nhint: \
         press Ctrl-C to stop waiting. With BAKEOFF_LOCKS set to another folder, this command does not wait, but the \
         two commands disturb each other\n",
        clean(&who)
    ));
}
