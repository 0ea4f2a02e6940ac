//! Who may build, remove or run trials when. The machine's lock is shared by those who build and held alone while trials
//! run, whatever caches they use. It says nothing of other hosts: those that share a cache do not wait for each other, but
//! for one thing: what one runs the other must not remove.

use crate::{Cache, Error};
use bakeoff_host::lock::{Lock, LockMode};
use bakeoff_host::machine::Held;
use std::sync::atomic::Ordering;

/// The lock of those who run trials from this cache, on whatever host.
const TRIALS: &str = "trials";

/// Stands in for the machine's lock, where the machine has no place for one.
const MACHINE: &str = "machine";

/// The machine, held for trials: nobody else builds or runs trials on it, and nobody removes anything from this
/// cache, until it is dropped.
#[derive(Debug)]
pub struct Quiet<'a> {
    cache: &'a Cache,
    _machine: Share,
    _in_use: Lock,
}

/// A claim to the machine: by its own lock, or by the cache's.
#[derive(Debug)]
#[expect(dead_code, reason = "they are held, not looked at")]
pub(crate) enum Share {
    OfMachine(Held),
    OfCache(Lock),
}

/// Leave to remove things from a cache, until it is dropped.
#[derive(Debug)]
pub struct Leave {
    _machine: Option<Share>,
    _alone: Lock,
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.cache.quiet.store(false, Ordering::SeqCst);
    }
}

impl Cache {
    /// Why trials are kept apart from builds and trials of this cache only, and not from those of the whole machine; none
    /// if they are.
    pub fn why_not_whole_machine(&self) -> Option<&str> {
        self.machine.why_not()
    }

    /// Takes the machine for trials: waits until nobody builds or runs trials on it, and keeps everybody from it until
    /// the value is dropped. This process can still build. `waiting` gets the process that is waited for, if known.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if an interrupt ends the wait; [`Error::Host`] if the lock cannot be used.
    pub fn quiet(&self, waiting: impl Fn(Option<u32>)) -> Result<Quiet<'_>, Error> {
        let machine = self.claim(LockMode::Exclusive, &waiting)?;
        // Hosts that share a cache do not wait for each other, but what one runs from the other must not remove.
        let in_use = self.share(TRIALS, waiting)?;
        self.quiet.store(true, Ordering::SeqCst);
        Ok(Quiet { cache: self, _machine: machine, _in_use: in_use })
    }

    /// Leave to build: none is needed while this process holds the machine for its own trials; else waits until nobody
    /// runs trials on it, and keeps them from it.
    pub(crate) fn leave_to_build(&self, waiting: impl Fn(Option<u32>)) -> Result<Option<Share>, Error> {
        if self.quiet.load(Ordering::SeqCst) {
            return Ok(None);
        }
        self.claim(LockMode::Shared, waiting).map(Some)
    }

    /// Waits until nobody runs trials on this machine, or from this cache on another one, and keeps them from it until
    /// the value is dropped: removing is work for the disk, which would be measured with them. `waiting` gets the
    /// process that is waited for, if known.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if an interrupt ends the wait; [`Error::Host`] if the lock cannot be used.
    pub fn leave_to_remove(&self, waiting: impl Fn(Option<u32>)) -> Result<Leave, Error> {
        let machine = self.leave_to_build(&waiting)?;
        Ok(Leave { _machine: machine, _alone: self.lock(TRIALS, waiting)? })
    }

    fn claim(&self, how: LockMode, waiting: impl Fn(Option<u32>)) -> Result<Share, Error> {
        if self.machine.why_not().is_some() {
            let lock = Lock::wait(&self.paths.lock_of(MACHINE), how, waiting)?;
            return lock.map(Share::OfCache).ok_or(Error::Interrupted);
        }
        self.machine.claim(how, waiting)?.map(Share::OfMachine).ok_or(Error::Interrupted)
    }
}
