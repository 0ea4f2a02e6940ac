//! Folders of ours that are gone when a command ends, whatever its end. A command that is killed by signal 9 leaves its folder;
//! the next one that makes a folder of that kind in the same place removes it.

use bakeoff_host::Error;
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
/// How the name of a folder ends that is being removed.
const SWEPT: &str = "swept";

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
        loop {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
            let path = folder.path().join(LOCK);
            let lock = Lock::take(&path);
            // Another command may have found the file before it was locked, and taken the folder for left.
            let is_swept = match &lock {
                Ok(_) => !path.exists(),
                Err(error) => matches!(error, Error::Locked { .. }) || !folder.path().exists(),
            };
            if !is_swept {
                // Where nothing can be locked, nothing is swept.
                return Ok(Self { folder, _lock: lock.ok() });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes our user's folders of this kind that nobody uses any more.
fn sweep(prefix: &str, place: &Path) {
    let us = std::fs::metadata("/proc/self").ok().map(|about| about.uid());
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        let Ok(about) = path.symlink_metadata() else { continue };
        let is_young = about.modified().is_ok_and(|at| at.elapsed().unwrap_or_default() < YOUNG);
        let is_locked_once = path.join(LOCK).symlink_metadata().is_ok_and(|lock| lock.is_file());
        let is_left = is_ours && about.is_dir() && Some(about.uid()) == us && (is_locked_once || !is_young);
        if !is_left {
            continue;
        }
        let Ok(_lock) = Lock::take(&path.join(LOCK)) else { continue };
        // Renamed first, so an owner that is just about to lock it sees that it is away, and never uses a half-wiped folder.
        let away = path.with_extension(SWEPT);
        // What cannot be removed is no reason not to work.
        let _ = std::fs::rename(&path, &away).and_then(|()| wipe(&away));
    }
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

    #[test]
    fn folders_that_are_made_at_once_are_not_taken_for_left() {
        let place = tempfile::tempdir().unwrap();
        let make = || {
            for _ in 0..200 {
                let made = Scratch::new("kind-", place.path()).unwrap();
                fs::write(made.path().join("output"), "x").unwrap();
                assert_eq!(fs::read(made.path().join("output")).unwrap(), b"x");
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(make))));
    }
}
