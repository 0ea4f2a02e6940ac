//! Two commands, of which one reads what the other prints; and one that reads a text. Neither is given a terminal.

use bakeoff_command::CommandError;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs `first`, with that text as its input, and has `second` read what it prints.
pub(crate) fn through(mut first: Command, second: &mut Command, text: &[u8]) -> Result<(), CommandError> {
    let failed = |what: &Command, why: &str| {
        let program = what.get_program().to_string_lossy().into_owned();
        CommandError::usage(format!("`{program}` failed: {why}")).hint("it is needed to copy the study")
    };
    let started = first.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut writer = started.map_err(|error| failed(&first, &error.to_string()))?;
    let (Some(mut input), Some(output)) = (writer.stdin.take(), writer.stdout.take()) else {
        return Err(failed(&first, "it has no pipes"));
    };
    let started = second.stdin(output).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let reader = started.map_err(|error| failed(second, &error.to_string()))?;
    // If the command has gone, its exit code says why.
    let _ = input.write_all(text);
    drop(input);
    let [written, read] = [writer.wait_with_output(), reader.wait_with_output()];
    for (command, output) in [(&first, written), (&*second, read)] {
        let output = output.map_err(|error| failed(command, &error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(failed(command, bakeoff_model::plain::clean(said.trim()).as_str()));
        }
    }
    Ok(())
}
