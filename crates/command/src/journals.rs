//! Reads a journal for a command, and reports each oddity with its line. What the lines mean is not decided here.

use crate::error::CommandError;
use crate::feature::Registry;
use crate::screen;
use bakeoff_model::plain::clean;
use bakeoff_model::record::{MadeLine, Odd, Oddity, Record, Redaction, Removed};
use bakeoff_report::words::counted;
use std::fmt::Write as _;
use std::path::Path;

const ODD_SHOWN: usize = 5;

/// The record of a journal, with notes on what is odd about its lines.
pub fn read(path: &Path, features: &Registry) -> Result<Record, CommandError> {
    let contents = bakeoff_journal::read(path)?;
    if contents.torn {
        screen::err("note: the journal's last line is incomplete, so it was ignored\n");
    }
    let unknown = contents.record.features.iter().filter(|line| !features.has_line(line.kind())).count();
    if unknown > 0 {
        screen::err(&format!("note: ignored {} from a newer Bakeoff\n", counted(unknown as u32, "line")));
    }
    tell(path, &contents.odd, "`bakeoff run` runs damaged trials again");
    Ok(contents.record)
}

/// Says what is odd about a journal's lines; `remedy` is what brings damaged trials back.
pub fn tell(path: &Path, odd: &[Odd], remedy: &str) {
    if odd.is_empty() {
        return;
    }
    let mut text = format!("note: the journal {} was changed or damaged:\n", path.display());
    for one in odd.iter().take(ODD_SHOWN) {
        let _ = writeln!(text, "    {one}");
    }
    if odd.len() > ODD_SHOWN {
        let _ = writeln!(text, "    and {} more", odd.len() - ODD_SHOWN);
    }
    if odd.iter().any(|one| one.what == Oddity::Damaged) {
        let _ = writeln!(text, "hint: {remedy}");
    }
    screen::err(&text);
}

/// A redaction of this record for others: of its hosts, of the user, and of all folders.
pub fn redaction(record: &Record, features: &Registry) -> Result<Redaction, CommandError> {
    let users = ["USER", "LOGNAME", "SUDO_USER"].iter().filter_map(|name| std::env::var(name).ok());
    let users: Vec<String> = users.filter(|name| !name.is_empty()).collect();
    let is_folder = |path: &str| std::fs::metadata(path).ok().map(|about| about.is_dir());
    let any = |_: &MadeLine| true;
    let is_made = features.makers.first().map_or(any as fn(&MadeLine) -> bool, |making| making.is_made);
    Ok(Redaction::of(record, &users, is_folder, is_made)?)
}

/// Says what was removed, on standard error: it is the user's own.
pub fn tell_removed(removed: &Removed) {
    let list = |names: &[String]| names.iter().map(|name| clean(name)).collect::<Vec<_>>().join(", ");
    let mut text = "removed before sharing:\n".to_owned();
    for (what, names) in [("host names", &removed.hosts), ("user names", &removed.users)] {
        if !names.is_empty() {
            let _ = writeln!(text, "    {what}: {}", list(names));
        }
    }
    for (number, folder) in (1..).zip(&removed.folders) {
        let _ = writeln!(text, "    the folder {}, now written as ~{number}", clean(folder));
    }
    screen::err(&text);
}
