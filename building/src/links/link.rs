//! A call of a linker that makes a program or a library, and what is at hand where it is repeated.

use super::recorded::{self, Copies, Recorded};
use crate::journal::Repeated;
use crate::proof::loaded;
use crate::shell::Shell;
use crate::site::Site;
use crate::wrapper::{Call, ToolKind, kept_name};
use crate::wrappers::{kept_in, plain};
use std::fs;
use std::path::{Path, PathBuf};

/// What stands, for the linker of Go, before the name of its list of archives.
pub(super) const LIST: &str = "-importcfg";

/// A file that a layer installed.
pub(super) struct Installed<'a> {
    pub(super) path: &'a Path,
    pub(super) content: Vec<u8>,
    /// The digest of what is loaded of it.
    pub(super) loaded: String,
}

/// Where links are repeated.
pub(super) struct Work<'w> {
    pub(super) shell: &'w mut Shell,
    pub(super) site: &'w Site,
    pub(super) copies: &'w mut Copies,
    pub(super) digest: &'w str,
}

/// What came of a link, the seconds that repeating it took, and how it can be performed from copies.
pub(super) type Repetition = (Repeated, f64, Option<Recorded>);

/// A call of a linker that makes a program or a library.
pub(super) struct Link<'a> {
    pub(super) call: &'a Call,
    pub(super) output: PathBuf,
    pub(super) words: Vec<String>,
}

impl<'a> Link<'a> {
    pub(super) fn of(call: &'a Call) -> Option<Self> {
        let words = call.texts();
        let is_partial = |word: &String| ["-r", "-Ur", "-i", "--relocatable"].contains(&word.as_str());
        let is_link = match call.kind() {
            ToolKind::Linker => !words.iter().any(is_partial),
            // Asked for its version, it has no list of archives.
            ToolKind::GoLinker => words.iter().any(|word| word == LIST),
            _ => false,
        };
        if !is_link {
            return None;
        }
        let output = call.output().map_or_else(|| "a.out".into(), PathBuf::from);
        Some(Self { call, output: plain(&call.dir.join(output)), words })
    }

    /// The word as it can be used now: an object has the name by which it was kept, as it may be gone or another one.
    pub(super) fn kept(&self, word: &str, site: &Site) -> String {
        let path = self.call.dir.join(word);
        if word.starts_with('-') {
            return word.to_owned();
        }
        let kept = kept_in(&site.work).join(kept_name(&path));
        if kept.exists() { kept.display().to_string() } else { word.to_owned() }
    }
}

/// How a file that was linked again became the one that was installed.
pub(super) struct AsInstalled {
    pub(super) replaced: Option<[String; 2]>,
    pub(super) is_changed_later: bool,
}

/// Compares what was linked again with what was installed.
pub(super) fn as_installed(content: &[u8], digest: &str, installed: &Installed<'_>) -> Result<AsInstalled, Repeated> {
    let mut changed = content.to_vec();
    let replaced =
        recorded::replaced(content, &installed.content).filter(|replaced| recorded::replace(&mut changed, replaced));
    let is_changed_later = content != installed.content;
    if is_changed_later && loaded(&changed, digest) != installed.loaded {
        return Err(Repeated::Differs);
    }
    Ok(AsInstalled { replaced, is_changed_later })
}

/// How objects of LLVM begin that hold no machine code.
const BITCODE: &[u8] = b"BC\xc0\xde";

pub(super) fn holds_bitcode(path: &Path) -> bool {
    fs::read(path).unwrap_or_default().starts_with(BITCODE)
}
