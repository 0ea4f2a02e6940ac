//! A file that one process at a time may hold, or several that share it, with a holder's process id in it. The lock is advisory (flock) and
//! goes with the open file: it ends when the last descriptor of it is closed, however its holder ended. Nothing here
//! ever removes the file, because removing it could let two processes hold locks on two files of the same name.

use crate::Error;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// A lock that is held until this value, and every launcher that keeps its descriptor, is gone.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, creating the file if there is none; it never waits.
    ///
    /// # Errors
    /// [`Error::Locked`] names the process that holds it; [`Error::Lock`] if the file cannot be used.
    pub fn take(path: &Path) -> Result<Self, Error> {
        Self::take_as(path, File::try_lock)
    }

    /// Takes the lock together with all others who share it, creating the file if there is none; it never waits. It
    /// keeps those out who want it for themselves, and they it.
    ///
    /// # Errors
    /// [`Error::Locked`] names the process that holds it; [`Error::Lock`] if the file cannot be used.
    pub fn share(path: &Path) -> Result<Self, Error> {
        Self::take_as(path, File::try_lock_shared)
    }

    fn take_as(path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Self, Error> {
        let failed = |source| Error::Lock { path: path.to_owned(), source };
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { path: path.to_owned(), owner: owner(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Of several who share it, the last one to come stands in it.
        sign(&mut file).map_err(failed)?;
        Ok(Self { file })
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_the_error_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::take(&path).unwrap();
        let refused = Lock::take(&path).unwrap_err();
        assert!(matches!(refused, Error::Locked { owner: Some(pid), .. } if pid == std::process::id()));
        assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");

        // Whoever keeps the descriptor keeps the lock.
        let kept = held.as_fd().try_clone_to_owned().unwrap();
        drop(held);
        assert!(matches!(Lock::take(&path), Err(Error::Locked { .. })));
        drop(kept);
        Lock::take(&path).unwrap();
    }

    #[test]
    fn those_who_share_keep_out_who_wants_it_alone_and_the_other_way_round() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let shared = [Lock::share(&path).unwrap(), Lock::share(&path).unwrap()];
        let refused = Lock::take(&path).unwrap_err();
        assert!(matches!(refused, Error::Locked { owner: Some(pid), .. } if pid == std::process::id()));
        let [first, second] = shared;
        drop(first);
        assert!(matches!(Lock::take(&path), Err(Error::Locked { .. })));
        drop(second);
        let alone = Lock::take(&path).unwrap();
        assert!(matches!(Lock::share(&path), Err(Error::Locked { .. })));
        drop(alone);
        Lock::share(&path).unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("absent").join("lock");
        assert!(Lock::take(&path).unwrap_err().to_string().contains("absent/lock"));
    }
}
