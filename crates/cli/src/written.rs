//! Files of a study that its own trials write. A command may name the file that it writes, and such a file is nothing that
//! trials depend on. It is known by what stat(2) tells of it before and after a trial; nothing is read between trials.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Device, inode, size, and times of the last change of content and of inode; none of a file that is not there.
type Stamp = Option<(u64, u64, u64, [i64; 2], [i64; 2])>;

/// A file as it was when it was last looked at.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// As the study names it.
    pub(crate) name: String,
    path: PathBuf,
    stamp: Stamp,
}

impl Watched {
    pub(crate) fn of(dir: &Path, name: &str) -> Self {
        let path = dir.join(name);
        Self { name: name.to_owned(), stamp: stamp(&path), path }
    }

    /// Whether it was written, replaced or removed since it was last looked at.
    pub(crate) fn changed(&mut self) -> bool {
        let before = std::mem::replace(&mut self.stamp, stamp(&self.path));
        self.stamp != before
    }
}

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    let (mtime, ctime) = ([meta.mtime(), meta.mtime_nsec()], [meta.ctime(), meta.ctime_nsec()]);
    Some((meta.dev(), meta.ino(), meta.size(), mtime, ctime))
}
