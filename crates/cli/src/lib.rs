//! Words on the screen: the commands of `bakeoff`, composed of the other crates. It reads arguments and files, hands
//! them on, and prints what comes back; it measures, builds, judges and draws nothing itself.

mod bare;
mod commands;
mod continued;
mod executed;
mod features;
mod instrument;
mod manual;
pub use features::features;
mod place;
mod programs;
mod progress;
mod race;
mod session;
mod share;
mod used;

use bakeoff_command::{Code, CommandError, Group, Registry, Subcommand, screen};
use clap::error::{ContextKind, ContextValue};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Does what the arguments ask for.
pub fn main() -> ExitCode {
    let mut features = features();
    let commands = commands(&mut features);
    let is_subcommand = |name: &str| commands.iter().any(|command| command.clap.get_name() == name);
    let words = bare::completed(std::env::args_os().collect(), is_subcommand, bare::is_program);
    let meant = commands.iter().find(|command| words.get(1).is_some_and(|name| name == command.clap.get_name()));
    // A script would take the usual code for an answer.
    let is_script =
        meant.and_then(|command| command.script).is_some_and(|option| words.iter().any(|word| word == option));
    let misused = if is_script { Code::Abort } else { Code::Usage };
    let matches = match with(&commands).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(said) => return help_or_error(said, misused),
    };
    let code = execute(&commands, &matches, &features).unwrap_or_else(|error| {
        let error = error.settled();
        screen::err(&error.render());
        error.code
    });
    let code = screen::settled(code);
    // All tests of commands hold the help to it.
    debug_assert!(is_explained(&commands, &matches, code), "no help lists this exit code: {code:?}");
    code.into()
}

/// Whether the help of the command has this exit code; what nobody types has no help.
fn is_explained(commands: &[Subcommand], matches: &clap::ArgMatches, code: Code) -> bool {
    let executed = commands.iter().find(|command| Some(command.clap.get_name()) == matches.subcommand_name());
    executed.is_none_or(|command| command.clap.is_hide_set() || command.may_end(code))
}

/// All commands, by group: in each, those of the core come first.
fn commands(features: &mut Registry) -> Vec<Subcommand> {
    let mut commands = commands::of_core(features);
    commands.append(&mut features.commands);
    let of_cli = [
        Subcommand::new("completions", |args| manual::completions(args, command())),
        Subcommand::new("manual", |args| manual::manual(args, command())),
    ];
    commands.extend(of_cli.map(|command| command.group(Group::Maintain)));
    commands.sort_by_key(|command| command.group);
    commands.iter_mut().for_each(|command| features.add_options(command));
    commands
}

fn execute(commands: &[Subcommand], matches: &clap::ArgMatches, features: &Registry) -> Result<Code, CommandError> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Code::Usage) };
    if let Some(done) = features.take_over(name, matches) {
        return done;
    }
    let meant = commands.iter().find(|command| command.clap.get_name() == name);
    meant.map_or(Ok(Code::Usage), |command| command.execute(matches, features))
}

/// Help, the version, or what is wrong with the arguments.
fn help_or_error(mut said: clap::Error, misused: Code) -> ExitCode {
    // An option that is unknown is no program to measure.
    if let Some(ContextValue::StyledStrs(tips)) = said.remove(ContextKind::Suggested) {
        let tips = tips.into_iter().filter(|tip| !tip.to_string().contains("as a value")).collect();
        said.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    let text = |colour: bool| match colour {
        true => said.render().ansi().to_string(),
        false => said.render().to_string(),
    };
    if said.use_stderr() {
        screen::err(&text(screen::err_colour()));
    } else {
        screen::out(&text(screen::style().colour));
    }
    let code = if said.exit_code() == 0 { Code::Done } else { misused };
    screen::settled(code).into()
}

/// The command line, for the pages of its commands.
pub fn command() -> clap::Command {
    with(&commands(&mut features()))
}

fn with(commands: &[Subcommand]) -> clap::Command {
    commands::program(commands).subcommands(commands.iter().map(Subcommand::explained))
}

/// The pages below `docs/reference`, by file: a page for each command, and `commands.md`, which lists them. They are
/// generated from the command line itself.
pub fn command_pages() -> BTreeMap<String, String> {
    let all = command();
    let mut list = "# Commands\n\n`bakeoff COMMAND --help` prints the same, and so does `man bakeoff-COMMAND`.\n\n\
                    | command | what it does |\n|---|---|\n"
        .to_owned();
    let mut pages = BTreeMap::new();
    for command in all.get_subcommands().filter(|command| !command.is_hide_set()) {
        let (name, about) = (command.get_name(), command.get_about().unwrap_or_default());
        list += &format!("| [{name}](commands/{name}.md) | {about} |\n");
        pages.insert(format!("commands/{name}.md"), command_page(command));
    }
    pages.insert("commands.md".to_owned(), list);
    pages
}

/// The page of one command. The generator's title and preface give way to ours.
fn command_page(command: &clap::Command) -> String {
    let path = format!("bakeoff {}", command.get_name());
    let options = clap_markdown::MarkdownOptions::new().show_footer(false).show_table_of_contents(false);
    let page = clap_markdown::help_markdown_command_custom(&command.clone().display_name(&path), &options);
    let heading = format!("## `{path}`\n");
    let text = page.split_once(&heading).map_or(&*page, |(_, text)| text);
    let lines: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    format!("# {path}\n{lines}")
}
