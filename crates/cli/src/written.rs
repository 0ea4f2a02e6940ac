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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn a_file_is_written_also_where_its_size_and_its_time_were_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input");
        fs::write(&path, "one").unwrap();
        let then = fs::metadata(&path).unwrap().modified().unwrap();
        let mut watched = Watched::of(dir.path(), "input");
        assert!(!watched.changed());
        // Until the clock by which files are dated has gone on, no stamp can differ.
        for _ in 0..10_000 {
            fs::write(&path, "two").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        }
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        assert!(watched.changed());
        assert!(!watched.changed());
    }
}
