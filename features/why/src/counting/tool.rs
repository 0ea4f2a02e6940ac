//! Our tool for valgrind, as text, and the words that start it. It is compiled on this machine when it is first needed, and
//! kept in the cache by the version of valgrind. The result is a work under valgrind's licence: it is never given on. Where it cannot
//! be compiled, cachegrind, which comes with valgrind, stands in.

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

/// The tool, or cachegrind in its place, ready to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    /// Where valgrind finds it; it has cachegrind by itself.
    parts: PathBuf,
    /// The valgrind that it is for.
    pub(crate) version: String,
    /// Why it is cachegrind, if so.
    pub(crate) instead: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Ready {
    Tool(Tool),
    /// Why nothing can be counted here.
    Missing(String),
}

impl Ready {
    pub(crate) fn is_cachegrind(&self) -> bool {
        matches!(self, Self::Tool(Tool { instead: Some(_), .. }))
    }
}

impl Tool {
    /// Compiles the tool if the cache does not have it.
    pub(crate) fn ready() -> Result<Ready, CommandError> {
        let Some(version) = version() else {
            return Ok(Ready::Missing("valgrind is not installed (package valgrind)".to_owned()));
        };
        if !cfg!(target_arch = "x86_64") {
            return Ok(Ready::Missing("the counting tool supports only x86-64".to_owned()));
        }
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
                Ready::Tool(Self { parts: cache.prefix_of(&digest).join(PARTS), version, instead: None })
            }
            Some(BuildLine { outcome: BuildOutcome::Failed { why, tail, .. }, .. }) => {
                let last = tail.last().map_or(String::new(), |line| format!(": {line}"));
                Ready::Missing(format!("the counting tool cannot be compiled: {why}{last}"))
            }
            None => Ready::Missing("the counting tool was not compiled".to_owned()),
        })
    }

    /// The same, or cachegrind if the tool cannot be compiled and valgrind is there.
    pub(crate) fn or_cachegrind() -> Result<Ready, CommandError> {
        Ok(match (Self::ready()?, version()) {
            (Ready::Missing(why), Some(version)) => {
                Ready::Tool(Self { parts: PathBuf::new(), version, instead: Some(why) })
            }
            (ready, _) => ready,
        })
    }

    /// The words before a command that have it counted, into files that begin with that path; while a file exists, or from its
    /// start to its end.
    pub(crate) fn words(&self, into: &Path, during: Option<&Path>) -> Vec<String> {
        let into = into.display().to_string();
        // valgrind replaces `%p` and its like in these, and only there. Of one file for all, each process would take what the
        // others have written.
        let each = format!("{}.%p", into.replace('%', "%%"));
        let tool = match &self.instead {
            None => vec!["--tool=blockcount".to_owned(), "-q".to_owned(), format!("--counts={into}")],
            Some(_) => vec![
                "--tool=cachegrind".to_owned(),
                "--cache-sim=no".to_owned(),
                "--branch-sim=no".to_owned(),
                "--demangle=no".to_owned(),
                // Who has no log has forked.
                "--child-silent-after-fork=yes".to_owned(),
                format!("--cachegrind-out-file={each}"),
            ],
        };
        let during = during.map(|file| format!("--during={}", file.display()));
        let words = [
            // Else pipes stay in /tmp when a process is killed.
            "--vgdb=no".to_owned(),
            // What the user's ~/.valgrindrc asks of other tools makes this one fail.
            "--command-line-only=yes".to_owned(),
            "--trace-children=yes".to_owned(),
            // Else it counts instructions that it only foresees.
            "--vex-guest-chase=no".to_owned(),
            format!("--log-file={each}.said"),
        ];
        let first = std::iter::once("valgrind".to_owned()).chain(tool);
        first.chain(words).chain(during).chain(["--".to_owned()]).collect()
    }

    /// The variable that has valgrind find it, if it does not by itself.
    pub(crate) fn variable(&self) -> Option<(String, String)> {
        let is_ours = self.instead.is_none();
        is_ours.then(|| ("VALGRIND_LIB".to_owned(), self.parts.display().to_string()))
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
        let ours = Tool { parts: PathBuf::new(), version: String::new(), instead: None };
        let words = ours.words(Path::new("/tmp/50 %p/counts"), Some(Path::new("/tmp/during")));
        assert!(words.contains(&"--log-file=/tmp/50 %%p/counts.%p.said".to_owned()), "{words:?}");
        assert!(words.contains(&"--counts=/tmp/50 %p/counts".to_owned()), "{words:?}");
        assert_eq!(words[words.len() - 2..], ["--during=/tmp/during", "--"]);
        let cachegrind = Tool { instead: Some("no compiler".to_owned()), ..ours };
        let words = cachegrind.words(Path::new("/tmp/50 %p/counts"), None);
        assert!(words.contains(&"--cachegrind-out-file=/tmp/50 %%p/counts.%p".to_owned()), "{words:?}");
    }
}
