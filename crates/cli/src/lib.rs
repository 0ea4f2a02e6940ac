//! Words on the screen: the commands of `bakeoff`, composed of the other crates. It reads arguments and files, hands
//! them on, and prints what comes back; what is measured, built, judged or drawn is decided elsewhere.

mod alike;
mod alone;
mod aside;
mod commands;
mod continued;
mod error;
mod evidence;
mod executed;
mod failing;
mod journals;
mod programs;
mod progress;
mod scratch;
mod screen;
mod session;
mod state;
mod study_folder;
mod twins;

use clap::{CommandFactory as _, FromArgMatches as _};
use std::process::ExitCode;

/// Does what the arguments ask for.
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches().and_then(|matches| commands::Cli::from_arg_matches(&matches));
    let outcome = match parsed {
        Ok(cli) => commands::execute(cli),
        Err(said) => return help_or_error(&said),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(error) => {
            let error = error.settled();
            screen::err(&error.render());
            error.code.into()
        }
    }
}

/// Help, the version, or what is wrong with the arguments.
fn help_or_error(said: &clap::Error) -> ExitCode {
    let text = |colour: bool| match colour {
        true => said.render().ansi().to_string(),
        false => said.render().to_string(),
    };
    if said.use_stderr() {
        screen::err(&text(screen::err_colour()));
    } else {
        screen::out(&text(screen::style().colour));
    }
    u8::try_from(said.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The command line, for the page `docs/cli.md`.
pub fn command() -> clap::Command {
    commands::Cli::command()
}

/// The page `docs/cli.md`: every command with its options, generated from the command line itself.
pub fn command_page() -> String {
    let options = clap_markdown::MarkdownOptions::new().title("The commands of bakeoff".to_owned()).show_footer(false);
    let page = clap_markdown::help_markdown_command_custom(&command(), &options);
    page.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
