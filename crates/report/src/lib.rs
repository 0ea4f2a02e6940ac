//! Findings in, bytes out. Everything here turns [`Findings`] into text: one screen ([`screen()`]), the page for
//! people ([`terminal`]) and the page for machines ([`json`]). It computes no statistic, opens no file and does not
//! know whether there is a terminal: the caller gives width and colour. [`mod@format`] writes numbers, also for the
//! commands' own messages.

#[macro_use]
pub mod draw;

mod again;
pub mod caveats;
mod conditions;
mod effects;
mod failures;
pub mod format;
mod json;
mod latencies;
mod metrics;
mod not_paired;
mod order;
mod outputs;
mod places;
pub mod provenance;
mod ranking;
mod screen;
mod side_by_side;
mod terminal;
mod trace;
pub mod words;

pub use again::again;
pub use conditions::of_part;
pub use draw::Style;
pub use effects::{effect_names, levels};
pub use failures::{failure, failure_in_full, quote};
pub use format::TimeUnit;
pub use json::{letters, pretty as pretty_json};
pub use metrics::{TableText, append_picture, p_of, table_texts};
pub use not_paired::SAVED;
pub use screen::{
    About, Amount, As, Brief, BriefRow, Cause, Context, Doubt, Fact, Size, Weight, brief, margin, name, not_apart,
    screen,
};
pub use side_by_side::{side_by_side, side_by_side_items};
pub use terminal::{SECTIONS, SectionPage, drawn, terminal, terminal_with};
pub use trace::{Describe, Sheet, provenance, trace};

use bakeoff_judge::findings::Findings;
use serde_json::Value;

/// The findings as pretty-printed JSON with a final line feed: the types of [`bakeoff_judge::findings`], field by
/// field, in the order in which they are declared, doubts with kind and sentence; then the screen's answer and the verdict on
/// the study. Numbers are unrounded. It is made to be passed
/// on, so logs are named relative to the cache (`logs/….log`), and `home`, the user's home folder, is written `~` wherever
/// it stands.
pub fn json(findings: &Findings, home: Option<&str>) -> Result<String, serde_json::Error> {
    let findings = without_folders(findings);
    let text = json::whole(&findings)?;
    let Some(home) = home.map(|home| home.trim_end_matches('/')).filter(|home| home.len() > 1) else { return Ok(text) };
    let quoted = serde_json::to_string(home)?;
    Ok(without_home(&text, quoted.trim_matches('"')))
}

/// The findings with files of this machine named relative to their cache.
fn without_folders(findings: &Findings) -> Findings {
    let mut findings = findings.clone();
    let files = std::mem::take(&mut findings.besides.files);
    if !files.is_empty() {
        findings.sections.values_mut().for_each(|section| rename_files(section, &files));
    }
    findings
}

fn rename_files(value: &mut Value, files: &[String]) {
    match value {
        Value::String(text) if files.contains(text) => *text = in_cache(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename_files(item, files)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename_files(field, files)),
        _ => {}
    }
}

/// The findings as one passes them on: without the names of machines, and with logs named relative to the cache.
pub fn to_pass_on(findings: &Findings) -> Findings {
    let mut findings = without_folders(findings);
    findings.places.iter_mut().for_each(|place| place.host.clear());
    findings.number_places();
    findings
}

/// The last folder and the file: what a cache calls a file in it.
fn in_cache(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
    parts.reverse();
    parts.join("/")
}

/// `~` in place of a path, wherever it stands as a whole or at the beginning of a longer one.
fn without_home(text: &str, home: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || "._-/~".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(home) {
        let (before, found) = rest.split_at(at);
        let after = &found[home.len()..];
        // The rest of a longer path may go before it, or an option such as `-I`.
        let word_begins = out.chars().chain(before.chars()).rev().take_while(|c| is_name(*c)).last();
        let is_whole =
            word_begins.is_none_or(|c| c == '-') && !after.chars().next().is_some_and(|c| c != '/' && is_name(c));
        out.push_str(before);
        out.push_str(if is_whole { "~" } else { home });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::without_home;

    #[test]
    fn the_home_folder_is_a_tilde() {
        let check = |text: &str, expect: &str| assert_eq!(without_home(text, "/home/a"), expect);
        check("\"/home/a/bin/gcc 12\", \"/home/a\"", "\"~/bin/gcc 12\", \"~\"");
        check("-I/home/ab/x /srv/home/a/x -L=/home/a/x -I/home/a/x", "-I/home/ab/x /srv/home/a/x -L=~/x -I~/x");
        check("/home/a/home/a", "~/home/a");
        check("é/home/a", "é/home/a");
    }
}
