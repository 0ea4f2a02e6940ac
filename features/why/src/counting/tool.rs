//! Our tool for valgrind, as text, and the words that start it. It is compiled on this machine when it is first needed, and
//! kept in the cache by the version of valgrind. The result is a work under valgrind's licence: it is never given on.

use bakeoff_building::{BuildLine, BuildOutcome, Cache, OwnTool};
use bakeoff_command::CommandError;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("../../tool/blockcount.c");
const SCRIPT: &str = include_str!("../../tool/blockcount.sh");

/// Where the script notes which valgrind it is for.
const VERSION: &str = "VERSION";

/// The folder that valgrind looks for its tools in, below the prefix.
const PARTS: &str = "valgrind";

/// The tool, ready to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Where valgrind finds it.
    parts: PathBuf,
    /// The valgrind that it is for.
    pub(crate) version: String,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Ready {
    Tool(Tool),
    /// Why nothing can be counted here.
    Missing(String),
}

impl Tool {
    /// Compiles the tool if the cache does not have it.
    pub(crate) fn ready() -> Result<Ready, CommandError> {
        if !cfg!(target_arch = "x86_64") {
            return Ok(Ready::Missing("instructions can be counted only on x86-64".to_owned()));
        }
        let Some(version) = version() else {
            return Ok(Ready::Missing("valgrind is not installed (package valgrind)".to_owned()));
        };
        let cache = Cache::open(Cache::default_root()?)?;
        let script = SCRIPT.replacen(VERSION, &version, 1);
        let tool = OwnTool {
            name: "blockcount",
            files: &[("blockcount.c", SOURCE)],
            script: &script,
            tools: &["cc", "ld", "valgrind"],
        };
        Ok(match cache.own_tool(&tool)? {
            Some(BuildLine { outcome: BuildOutcome::Built, digest, .. }) => {
                Ready::Tool(Self { parts: cache.prefix_of(&digest).join(PARTS), version })
            }
            Some(BuildLine { outcome: BuildOutcome::Failed { why, tail, .. }, .. }) => {
                let last = tail.last().map_or(String::new(), |line| format!(": {line}"));
                Ready::Missing(format!("the counting tool cannot be compiled: {why}{last}"))
            }
            None => Ready::Missing("the counting tool was not compiled".to_owned()),
        })
    }

    /// The words before a command that have it counted, into files that begin with that path; while a file exists, or from its
    /// start to its end.
    pub(crate) fn words(&self, into: &Path, during: Option<&Path>) -> Vec<String> {
        let into = into.display().to_string();
        let during = during.map(|file| format!("--during={}", file.display()));
        let words = [
            "valgrind".to_owned(),
            "--tool=blockcount".to_owned(),
            "-q".to_owned(),
            // Else pipes stay in /tmp when a process is killed.
            "--vgdb=no".to_owned(),
            // What the user's ~/.valgrindrc asks of other tools makes this one fail.
            "--command-line-only=yes".to_owned(),
            "--trace-children=yes".to_owned(),
            // Else it counts instructions that it only foresees.
            "--vex-guest-chase=no".to_owned(),
            // valgrind replaces `%p` and its like there, and only there. Of one file for all, each would take what the others
            // have written.
            format!("--log-file={}.%p.said", into.replace('%', "%%")),
            format!("--counts={into}"),
        ];
        words.into_iter().chain(during).chain(["--".to_owned()]).collect()
    }

    /// The variable that has valgrind find it.
    pub(crate) fn variable(&self) -> (String, String) {
        ("VALGRIND_LIB".to_owned(), self.parts.display().to_string())
    }
}

/// What valgrind says that it is; none if it is not there.
fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (output.status.success() && !version.is_empty() && version.bytes().all(is_plain)).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_no_pattern() {
        let tool = Tool { parts: PathBuf::new(), version: String::new() };
        let words = tool.words(Path::new("/tmp/50 %p/counts"), Some(Path::new("/tmp/during")));
        assert!(words.contains(&"--log-file=/tmp/50 %%p/counts.%p.said".to_owned()), "{words:?}");
        assert!(words.contains(&"--counts=/tmp/50 %p/counts".to_owned()), "{words:?}");
        assert_eq!(words[words.len() - 2..], ["--during=/tmp/during", "--"]);
    }
}
