//! The `describe` commands of a layer: run as `verify` lines are, and their standard output read as settings, one
//! on each line. What a setting means is not known here.

use super::neutral::Neutral;
use crate::error::{At, Stop};
use crate::shell::Shell;
use crate::site::Site;
use bakeoff_report::words::counted;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;

/// No description is longer, in bytes: what prints more does not describe settings.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The settings that these commands print, by name; prefix and work folder without the layer's digits.
pub(super) fn settings(
    shell: &mut Shell,
    lines: &[String],
    site: &Site,
    neutral: &Neutral,
) -> Result<BTreeMap<String, String>, Stop> {
    let mut settings = BTreeMap::new();
    let output = site.work.join("described");
    for (number, line) in (1..).zip(lines) {
        shell.note(&format!("describe line {number}: {line}"))?;
        // The shell that redirects becomes the one that runs the line.
        let redirected = "exec sh -c \"$1\" >\"$0\"";
        let name = output.display().to_string();
        let ended = shell.execute(&["sh", "-c", redirected, &name, line], &site.tree, &site.env)?;
        let failed = |why: String| {
            format!("describe line {number} {why}: {}", line.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        if let Some(complaint) = shell.complaint(&ended.end) {
            return Err(shell.failure(failed(complaint), &site.work)?.into());
        }
        let mut bytes = vec![];
        File::open(&output).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).at("read", &output)?;
        fs::remove_file(&output).at("remove", &output)?;
        if bytes.len() as u64 > MOST_BYTES {
            let why = format!("printed more than the limit of {} MiB", MOST_BYTES >> 20);
            return Err(shell.failure(failed(why), &site.work)?.into());
        }
        let before = settings.len();
        read(&neutral.text(&String::from_utf8_lossy(&bytes)), &mut settings);
        let new = counted((settings.len() - before) as u32, "setting");
        shell.note(&format!("describe line {number} printed {new}"))?;
    }
    Ok(settings)
}

/// Reads `NAME=VALUE` and `NAME: VALUE`; any other line is a name with an empty value. A value that a shell would read
/// as one word in quotes is taken out of them, as `perl -V:NAME` and `configure` write it. A name that comes again adds
/// a line to its value.
fn read(text: &str, settings: &mut BTreeMap<String, String>) {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let pair = |separator: &str| line.split_once(separator).filter(|(name, _)| !name.trim().is_empty());
        let equals = pair("=");
        let colon =
            pair(": ").or_else(|| line.strip_suffix(':').map(|name| (name, "")).filter(|(name, _)| !name.is_empty()));
        let (name, value) = match (equals, colon) {
            (Some(first), Some(second)) if first.0.len() < second.0.len() => first,
            (_, Some(second)) => second,
            (Some(first), None) => first,
            (None, None) => (line, ""),
        };
        let (name, value) = (name.trim(), unquoted(value.trim()));
        settings
            .entry(name.to_owned())
            .and_modify(|known| {
                known.push('\n');
                known.push_str(value);
            })
            .or_insert_with(|| value.to_owned());
    }
}

fn unquoted(value: &str) -> &str {
    let inside = |quote: char| {
        let word = value.strip_suffix(';').unwrap_or(value);
        word.strip_prefix(quote)?.strip_suffix(quote).filter(|inside| !inside.contains(quote))
    };
    inside('\'').or_else(|| inside('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_settings() {
        let check = |text: &str, expect: &[(&str, &str)]| {
            let mut settings = BTreeMap::new();
            read(text, &mut settings);
            let expect: BTreeMap<String, String> =
                expect.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(settings, expect, "{text}");
        };
        check("", &[]);
        check("d_fork=define\n\n  ivsize = 8\n", &[("d_fork", "define"), ("ivsize", "8")]);
        check("Compiled with: gcc -O2\nOptions:\n", &[("Compiled with", "gcc -O2"), ("Options", "")]);
        check("libs: -lm=2\nurl=http: x", &[("libs", "-lm=2"), ("url", "http: x")]);
        check("USE_ITHREADS", &[("USE_ITHREADS", "")]);
        check("=odd", &[("=odd", "")]);
        check("cc='gcc';\nld=\"a b\"\nx='a' 'b'", &[("cc", "gcc"), ("ld", "a b"), ("x", "'a' 'b'")]);
        check("inc=a\ninc=b", &[("inc", "a\nb")]);
    }
}
