//! The folder for what Bakeoff keeps of a user from one command to the next: `$BAKEOFF_STATE`, else
//! `$XDG_STATE_HOME/bakeoff`, else `~/.local/state/bakeoff`. What is in it is not known here.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder, which need not be there; none if no variable names one by an absolute path.
pub fn folder() -> Option<PathBuf> {
    named_by(|name| std::env::var_os(name))
}

fn named_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("BAKEOFF_STATE")
        .or_else(|| absolute("XDG_STATE_HOME").map(|state| state.join("bakeoff")))
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state/bakeoff")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_follows_the_environment() {
        let check = |variables: &[(&str, &str)], expect: Option<&str>| {
            let lookup =
                |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
            assert_eq!(named_by(lookup), expect.map(PathBuf::from), "{variables:?}");
        };
        check(&[("BAKEOFF_STATE", "/b"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")], Some("/b"));
        check(&[("BAKEOFF_STATE", ""), ("XDG_STATE_HOME", "/x")], Some("/x/bakeoff"));
        check(&[("HOME", "/h")], Some("/h/.local/state/bakeoff"));
        check(&[("HOME", "relative")], None);
    }
}
