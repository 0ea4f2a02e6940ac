//! The bytes of a file, or of a member of an archive, read where they are asked for and kept while they are needed. What
//! a hostile file can make us read is bounded by its own size. A file is never mapped, as another process could cut it
//! short under us.

use object::read::{ReadCache, ReadCacheOps, ReadRef};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// Of a file that is whole every table is read once, and a few of them are looked at twice.
const KEPT_MAX: u64 = 2;
const LOOKED_AT_MAX: u64 = 16;
/// What may be read of a file of any size, and what is kept of no file, in bytes.
const ALLOWANCE_MIN_BYTES: u64 = 1 << 20;
const KEPT_MAX_BYTES: u64 = 3 << 30;

/// How much of a file may still be read.
#[derive(Debug)]
pub(super) struct Allowance {
    kept_bytes: Cell<u64>,
    looked_at_bytes: Cell<u64>,
    seen: RefCell<HashSet<(u64, u64)>>,
}

impl Allowance {
    /// For a file of this size.
    pub(super) fn of(size_bytes: u64) -> Self {
        let times = |n: u64| size_bytes.saturating_mul(n).saturating_add(ALLOWANCE_MIN_BYTES);
        Self {
            kept_bytes: Cell::new(times(KEPT_MAX).min(KEPT_MAX_BYTES)),
            looked_at_bytes: Cell::new(times(LOOKED_AT_MAX)),
            seen: RefCell::default(),
        }
    }

    fn charge(&self, offset: u64, size_bytes: u64) -> Option<()> {
        let less = |cell: &Cell<u64>| cell.get().checked_sub(size_bytes).map(|left| cell.set(left));
        less(&self.looked_at_bytes)?;
        if self.seen.borrow_mut().insert((offset, size_bytes)) {
            less(&self.kept_bytes)?;
        }
        Some(())
    }

    /// Whether something was refused because of it.
    pub(super) fn is_used_up(&self) -> bool {
        self.kept_bytes.get() == 0 || self.looked_at_bytes.get() == 0
    }
}

/// A part of a file.
#[derive(Debug)]
pub(super) struct Source<'d, S: ReadCacheOps> {
    cache: &'d ReadCache<S>,
    allowance: &'d Allowance,
    offset: u64,
    size_bytes: u64,
}

// Derived, they would ask the same of `S`.
impl<S: ReadCacheOps> Clone for Source<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ReadCacheOps> Copy for Source<'_, S> {}

impl<'d, S: ReadCacheOps> Source<'d, S> {
    /// Bytes from `offset` on; the caller sees to it that the file has them.
    pub(super) fn new(cache: &'d ReadCache<S>, allowance: &'d Allowance, offset: u64, size_bytes: u64) -> Self {
        Self { cache, allowance, offset, size_bytes }
    }
}

impl<'d, S: ReadCacheOps> ReadRef<'d> for Source<'d, S> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.size_bytes)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'d [u8], ()> {
        if offset.checked_add(size).is_none_or(|end| end > self.size_bytes) {
            return Err(());
        }
        let offset = self.offset.checked_add(offset).ok_or(())?;
        self.allowance.charge(offset, size).ok_or_else(|| self.allowance.looked_at_bytes.set(0))?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'d [u8], ()> {
        let size = range.end.min(self.size_bytes).checked_sub(range.start).ok_or(())?;
        let bytes = self.read_bytes_at(range.start, size)?;
        memchr::memchr(delimiter, bytes).map(|end| &bytes[..end]).ok_or(())
    }
}
