//! How much an archive may become: the limits, and the meter that holds a stream to them. It knows nothing of names
//! and links; those are the business of [`super::tree`].

use super::error::Refusal;
use bakeoff_host::interrupt;
use std::cell::Cell;
use std::io::{self, Read};

/// How much an archive may become. An archive that is within them can still be one that the disk has no room for;
/// then the disk says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files together. A tar counts with its headers.
    pub bytes: u64,
    /// Files, folders and links; of a tar also the headers that only describe what follows.
    pub entries: u64,
    /// How many bytes each byte of the archive may become on the average, once it has become more than
    /// [`Limits::small_bytes`].
    pub ratio: u64,
    /// An archive that becomes no more than this is no bomb, however small it is.
    pub small_bytes: u64,
}

impl Default for Limits {
    /// Chosen to be far above what a source is, and below what fills a disk unseen; nothing was measured for them.
    fn default() -> Self {
        Self { bytes: 128 << 30, entries: 4_000_000, ratio: 250, small_bytes: 128 << 20 }
    }
}

/// How much one archive has become by now.
pub(super) struct Meter {
    limits: Limits,
    packed_bytes: u64,
    bytes: Cell<u64>,
    entries: Cell<u64>,
}

impl Meter {
    /// A meter for an archive of this size in bytes.
    pub(super) fn new(limits: Limits, packed_bytes: u64) -> Self {
        Self { limits, packed_bytes, bytes: Cell::new(0), entries: Cell::new(0) }
    }

    /// Counts bytes. This is where an interrupt is noticed, too: everything that takes long passes here.
    pub(super) fn bytes(&self, more: u64) -> Result<(), Refusal> {
        let bytes = self.bytes.get().saturating_add(more);
        self.bytes.set(bytes);
        if interrupt::count() > 0 {
            return Err(Refusal::Interrupted);
        }
        let limits = &self.limits;
        if bytes > limits.bytes {
            return Err(Refusal::TooManyBytes { limit: limits.bytes });
        }
        if bytes > limits.small_bytes && bytes / limits.ratio.max(1) > self.packed_bytes {
            return Err(Refusal::Bomb { limit: limits.ratio, packed_bytes: self.packed_bytes });
        }
        Ok(())
    }

    /// Counts an entry.
    pub(super) fn entry(&self) -> Result<(), Refusal> {
        self.entries.set(self.entries.get() + 1);
        match self.entries.get() > self.limits.entries {
            true => Err(Refusal::TooManyEntries { limit: self.limits.entries }),
            false => Ok(()),
        }
    }

    /// Bytes and entries until now.
    pub(super) fn counted(&self) -> (u64, u64) {
        (self.bytes.get(), self.entries.get())
    }
}

/// A reader whose bytes are counted.
pub(super) struct Metered<'a, R> {
    pub(super) inner: R,
    pub(super) meter: &'a Meter,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The reader of xz takes a read of nothing for the end of its data.
        if buffer.is_empty() {
            return Ok(0);
        }
        let n = self.inner.read(buffer)?;
        self.meter.bytes(n as u64).map_err(io::Error::other)?;
        Ok(n)
    }
}
