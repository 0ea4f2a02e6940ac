//! `bakeoff saved`: which comparisons are saved under a name, and removing one.

use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::saved::Saved;
use bakeoff_command::screen;
use bakeoff_model::plain::clean;
use bakeoff_report::format::date;
use bakeoff_report::words::counted;
use std::path::Path;

/// List the comparisons that `compare --save` saved, or remove one
///
/// Each comparison is a journal in the folder `saved` under $BAKEOFF_STATE, $XDG_STATE_HOME/bakeoff or
/// ~/.local/state/bakeoff. To print its report, run `bakeoff report FILE`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Remove this comparison instead of listing all of them
    #[arg(long, value_name = "NAME")]
    remove: Option<String>,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    let saved = Saved::of_user()?;
    if let Some(name) = &args.remove {
        saved.remove(name)?;
        return Ok(Code::Done);
    }
    let names = saved.names();
    for name in &names {
        let about = about(&saved.journal(name)?);
        screen::out(&format!("{}: {}\n", clean(name), clean(&about)));
    }
    let folder = clean(&saved.folder().display().to_string());
    screen::out(&match names.is_empty() {
        true => "no comparisons are saved; use `compare --save NAME` to save one\n".to_owned(),
        false => format!("in {folder}\n"),
    });
    Ok(Code::Done)
}

/// When, how long, and what.
fn about(journal: &Path) -> String {
    let record = match bakeoff_journal::read(journal) {
        Ok(contents) => contents.record,
        Err(error) => return error.to_string(),
    };
    let when = record.sessions.first().map_or(String::new(), |session| date(session.started_unix_s) + ", ");
    let blocks = record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
    let names: Vec<&str> = record.study.variants.iter().map(|variant| variant.name.as_str()).collect();
    format!("{when}{}, {}", counted(blocks, "block"), names.join(", "))
}
