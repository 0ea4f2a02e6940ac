//! Words on the screen: the commands of `bakeoff`, composed of the other crates. It reads arguments and files, hands
//! them on, and prints what comes back; what is measured, built, judged or drawn is decided elsewhere.

mod alike;
mod alone;
mod aside;
mod commands;
mod continued;
mod error;
mod evidence;
mod failing;
mod journals;
mod programs;
mod progress;
mod screen;
mod session;
mod state;
mod study_folder;
mod twins;
mod written;

use clap::{CommandFactory as _, FromArgMatches as _};
use std::process::ExitCode;

/// Does what the arguments ask for.
pub fn main() -> ExitCode {
    let matches = command().get_matches();
    let outcome = match commands::Cli::from_arg_matches(&matches) {
        Ok(cli) => commands::execute(cli),
        Err(error) => error.exit(),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(error) => {
            screen::err(&error.render());
            error.code.into()
        }
    }
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
