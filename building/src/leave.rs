//! Who may build, remove or run trials when. The machine's lock is shared by those who build and held alone while trials
//! run, whatever caches they use. It says nothing of other hosts: those that share a cache do not wait for each other, but
//! for one thing: what one runs the other must not remove.

use crate::{Cache, Error};
use bakeoff_host::lock::{Lock, LockMode};
use std::fmt::Debug;
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
    _machine: Box<dyn Debug>,
    _in_use: Lock,
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.cache.quiet.store(false, Ordering::SeqCst);
    }
}

impl Cache {
    /// Why trials are kept apart from builds and trials of this cache only, and not from those of the whole machine; none
    /// if they are.
    pub(crate) fn why_not_whole_machine(&self) -> Option<&str> {
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

    /// Leave to build, until the value is dropped: none is needed while this process holds the machine for its own trials;
    /// else waits until nobody runs trials on it, and keeps them from it.
    pub(crate) fn leave_to_build(&self, waiting: impl Fn(Option<u32>)) -> Result<Option<Box<dyn Debug>>, Error> {
        let needs_none = self.quiet.load(Ordering::SeqCst);
        (!needs_none).then(|| self.claim(LockMode::Shared, waiting)).transpose()
    }

    /// Waits until nobody runs trials on this machine, or from this cache on another one, and keeps them from it until
    /// the value is dropped: removing is work for the disk, which would be measured with them. `waiting` gets the
    /// process that is waited for, if known.
    pub(crate) fn leave_to_remove(&self, waiting: impl Fn(Option<u32>)) -> Result<Box<dyn Debug>, Error> {
        let machine = self.leave_to_build(&waiting)?;
        Ok(Box::new((machine, self.lock(TRIALS, waiting)?)))
    }

    /// The machine by its own lock, or by the cache's.
    fn claim(&self, how: LockMode, waiting: impl Fn(Option<u32>)) -> Result<Box<dyn Debug>, Error> {
        let held: Option<Box<dyn Debug>> = match self.machine.why_not() {
            Some(_) => Lock::wait(&self.paths.lock_of(MACHINE), how, waiting)?.map(|lock| Box::new(lock) as _),
            None => self.machine.claim(how, waiting)?.map(|held| Box::new(held) as _),
        };
        held.ok_or(Error::Interrupted)
    }
}
