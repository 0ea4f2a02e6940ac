//! The first process of a machine that was booted: it prepares the machine, starts the agent, and ends the machine when the
//! agent has ended. It measures nothing: that is the agent's business, which is an ordinary process.

use crate::accelerator::GOOD_CODE;
use crate::inside::AGENT;
use crate::machine::TERMINAL;
use bakeoff_command::{Code, CommandError, screen};
use bakeoff_host::guest;
use std::path::Path;
use std::process::{Command, Stdio};

/// Where all that is ours lies, without the first slash.
pub(crate) const HOME: &str = "bakeoff";
/// The command of [`execute`].
pub(crate) const FIRST: &str = "vm-init";
/// Its option by which the machine ends at once.
pub(crate) const ONLY_BOOT: &str = "--only-boot";
/// What the machine ends with if the agent could not be started.
const NO_AGENT: u8 = 23;
/// What it ends with if the agent was killed by a signal: this, and the signal's number.
pub(crate) const SIGNALS: u8 = 100;

/// Be the first process of a machine that was booted for trials; not for people
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// End the machine at once: it is only to be seen whether it boots
    #[arg(long)]
    only_boot: bool,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    if std::process::id() != 1 {
        return Err(CommandError::usage("this command works only as the first process of a booted machine"));
    }
    let ended = guest::mount_all().and_then(|()| if args.only_boot { Ok(0) } else { agent() });
    let code = match ended {
        Ok(0) => GOOD_CODE,
        Ok(code) if code > 128 => {
            u8::try_from(code - 128).map_or(NO_AGENT, |signal| SIGNALS + signal % (128 - SIGNALS))
        }
        // No other code may look like the good one.
        Ok(code) => u8::try_from(code).ok().filter(|code| ![GOOD_CODE, SIGNALS].contains(code)).unwrap_or(NO_AGENT),
        Err(error) => {
            screen::err(&format!("bakeoff: {error}\n"));
            NO_AGENT
        }
    };
    guest::end_machine(code).map_err(|error| CommandError::text(Code::Internal, format!("bakeoff: {error}\n")))?;
    Ok(Code::Internal)
}

fn agent() -> std::io::Result<i32> {
    let program = format!("/{HOME}/bakeoff");
    let words = program_words(Path::new(&format!("/{HOME}/loader")).exists(), &program);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args([AGENT, "--order"]).arg(format!("/{HOME}/order")).arg("--to").arg(TERMINAL);
    command.env_clear().env("PATH", PATH).stdin(Stdio::null());
    let child = command.spawn()?;
    guest::wait_for(child.id())
}

/// Where programs are inside.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The words that start our own program inside: with the loader and the libraries that came with it, if it needs any.
pub(crate) fn program_words(has_loader: bool, program: &str) -> Vec<String> {
    match has_loader {
        false => vec![program.to_owned()],
        true => {
            vec![format!("/{HOME}/loader"), "--library-path".to_owned(), format!("/{HOME}/lib"), program.to_owned()]
        }
    }
}
