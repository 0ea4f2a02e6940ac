//! What is said of a source that is not what it seems: the same words for every command that builds.

use crate::BuildEvent;
use bakeoff_model::plain::clean;
use bakeoff_report::words::counted;
use std::path::PathBuf;

impl BuildEvent {
    /// The line about a source that an event is worth; none for any other event.
    pub fn note(&self) -> Option<String> {
        match self {
            BuildEvent::NotFiltered { source, filter, files } => Some(format!(
                "note: .gitattributes sets the filter `{}` for {} of source {source}; Bakeoff does not run filters, so \
                 it uses the committed content",
                clean(filter),
                counted(*files as u32, "file")
            )),
            BuildEvent::BuiltBefore { source, left_out, kept } => {
                let they_are = if left_out.len() == 1 { "it is" } else { "they are" };
                let goes = named(left_out)
                    .map(|files| format!("Bakeoff leaves {files} out of its copy, so {they_are} compiled again"));
                let stays =
                    named(kept).map(|files| format!("Bakeoff keeps {files}, because it found no matching source file"));
                let both: Vec<String> = goes.into_iter().chain(stays).collect();
                Some(format!("note: source {source} contains files from an earlier build: {}", both.join("; ")))
            }
            _ => None,
        }
    }
}

/// The first of some files, and how many more there are; none of none.
fn named(files: &[PathBuf]) -> Option<String> {
    const NAMED: usize = 4;
    let shown: Vec<String> = files.iter().take(NAMED).map(|file| clean(&file.to_string_lossy())).collect();
    let more = files.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}
