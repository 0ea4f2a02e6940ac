//! What is said, before the first trial, of commands that cannot be started. Which these are is the lab's word.

use bakeoff_command::error::CommandError;
use bakeoff_command::screen;
use bakeoff_lab::local::Absent;

/// Ends the command where the baseline is among those that cannot be started: then nothing can be compared. Of other
/// variants it is said; their trials fail, and the study goes on.
pub(crate) fn of_study(absent: &[Absent], baseline: &str) -> Result<(), CommandError> {
    if let Some(first) = absent.iter().find(|one| one.variant == baseline) {
        let Absent { part, program, why, .. } = first;
        let error = format!("{part} cannot be executed, not even for the baseline: `{program}` {why}");
        return Err(refused(error, first));
    }
    for Absent { variant, part, program, why, meant } in absent {
        let meant = meant.as_ref().map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        screen::err(&format!(
            "note: {variant}: {part} cannot be executed: `{program}` {why}{meant}. Its trials will fail\n"
        ));
    }
    Ok(())
}

/// Ends the command where any of the commands to be compared cannot be started.
pub(crate) fn of_commands(absent: &[Absent]) -> Result<(), CommandError> {
    let Some(first) = absent.first() else { return Ok(()) };
    let Absent { variant, program, why, .. } = first;
    Err(refused(format!("`{variant}` cannot be executed: `{program}` {why}"), first))
}

fn refused(error: String, first: &Absent) -> CommandError {
    let hint = first.meant.as_ref().map(|meant| format!("did you mean `{meant}`?"));
    CommandError::usage(error).hint(hint.unwrap_or_else(|| "nothing was executed; correct the command".to_owned()))
}
