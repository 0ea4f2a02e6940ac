//! A folder to compile in, with wrappers before its PATH.

use crate::wrapper::{Call, LOG, Wrappers, calls};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) struct Tools {
    folder: TempDir,
    pub(crate) wrappers: Wrappers,
}

impl Tools {
    /// None if there is no compiler here, which is said.
    pub(crate) fn here() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = tempfile::tempdir().unwrap();
        let wrappers = Wrappers::install(&folder.path().join("wrappers"), &path, &BTreeSet::new()).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::write(folder.path().join("log"), "").unwrap();
        if !["gcc", "ld", "ar"].iter().all(|name| wrappers.folder().join(name).exists()) {
            println!("skipped: no gcc, ld and ar on PATH");
            return None;
        }
        Some(Self { folder, wrappers })
    }

    /// The folder that commands run in.
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The usual search path with the wrappers before it.
    pub(crate) fn path(&self) -> OsString {
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.wrappers.folder()).chain(std::env::split_paths(&usual));
        std::env::join_paths(folders).unwrap()
    }

    /// A command that will find the wrappers, and whose calls are logged.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.dir()).env_clear().env("PATH", self.path()).env(LOG, self.log());
        command
    }

    /// Runs a script, which must succeed.
    pub(crate) fn sh(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let output = self.command("sh").args(["-ec", script]).envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What was called, all of it whole.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let calls = calls(&fs::read(self.log()).unwrap());
        assert_eq!(calls.damaged, 0);
        calls.whole
    }
}
