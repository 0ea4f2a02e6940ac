//! A file that one process at a time may hold, or several that share it, with a holder's process id in it. The lock is advisory (flock) and
//! goes with the open file: it ends when the last descriptor of it is closed, however its holder ended. Nothing here
//! ever removes the file, because removing it could let two processes hold locks on two files of the same name.

use crate::{Error, interrupt};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Whether a lock is for one, or for all who share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// For one.
    Exclusive,
    /// For all who ask for it so.
    Shared,
}

impl LockMode {
    /// Takes it, or fails.
    pub(crate) fn try_now(self, file: &File) -> Result<(), TryLockError> {
        match self {
            Self::Exclusive => file.try_lock(),
            Self::Shared => file.try_lock_shared(),
        }
    }

    /// Takes it, however long that takes.
    fn block(self, file: &File) -> io::Result<()> {
        match self {
            Self::Exclusive => file.lock(),
            Self::Shared => file.lock_shared(),
        }
    }
}

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
        Self::take_as(path, LockMode::Exclusive)
    }

    /// Takes the lock, and sleeps while others hold it; `waiting` gets the holder, if known. None if interrupted.
    pub fn wait(path: &Path, how: LockMode, waiting: impl FnOnce(Option<u32>)) -> Result<Option<Self>, Error> {
        match Self::take_as(path, how) {
            Err(Error::Locked { owner, .. }) => waiting(owner),
            taken => return taken.map(Some),
        }
        let failed = |source| Error::Lock { path: path.to_owned(), source };
        let Some(mut file) = when_free(open(path).map_err(failed)?, how).map_err(failed)? else { return Ok(None) };
        write_pid(&mut file).map_err(failed)?;
        Ok(Some(Self { file }))
    }

    fn take_as(path: &Path, how: LockMode) -> Result<Self, Error> {
        let failed = |source| Error::Lock { path: path.to_owned(), source };
        let mut file = open(path).map_err(failed)?;
        match how.try_now(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { path: path.to_owned(), owner: owner(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Of several who share it, the last one to come stands in it.
        write_pid(&mut file).map_err(failed)?;
        Ok(Self { file })
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The file once it is locked; none if an interrupt came first.
///
/// flock(2) goes on waiting after a signal that is counted, so a thread of its own waits there, and this one for whichever of
/// the two comes first: both sleep until then. A thread that is left behind gives the lock back as soon as it gets it.
pub(crate) fn when_free(file: File, how: LockMode) -> io::Result<Option<File>> {
    let done = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
    let tell = Arc::clone(&done);
    let waits = thread::Builder::new().name("waits for a lock".to_owned()).spawn(move || {
        let locked = how.block(&file);
        // It cannot fail: the number is far from the largest.
        let _ = rustix::io::write(&*tell, &1_u64.to_ne_bytes());
        locked.map(|()| file)
    })?;
    loop {
        let mut events = vec![PollFd::new(&*done, PollFlags::IN)];
        events.extend(interrupt::event(1).map(|event| PollFd::from_borrowed_fd(event, PollFlags::IN)));
        match poll(&mut events, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => _ = polled?,
        }
        if !events[0].revents().is_empty() {
            let locked = waits.join().map_err(|_| io::Error::other("the thread waiting for the lock ended"))?;
            return locked.map(Some);
        }
        return Ok(None);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// A lock that nobody holds can be taken. A child that another test has just started has a copy of the descriptor until it
/// runs its program, so this may take some tries.
#[cfg(test)]
pub(crate) fn assert_released(path: &Path, how: LockMode) {
    let is_free = |_| {
        thread::yield_now();
        File::open(path).is_ok_and(|file| how.try_now(&file).is_ok())
    };
    assert!((0..1_000_000).any(is_free), "{} is still locked", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(path: &Path) -> Result<Lock, Error> {
        Lock::take_as(path, LockMode::Shared)
    }

    #[test]
    fn one_holder_at_a_time_and_the_error_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::take(&path).unwrap();
        let refused = Lock::take(&path).unwrap_err();
        assert!(matches!(refused, Error::Locked { owner: Some(pid), .. } if pid == std::process::id()));
        assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");

        // The process that keeps the descriptor keeps the lock.
        let kept = held.as_fd().try_clone_to_owned().unwrap();
        drop(held);
        assert!(matches!(Lock::take(&path), Err(Error::Locked { .. })));
        drop(kept);
        assert_released(&path, LockMode::Exclusive);
    }

    #[test]
    fn those_who_share_keep_out_who_wants_it_alone_and_the_other_way_round() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let shared = [share(&path).unwrap(), share(&path).unwrap()];
        let refused = Lock::take(&path).unwrap_err();
        assert!(matches!(refused, Error::Locked { owner: Some(pid), .. } if pid == std::process::id()));
        let [first, second] = shared;
        drop(first);
        assert!(matches!(Lock::take(&path), Err(Error::Locked { .. })));
        drop(second);
        assert_released(&path, LockMode::Exclusive);
        let alone = Lock::take(&path).unwrap();
        assert!(matches!(share(&path), Err(Error::Locked { .. })));
        drop(alone);
        assert_released(&path, LockMode::Shared);
    }

    #[test]
    fn who_waits_gets_it_when_the_last_one_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let shared = [share(&path).unwrap(), share(&path).unwrap()];
        let (tells, hears) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let waits =
                scope.spawn(|| Lock::wait(&path, LockMode::Exclusive, |owner| tells.send(owner).unwrap()).unwrap());
            assert_eq!(hears.recv().unwrap(), Some(std::process::id()));
            drop(shared);
            let alone = waits.join().unwrap().unwrap();
            assert!(matches!(share(&path), Err(Error::Locked { .. })));
            drop(alone);
        });
        assert_released(&path, LockMode::Shared);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("absent").join("lock");
        assert!(Lock::take(&path).unwrap_err().to_string().contains("absent/lock"));
    }
}
