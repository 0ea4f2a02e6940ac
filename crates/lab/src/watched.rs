//! A file that trials run or read, as it was at the first look and at the last. If stat(2) is the same, nobody reads it.

use bakeoff_model::digest::Digest;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Device, inode, size, and times of the last change of content and of inode; none of a file that is not there.
type Stamp = Option<(u64, u64, u64, [i64; 2], [i64; 2])>;

/// A file that is looked at between blocks.
#[derive(Debug, Clone)]
pub struct Watched {
    /// What people call it: files of a study by their names in it.
    pub name: String,
    /// Whether trials may turn out to write it: then they do not depend on it.
    pub may_be_written: bool,
    path: PathBuf,
    stamp: Stamp,
    /// A digest of what is in it; none if it was not there, or could not be read.
    content: Option<String>,
}

/// What a look at a file found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody touched it since the last look.
    Same,
    /// Somebody did, but it has the content that it had at first.
    Touched,
    /// It has another content, or is gone.
    Changed,
}

impl Watched {
    /// A file as it is now.
    pub fn of(name: &str, path: &Path) -> Self {
        // Before it is read: a change in between shows at the next look.
        let stamp = stamp(path);
        let content = content_at(path);
        Self { name: name.to_owned(), may_be_written: false, path: path.to_owned(), stamp, content }
    }

    /// A file of a study, which its own trials may write.
    pub fn of_study(dir: &Path, name: &str) -> Self {
        Self { may_be_written: true, ..Self::of(name, &dir.join(name)) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A digest of what was in it at first.
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// What became of it since it was last looked at.
    pub fn look(&mut self) -> State {
        let now = stamp(&self.path);
        if now == self.stamp {
            return State::Same;
        }
        self.stamp = now;
        if content_at(&self.path) == self.content { State::Touched } else { State::Changed }
    }

    /// Whether it is there as a Git LFS pointer only: a text in the place of the data.
    pub fn is_lfs_pointer(&self) -> bool {
        is_lfs_pointer(&self.path)
    }

    /// Adds what the last look saw to a digest.
    pub(crate) fn add_to(&self, digest: &mut Digest) {
        let (dev, ino, size, mtime, ctime) = self.stamp.unwrap_or_default();
        let numbers = [dev, ino, size, mtime[0] as u64, mtime[1] as u64, ctime[0] as u64, ctime[1] as u64];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        digest.field(&self.name, &bytes);
    }
}

/// Whether a file is a Git LFS pointer (git-lfs specification, version 1): a text in the place of the data.
pub fn is_lfs_pointer(path: &Path) -> bool {
    const BEGINNING: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
    let mut beginning = [0; BEGINNING.len()];
    // A pipe would make us wait for its writer.
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok())
        && beginning == BEGINNING
}

/// The digest of the content of a file of a study.
pub fn content(bytes: &[u8]) -> String {
    Digest::of("file").field("content", bytes).hex()
}

fn content_at(path: &Path) -> Option<String> {
    // A pipe would make us wait for its writer.
    path.is_file().then(|| std::fs::read(path).ok()).flatten().map(|bytes| content(&bytes))
}

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    let (mtime, ctime) = ([meta.mtime(), meta.mtime_nsec()], [meta.ctime(), meta.ctime_nsec()]);
    Some((meta.dev(), meta.ino(), meta.size(), mtime, ctime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_put_back_was_touched_and_what_is_another_one_was_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input");
        fs::write(&path, "one").unwrap();
        let mut watched = Watched::of_study(dir.path(), "input");
        assert_eq!((watched.look(), watched.content()), (State::Same, Some(&*content(b"one"))));
        fs::write(dir.path().join("other"), "one").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        assert_eq!((watched.look(), watched.look()), (State::Touched, State::Same));
        fs::write(&path, "three").unwrap();
        assert_eq!((watched.look(), watched.look()), (State::Changed, State::Same));
        fs::write(&path, "one").unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(watched.look(), State::Changed);
        fs::create_dir(&path).unwrap();
        assert_eq!(watched.look(), State::Changed);
        assert_eq!(Watched::of("none", &dir.path().join("none")).look(), State::Same);
    }

    #[test]
    fn a_file_is_written_also_where_its_size_and_its_time_were_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("input");
        fs::write(&path, "one").unwrap();
        let then = fs::metadata(&path).unwrap().modified().unwrap();
        let mut watched = Watched::of("input", &path);
        // Until the clock by which files are dated has gone on, no stamp can differ.
        for _ in 0..10_000 {
            fs::write(&path, "two").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        }
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        assert_eq!(watched.look(), State::Changed);
    }
}
