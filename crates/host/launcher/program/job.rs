//! A job as the launcher holds it: the body of its request, whose vectors it makes usable, the descriptors that came
//! with it, and what is known of each process. All in one piece of memory that is given back when the job is over.

use super::sys::{self, Polled};
use super::wire::{self, Kill, ProcessOver};
use core::cell::UnsafeCell;
use core::ffi::CStr;

/// Jobs of this size need no memory of their own; what of it was never touched is not resident.
const SMALL: usize = 64 << 10;

#[repr(align(64))]
struct Room(UnsafeCell<[u8; SMALL]>);
// SAFETY: the launcher has one thread, and one job at a time takes the room (`Memory::take`).
unsafe impl Sync for Room {}
static ROOM: Room = Room(UnsafeCell::new([0; SMALL]));

/// A process while it is ours.
#[derive(Clone, Copy)]
pub(super) struct Process {
    /// 0 if there is none.
    pub(super) pid: i32,
    /// Whether it runs, as far as we have seen.
    pub(super) alive: bool,
    /// When it is started again, for a load.
    pub(super) next_ns: u64,
}

pub(super) struct Memory {
    start: *mut u8,
    length: usize,
}

impl Memory {
    /// Zeros, as many as asked for. There is at most one at a time.
    pub(super) fn take(length: usize) -> sys::Result<Self> {
        let start = if length <= SMALL { ROOM.0.get().cast() } else { sys::map(length)? };
        let memory = Self { start, length };
        if length <= SMALL {
            // SAFETY: the room is at least as long, and nothing refers to it (one job at a time).
            unsafe { core::ptr::write_bytes(memory.start, 0, length) };
        }
        Ok(memory)
    }

    /// All of it.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: it is ours, initialised, and borrowed as long as `self` is.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.length > SMALL {
            // SAFETY: it came from `map`; all borrows have ended.
            unsafe { sys::unmap(self.start, self.length) };
            forget_peak();
        }
    }
}

/// Else our own peak would show in whatever is launched from now on.
fn forget_peak() {
    if let Ok(file) = sys::open(c"/proc/self/clear_refs", sys::O_WRONLY) {
        let _ = sys::write(file, b"5");
        sys::close(file);
    }
}

/// Bytes that a job needs beyond its body.
pub(super) fn beyond(processes: usize) -> usize {
    processes * (size_of::<ProcessOver>() + size_of::<Process>() + size_of::<Polled>()) + size_of::<Polled>() + 192
}

/// What was asked for.
pub(super) struct Job<'a> {
    pub(super) head: wire::Job,
    pub(super) processes: &'a [wire::Process],
    pub(super) kills: &'a [Kill],
    body: &'a [u8],
    descriptors: &'a [u32],
}

/// What is known of it.
pub(super) struct State<'a> {
    pub(super) over: &'a mut [ProcessOver],
    pub(super) processes: &'a mut [Process],
    /// One for each process, and the control socket.
    pub(super) watched: &'a mut [Polled],
}

/// Takes the next so many values from zeroed memory.
fn carve<'a, T: Copy>(from: &mut &'a mut [u8], count: usize) -> Option<&'a mut [T]> {
    let gap = from.as_ptr().align_offset(align_of::<T>());
    let length = count.checked_mul(size_of::<T>())?;
    let taken = core::mem::take(from);
    let (these, rest) = taken.get_mut(gap..)?.split_at_mut_checked(length)?;
    *from = rest;
    // SAFETY: aligned, as long as needed, borrowed from `from` for good; zeros are valid for every type used here.
    Some(unsafe { core::slice::from_raw_parts_mut(these.as_mut_ptr().cast(), count) })
}

impl<'a> Job<'a> {
    /// Reads a body of this length at the beginning of the memory; none if it is not one.
    pub(super) fn read(memory: &'a mut [u8], length: usize, descriptors: &'a [u32]) -> Option<(Self, State<'a>)> {
        let (body, mut rest) = memory.split_at_mut_checked(length)?;
        let head: wire::Job = wire::read(body, 0)?;
        let (processes, kills) = (head.processes as usize, head.kills as usize);
        let first = size_of::<wire::Job>();
        let then = first + processes * size_of::<wire::Process>();
        for at in 0..processes {
            let process: wire::Process = wire::read(body, first + at * size_of::<wire::Process>())?;
            relocate(body, process.argv)?;
            relocate(body, process.env)?;
        }
        let state = State {
            over: carve(&mut rest, processes)?,
            processes: carve(&mut rest, processes)?,
            watched: carve(&mut rest, processes + 1)?,
        };
        let body: &'a [u8] = body;
        // SAFETY: the body begins aligned; `read` above has shown that the processes are within it.
        let listed = unsafe { core::slice::from_raw_parts(body.as_ptr().add(first).cast(), processes) };
        body.get(then..then + kills * size_of::<Kill>())?;
        // SAFETY: aligned, and within the body by the line above.
        let kills = unsafe { core::slice::from_raw_parts(body.as_ptr().add(then).cast(), kills) };
        Some((Self { head, processes: listed, kills, body, descriptors }, state))
    }

    pub(super) fn none() -> Self {
        let head = wire::Job { into: wire::NONE, warm: wire::NONE, ..wire::Job::default() };
        Self { head, processes: &[], kills: &[], body: &[], descriptors: &[] }
    }

    /// The descriptor of this index; none for [`wire::NONE`].
    pub(super) fn descriptor(&self, index: u32) -> Option<u32> {
        self.descriptors.get(index as usize).copied()
    }

    /// Where a process writes to join its cgroups.
    pub(super) fn joins(&self) -> &[u32] {
        let first = self.head.first_join as usize;
        self.descriptors.get(first..first + self.head.joins as usize).unwrap_or_default()
    }

    /// Bytes of the body.
    pub(super) fn slice(&self, offset: u64, length: u64) -> &[u8] {
        self.body.get(offset as usize..offset.saturating_add(length) as usize).unwrap_or_default()
    }

    pub(super) fn text(&self, offset: u64) -> &CStr {
        let bytes = self.body.get(offset as usize..).unwrap_or_default();
        CStr::from_bytes_until_nul(bytes).unwrap_or_default()
    }

    /// A vector of the body, after `relocate`.
    pub(super) fn vector(&self, offset: u64) -> *const usize {
        self.body.get(offset as usize..).map_or(core::ptr::null(), <[u8]>::as_ptr).cast()
    }
}

/// Makes an array of offsets an array of addresses; it must end, and point into the body, which ends in NUL.
fn relocate(body: &mut [u8], array: u64) -> Option<()> {
    if body.last() != Some(&0) {
        return None;
    }
    let (start, length) = (body.as_ptr() as u64, body.len() as u64);
    let mut at = array as usize;
    loop {
        let entry = body.get_mut(at..at.checked_add(8)?)?;
        let offset = u64::from_ne_bytes(entry.try_into().ok()?);
        if offset == 0 {
            return Some(());
        }
        if offset >= length {
            return None;
        }
        entry.copy_from_slice(&(start + offset).to_ne_bytes());
        at += 8;
    }
}
