//! The memory that the kernel writes records of samples to and we read them from (perf_event_open(2), "MMAP layout"): a page of
//! numbers, and a ring. What records mean is not known here.
#![allow(unsafe_code, reason = "the memory is shared with the kernel")]

use crate::files::Files;
use crate::perf_event;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

/// The length of a ring. An ordinary user has 512 kB for each processor (perf_event_mlock_kb).
const BYTES: usize = 1 << 18;

/// Where the page of numbers has the end of what was written, and the end of what was read.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Samples a process from when it runs a program, and all that comes of it, each time so much user time has passed. There is a
/// ring for each processor: what is inherited cannot have one for all.
///
/// # Errors
/// Why nothing can be sampled, in one line.
pub fn rings(pid: u32, period_ns: u64) -> Result<Vec<Ring>, String> {
    let files = Files::here();
    let online = files.read("sys/devices/system/cpu/online").and_then(|list| bakeoff_model::study_file::cpus(&list));
    let online = online.ok_or("the list of processors cannot be read")?;
    let open = |processor: &u32| {
        let event = perf_event::open_sampler(pid, *processor, period_ns)
            .map_err(|error| perf_event::CPU_CLOCK.why_not(&error, &files))?;
        Ring::of(event).map_err(|error| match error.raw_os_error() {
            Some(libc::EPERM) => "no memory for samples; raise perf_event_mlock_kb or `ulimit -l`".to_owned(),
            _ => format!("no memory for samples: {error}"),
        })
    };
    online.iter().map(open).collect()
}

/// The ring of an event on one processor.
#[derive(Debug)]
pub struct Ring {
    memory: NonNull<u8>,
    page: usize,
    tail: u64,
    _event: OwnedFd,
}

// SAFETY: it owns the memory, which is not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    fn of(event: OwnedFd) -> io::Result<Self> {
        // SAFETY: sysconf only reads.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let (rights, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, event.as_raw_fd());
        // SAFETY: the kernel chooses where the new memory is, so nothing of ours is there.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), page + BYTES, rights, libc::MAP_SHARED, descriptor, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { memory, page, tail: 0, _event: event })
    }

    fn number(&self, at: usize) -> &AtomicU64 {
        // SAFETY: it is in the first page, aligned, and lives as long as the ring; the kernel writes it as a whole.
        unsafe { AtomicU64::from_ptr(self.memory.add(at).cast().as_ptr()) }
    }

    /// Takes out whole records: all that were written since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        let head = self.number(HEAD).load(Ordering::Acquire);
        let mut taken = vec![];
        for part in parts(self.tail, head) {
            // SAFETY: the part is in the ring, and the kernel does not write there before `TAIL` has passed it.
            taken.extend_from_slice(unsafe {
                slice::from_raw_parts(self.memory.add(self.page + part.start).as_ptr(), part.len())
            });
        }
        self.tail = head;
        self.number(TAIL).store(head, Ordering::Release);
        taken
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the memory is ours alone, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.page + BYTES) };
    }
}

/// Where in the ring bytes are that have these numbers; it goes on at its beginning when it is full.
fn parts(tail: u64, head: u64) -> [Range<usize>; 2] {
    let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(BYTES).min(BYTES);
    let start = (tail % BYTES as u64) as usize;
    let first = length.min(BYTES - start);
    [start..start + first, 0..length - first]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_past_the_end_goes_on_at_the_beginning() {
        let full = BYTES as u64;
        assert_eq!(parts(8, 8), [8..8, 0..0]);
        assert_eq!(parts(8, 40), [8..40, 0..0]);
        assert_eq!(parts(full - 16, full), [BYTES - 16..BYTES, 0..0]);
        assert_eq!(parts(5 * full - 16, 5 * full + 24), [BYTES - 16..BYTES, 0..24]);
        assert_eq!(parts(24, full + 24), [24..BYTES, 0..24]);
        assert_eq!(parts(u64::MAX - 15, 16), [BYTES - 16..BYTES, 0..16]);
    }
}
