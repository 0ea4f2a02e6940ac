//! Command lines that mean another one: `bakeoff 'A' 'B'` is `bakeoff compare 'A' 'B'`, and `bakeoff help COMMAND` is
//! `bakeoff COMMAND --help`. Nothing is run.

use bakeoff_host::search_path;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The subcommand that is meant where none is named.
const MEANT: &str = "compare";
/// The subcommand that explains others.
const HELP: &str = "help";
/// What clap answers by itself.
const OF_CLAP: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The words of a command line, with the subcommand that is meant; the first word is the program's own name.
pub(crate) fn completed(
    mut words: Vec<OsString>,
    is_subcommand: impl Fn(&str) -> bool,
    is_program: impl Fn(&OsStr) -> bool,
) -> Vec<OsString> {
    let Some(first) = words.get(1) else { return words };
    let text = first.to_string_lossy();
    // Whatever else `help` is asked about is a topic.
    if text == HELP && words.get(2).is_none_or(|of| is_subcommand(&of.to_string_lossy())) {
        words.remove(1);
        words.push("--help".into());
        return words;
    }
    let is_known = is_subcommand(&text) || OF_CLAP.contains(&&*text);
    let is_option = text.starts_with('-');
    let is_command = || text.contains(char::is_whitespace) || text.contains('/') || is_program(first);
    if !is_known && (is_option || is_command()) {
        words.insert(1, MEANT.into());
    }
    words
}

/// Whether PATH has a program of that name.
pub(crate) fn is_program(name: &OsStr) -> bool {
    std::env::var_os("PATH").is_some_and(|path| search_path::find(name, path, Path::new(".")).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], expect: bool) {
        let words: Vec<OsString> =
            std::iter::once("bakeoff").chain(words.iter().copied()).map(OsString::from).collect();
        let completed = completed(words.clone(), |name| ["run", "help"].contains(&name), |name| name == "gzip");
        assert_eq!(completed.len() > words.len(), expect, "{words:?}");
        assert_eq!(completed.get(1).is_some_and(|word| word == MEANT), expect, "{words:?}");
    }

    #[test]
    fn a_command_is_told_from_a_subcommand_and_from_a_typing_error() {
        for words in [&["sleep 1", "sleep 2"][..], &["./a"], &["gzip", "zstd"], &["-w", "3", "a b"], &["--json", "a b"]]
        {
            check(words, true);
        }
        for words in [&[][..], &["run", "x y"], &["rum", "x"], &["--help"], &["-V"], &[""]] {
            check(words, false);
        }
    }

    #[test]
    fn help_of_a_command_is_that_of_its_option() {
        let check = |words: &str, expect: &str| {
            let words = words.split(' ').map(OsString::from).collect();
            let completed = completed(words, |name| ["run", "help"].contains(&name), |_| false);
            assert_eq!(completed, expect.split(' ').map(OsString::from).collect::<Vec<_>>());
        };
        check("bakeoff help", "bakeoff --help");
        check("bakeoff help run", "bakeoff run --help");
        check("bakeoff help help", "bakeoff help --help");
        check("bakeoff help marks", "bakeoff help marks");
    }
}
