//! Programs that Bakeoff calls when it builds. Comparing commands needs none of them.

use bakeoff_command::check::Check;
use std::ffi::OsStr;

/// Debian's package `build-essential` has the compiler and make.
const NEEDED: [(&str, &str); 3] = [("git", "git"), ("cc", "build-essential"), ("make", "build-essential")];

/// Whether `path` has the programs that most builds need.
pub(super) fn build_programs(path: &OsStr) -> Check {
    let name = "build programs";
    let is_missing = |program: &str| !std::env::split_paths(path).any(|folder| folder.join(program).is_file());
    let missing: Vec<(&str, &str)> = NEEDED.into_iter().filter(|(program, _)| is_missing(program)).collect();
    if missing.is_empty() {
        return Check::good(
            name,
            NEEDED.map(|(program, _)| program).join(", "),
            "needed by --git, --build and studies",
        );
    }
    let names: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    let found = format!("{}: not found on the PATH", names.join(", "));
    Check::missing(name, found, "--git needs git; most builds need a C compiler and make")
        .remedy(format!("on Debian: apt-get install {}", packages.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_command::check::State;

    #[test]
    fn missing_programs_are_named_with_their_packages() {
        let folder = tempfile::tempdir().unwrap();
        for program in ["git", "cc"] {
            std::fs::write(folder.path().join(program), "").unwrap();
        }
        let check = build_programs(folder.path().as_os_str());
        assert_eq!((check.state, &*check.found), (State::Missing, "make: not found on the PATH"));
        assert_eq!(check.remedy.as_deref(), Some("on Debian: apt-get install build-essential"));
        std::fs::write(folder.path().join("make"), "").unwrap();
        assert_eq!(build_programs(folder.path().as_os_str()).state, State::Good);
    }
}
