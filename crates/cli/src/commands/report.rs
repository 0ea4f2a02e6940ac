//! `bakeoff report`: judges a journal again and prints the report. It executes nothing.

use super::Showing;
use crate::error::{Code, CommandError};
use crate::{screen, state};
use std::path::PathBuf;

/// Print the report of a study that was executed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The study, whose latest journal is taken; or a journal (.jsonl)
    study: PathBuf,
    #[command(flatten)]
    showing: Showing,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let path = state::journal_of(&args.study)?;
    let contents = bakeoff_journal::read(&path)?;
    if contents.torn {
        screen::err("note: the journal's last line is torn, and left out\n");
    }
    if contents.unknown_lines > 0 {
        screen::err(&format!("note: {} lines of a newer bakeoff are left out\n", contents.unknown_lines));
    }
    args.showing.show(&contents.record)
}
