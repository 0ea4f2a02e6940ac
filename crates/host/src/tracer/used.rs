//! Which files a command read, which it wrote, and which it looked for in vain. Paths only.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Paths that are kept of each kind; the others are counted.
const MOST_PATHS: usize = 20_000;

/// The kernel's own files; nobody swaps them.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Which files a command used, and all processes that came of it: absolute paths, as they were named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Used {
    /// Opened for reading, run or mapped; folders too.
    pub read: BTreeSet<String>,
    /// Opened for writing too, made, moved or removed.
    pub written: BTreeSet<String>,
    /// Looked for, and not found.
    pub missed: BTreeSet<String>,
    /// How many more there were.
    pub left_out: u64,
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    /// It opens it for both.
    Both,
    /// It only asks whether there is such a file.
    Look,
}

impl Used {
    /// A call has returned. A file that a failed call was about was looked for in vain, or may not be used.
    pub(super) fn add(&mut self, path: &str, by: Use, failed: bool) {
        let is_of_kernel = || OF_THE_KERNEL.iter().any(|folder| std::path::Path::new(path).starts_with(folder));
        if is_of_kernel() {
            return;
        }
        let to = match (by, failed) {
            (Use::Both, false) => {
                self.add(path, Use::Read, false);
                &mut self.written
            }
            (Use::Write, false) => &mut self.written,
            (Use::Read, false) => &mut self.read,
            (Use::Read | Use::Look, true) => &mut self.missed,
            (Use::Look, false) | (Use::Write | Use::Both, true) => return,
        };
        if to.len() < MOST_PATHS {
            to.insert(path.to_owned());
        } else if !to.contains(path) {
            self.left_out += 1;
        }
    }
}
