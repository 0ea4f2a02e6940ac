//! Shell completions and pages of the manual, made of the command line itself. It writes them and installs nothing:
//! `make install` does.

use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::exits::TITLE;
use bakeoff_command::screen;
use clap::Command;
use std::io;
use std::path::PathBuf;

/// Print a completion script for a shell
///
/// For bash: `bakeoff completions bash > ~/.local/share/bash-completion/completions/bakeoff`. `make install` installs
/// the scripts for bash, fish and zsh.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Write the manual pages, one for each command
#[derive(Debug, clap::Args)]
pub(crate) struct Manual {
    /// The folder for the pages, such as /usr/local/share/man/man1
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
        CommandError::unwritten(&format!("cannot write the manual to {}", args.folder.display()), &error)
            .hint("name a folder that you can write to")
    };
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut commands = vec![command];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|one| !one.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(command.clone());
        let path = args.folder.join(page.get_filename());
        let mut text = vec![];
        write_page(&page, &command, &mut text).and_then(|()| std::fs::write(path, text)).map_err(failed)?;
    }
    Ok(Code::Done)
}

/// One page. What stands below the options is set here: clap_mangen would fill its lines like a paragraph.
fn write_page(page: &clap_mangen::Man, command: &Command, text: &mut Vec<u8>) -> io::Result<()> {
    page.render_title(text)?;
    page.render_name_section(text)?;
    page.render_synopsis_section(text)?;
    page.render_description_section(text)?;
    page.render_options_section(text)?;
    if command.get_subcommands().any(|one| !one.is_hide_set()) {
        page.render_subcommands_section(text)?;
    }
    let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    text.extend(sections(&below).bytes());
    page.render_version_section(text)
}

/// Examples and exit codes as sections: lines that are indented stay as they are, and codes stand before their
/// meanings.
fn sections(below: &str) -> String {
    let mut out = ".SH EXAMPLES\n".to_owned();
    let mut is_set = false;
    for line in below.lines() {
        let is_indented = line.starts_with("  ");
        if is_indented != is_set {
            out += if is_indented { ".nf\n" } else { ".fi\n" };
            is_set = is_indented;
        }
        match line.strip_prefix("- ").and_then(|item| item.split_once(": ")) {
            _ if line.starts_with(TITLE.trim_end_matches(':')) => out += ".SH EXIT STATUS\n",
            _ if line.is_empty() => out += ".PP\n",
            Some((code, meaning)) => out += &format!(".TP\n.B {}\n{}\n", roff(code), roff(meaning)),
            None => out += &format!("{}\n", roff(line)),
        }
    }
    out.replace(".SH EXAMPLES\n.SH", ".SH").replace(".PP\n.SH", ".SH")
}

/// A line as text: nothing in it is a request or an escape of roff(7).
fn roff(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_codes_stand_before_their_meanings() {
        let below = "Examples:\n  a -b 'c'\n  .d\n\nExit codes:\n\n- 0: done\n- 130: it\\s";
        let expect = ".SH EXAMPLES\nExamples:\n.nf\n  a \\-b \\(aqc\\(aq\n  .d\n.fi\n.SH EXIT STATUS\n.PP\n.TP\n\
                      .B 0\ndone\n.TP\n.B 130\nit\\es\n";
        assert_eq!(sections(below), expect);
        assert!(sections("Exit codes:\n\n- 0: done").starts_with(".SH EXIT STATUS\n"));
        assert_eq!(roff(".x"), "\\&.x");
    }
}
