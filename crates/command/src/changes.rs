//! Changes of a study since its journal began, in words.

use bakeoff_model::record::Change;
use std::fmt::Write as _;

const CHANGES_SHOWN: usize = 8;

/// One line for each change.
pub fn in_words(changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes.iter().take(CHANGES_SHOWN) {
        let line = match change {
            Change::Key(key) => key.clone(),
            Change::NewKey(key) => format!("{key}, now added"),
            Change::NoKey(key) => format!("{key}, now removed"),
            Change::File(name) => format!("the file {name}"),
            Change::NoFile(name) => format!("the file {name}, now missing"),
            Change::Shared(variant, with) => {
                format!("{variant}, now the same program as {with}, so both share a row")
            }
            Change::Apart(variant) => format!("{variant}, no longer in a shared row"),
            Change::Build(variant) => format!("the build of {variant}: its sources, scripts, variables or tools"),
        };
        let _ = writeln!(text, "    {}", bakeoff_model::plain::clean(&line));
    }
    if changes.len() > CHANGES_SHOWN {
        let _ = writeln!(text, "    and {} more", changes.len() - CHANGES_SHOWN);
    }
    text
}
