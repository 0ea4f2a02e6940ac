//! Shell completions and pages of the manual, made of the command line itself. It writes them and installs nothing:
//! `make install` does.

use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use clap::Command;
use std::io;
use std::path::PathBuf;

/// Print a script that completes commands and options in a shell
///
/// For bash: `bakeoff completions bash > ~/.local/share/bash-completion/completions/bakeoff`. `make install` does that for
/// bash, fish and zsh.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Write the pages of the manual, one for each command, for man(1)
#[derive(Debug, clap::Args)]
pub(crate) struct Manual {
    /// The folder for them, such as /usr/local/share/man/man1
    folder: PathBuf,
}

pub(crate) fn completions(args: &Completions, mut command: Command) -> Result<Code, CommandError> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut command, "bakeoff", &mut script);
    screen::out_bytes(&script);
    Ok(Code::Done)
}

pub(crate) fn manual(args: &Manual, command: Command) -> Result<Code, CommandError> {
    let failed = |error: io::Error| {
        CommandError::usage(format!("the manual cannot be written into {}: {error}", args.folder.display()))
            .hint("name a folder that you may write to")
    };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), &args.folder).map_err(failed)?;
    Ok(Code::Done)
}
