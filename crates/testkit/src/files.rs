//! Files and commands: what one line of a test needs of them.
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The SHA-256, as sources are pinned by it.
pub fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a file says, without the last line's end.
pub fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap().trim_end().to_owned()
}

/// Runs a script in a folder; it must succeed.
pub fn sh(dir: &Path, script: &str) {
    assert!(Command::new("sh").args(["-ec", script]).current_dir(dir).status().unwrap().success(), "{script}");
}
