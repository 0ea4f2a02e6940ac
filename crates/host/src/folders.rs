//! Whether anything below some folders was changed since the last question, by inotify(7): a hint. It misses writes by
//! another name, through a mapping, or to what is mounted over it. To be sure, look at the files.

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Bytes that are read at once: hundreds of events.
const PIECE: usize = 16 << 10;

/// Folders that are watched.
#[derive(Debug)]
pub struct Folders {
    inotify: OwnedFd,
}

impl Folders {
    /// Watches these folders and all below them. New files in them are no change.
    ///
    /// # Errors
    /// The system's word: there may be more folders than it watches for one user.
    pub fn watch<'a>(folders: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut left: Vec<_> = folders.into_iter().map(Path::to_owned).collect();
        let changes = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        while let Some(folder) = left.pop() {
            inotify::add_watch(&inotify, &folder, changes | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW)?;
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    left.push(entry.path());
                }
            }
        }
        Ok(Self { inotify })
    }

    /// Whether anything was changed since this was last asked, or since they are watched.
    pub fn were_changed(&self) -> bool {
        let mut events = [0; PIECE];
        let mut changed = false;
        loop {
            match rustix::io::read(&self.inotify, &mut events) {
                Ok(0) | Err(Errno::AGAIN) => return changed,
                Ok(_) => changed = true,
                Err(Errno::INTR) => {}
                // Nobody knows then.
                Err(_) => return true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_changed_below_is_noticed_and_what_is_read_or_new_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let (file, other) = (deep.join("file"), deep.join("other"));
        fs::write(&file, "1").unwrap();
        fs::write(&other, "1").unwrap();
        let folders = Folders::watch([dir.path()]).unwrap();
        let check = |what: &str, act: &dyn Fn(), expect: bool| {
            act();
            assert_eq!(folders.were_changed(), expect, "{what}");
            assert!(!folders.were_changed(), "{what}, asked again");
        };
        check("reading", &|| drop(fs::read(&file).unwrap()), false);
        check("a new folder", &|| fs::create_dir(deep.join("new")).unwrap(), false);
        check("writing", &|| fs::write(&file, "2").unwrap(), true);
        check("renaming over", &|| fs::rename(&other, &file).unwrap(), true);
        check("removing", &|| fs::remove_file(&file).unwrap(), true);
        check("moving the folder", &|| fs::rename(&deep, dir.path().join("a/c")).unwrap(), true);
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_watched() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Folders::watch([dir.path().join("none").as_path()]).is_err());
    }
}
