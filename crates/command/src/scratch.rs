//! Folders of ours that are gone when a command ends, whatever its end. A command that is killed by signal 9 leaves its folder;
//! the next one that makes a folder of that kind in the same place removes it.

use bakeoff_host::disk::wipe;
use bakeoff_host::lock::Lock;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Held as long as a folder is used; it is in the folder.
const LOCK: &str = ".lock";
/// Between the moment at which a folder is made and that at which it is locked, it must not be taken for left.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder in use.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: Option<Lock>,
}

impl Scratch {
    /// A new folder whose name begins so.
    pub fn new(prefix: &str, place: &Path) -> io::Result<Self> {
        sweep(prefix, place);
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
        // Where nothing can be locked, nothing is swept.
        let lock = Lock::take(&folder.path().join(LOCK)).ok();
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes our user's folders of this kind that nobody uses any more.
fn sweep(prefix: &str, place: &Path) {
    let us = our_uid();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        let Ok(about) = path.symlink_metadata() else { continue };
        let is_young = about.modified().is_ok_and(|at| at.elapsed().unwrap_or_default() < YOUNG);
        let is_locked_once = path.join(LOCK).symlink_metadata().is_ok_and(|lock| lock.is_file());
        let is_left = is_ours && about.is_dir() && Some(about.uid()) == us && (is_locked_once || !is_young);
        if is_left && Lock::take(&path.join(LOCK)).is_ok() {
            // What cannot be removed is no reason not to work.
            let _ = wipe(&path);
        }
    }
}

/// Our user.
fn our_uid() -> Option<u32> {
    std::fs::metadata("/proc/self").ok().map(|about| about.uid())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_a_killed_command_left_goes_and_what_others_use_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::new("kind-", place.path()).unwrap();
        let left = Scratch::new("kind-", place.path()).unwrap();
        // What is left of a command that was killed: its folder, and the lock that nobody holds.
        let (gone, kept) = (left.path().to_owned(), used.path().to_owned());
        let Scratch { folder, _lock: lock } = left;
        let _ = folder.keep();
        drop(lock);
        fs::write(gone.join("output"), "x").unwrap();
        fs::create_dir(place.path().join("kind-new")).unwrap();
        fs::create_dir(place.path().join("another")).unwrap();
        let next = Scratch::new("kind-", place.path()).unwrap();
        assert!(!gone.exists() && kept.exists() && next.path().exists());
        assert!(place.path().join("kind-new").exists(), "it may be about to be locked");
        assert!(place.path().join("another").exists());
    }
}
