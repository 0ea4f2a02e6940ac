//! `bakeoff help TOPIC`. The command line turns `bakeoff help` and `bakeoff help COMMAND` into `--help` before this is
//! called.

use crate::page::shown;
use crate::topics::TOPICS;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_model::problem::did_you_mean;
use bakeoff_report::draw::text::clean;
use std::fmt::Write as _;

/// Print help for a command or a topic; `bakeoff help topics` lists the topics
///
/// The topics are the pages of Bakeoff's documentation.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A command, a topic such as `study-file`, or `topics`
    name: String,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let name = &args.name;
    if name == "topics" {
        screen::out(&topics());
        return Ok(Code::Done);
    }
    let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) else {
        let error = format!("there is no command or topic `{}`", clean(name));
        let meant = did_you_mean(name, TOPICS.iter().map(|topic| topic.name));
        let mut hint = meant.map_or_else(String::new, |meant| format!("did you mean `bakeoff help {meant}`? "));
        hint.push_str("`bakeoff help topics` lists the topics; `bakeoff --help` lists the commands");
        return Err(CommandError::usage(error).hint(hint));
    };
    screen::out(&shown(topic.text, screen::style()));
    Ok(Code::Done)
}

fn topics() -> String {
    let longest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let mut text = "Topics (`bakeoff help TOPIC` prints one):\n".to_owned();
    for topic in TOPICS {
        let _ = writeln!(text, "  {:longest$}  {}", topic.name, topic.about);
    }
    text
}
