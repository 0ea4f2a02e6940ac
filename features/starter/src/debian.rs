//! What a Debian source package is built with and this machine lacks, by `dpkg-checkbuilddeps`, which only reads the
//! package's debian/control. Nothing is installed here.

use std::path::Path;
use std::process::Command;

/// Packages that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    /// As the package names them, with versions and alternatives.
    said: String,
    packages: Vec<String>,
}

impl Missing {
    /// What is missing for the source in a tree; none if it is no Debian package, if nothing is, or if it cannot be known.
    pub(crate) fn of(tree: &Path) -> Option<Self> {
        if !tree.join("debian/control").is_file() {
            return None;
        }
        let mut command = Command::new("dpkg-checkbuilddeps");
        command.current_dir(tree).env("LC_ALL", "C").env("DEB_BUILD_PROFILES", "nocheck");
        let output = command.output().ok().filter(|output| !output.status.success())?;
        Self::read(&String::from_utf8_lossy(&output.stderr))
    }

    /// Reads what the program says.
    fn read(text: &str) -> Option<Self> {
        const BEFORE: &str = "nmet build dependencies:";
        let said = text.lines().find_map(|line| Some(line.split_once(BEFORE)?.1.trim().to_owned()))?;
        let (mut packages, mut depth, mut is_alternative) = (vec![], 0_i32, false);
        for word in said.split_whitespace() {
            depth += word.matches('(').count() as i32;
            match word {
                _ if depth > 0 => {}
                "|" => is_alternative = true,
                _ if is_alternative => is_alternative = false,
                _ => packages.push(word.split(':').next().unwrap_or(word).to_owned()),
            }
            depth -= word.matches(')').count() as i32;
        }
        (!packages.is_empty()).then_some(Self { said, packages })
    }

    /// In a sentence, with the command that installs them.
    pub(crate) fn sentence(&self) -> String {
        format!("Missing build dependencies: {}. To install: `{}`.", self.said, self.command())
    }

    /// The command that installs them.
    pub(crate) fn command(&self) -> String {
        format!("sudo apt-get install {}", self.packages.join(" "))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_as_one_installs_it() {
        let text = "dpkg-checkbuilddeps: error: Unmet build dependencies: debhelper-compat (= 13) tcl | tclsh libpng-dev:native (>= 1.6) x\n";
        let missing = Missing::read(text).unwrap();
        assert_eq!(missing.command(), "sudo apt-get install debhelper-compat tcl libpng-dev x");
        assert!(
            missing.sentence().contains("tcl | tclsh libpng-dev:native (>= 1.6) x. To install: `sudo"),
            "{}",
            missing.sentence()
        );
        assert!(Missing::read("dpkg-checkbuilddeps: error: unmet build dependencies: x").is_some());
        assert_eq!(Missing::read("dpkg-checkbuilddeps: error: cannot read debian/control"), None);
    }
}
