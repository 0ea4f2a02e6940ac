//! A call of a tool as tests write it. It looks at nothing, and no program has it.

use crate::wrapper::Call;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A call of the tool that the line begins with, in a folder.
pub(super) fn called(dir: impl Into<PathBuf>, line: &str) -> Call {
    let mut words = line.split(' ').map(OsString::from);
    let name = words.next().unwrap_or_default();
    Call {
        tool: Path::new("/usr/bin").join(&name),
        name,
        dir: dir.into(),
        words: words.collect(),
        response_files: vec![],
        pid: 0,
        parent: 1,
        shuffled: 0,
        of_gcc: false,
    }
}
