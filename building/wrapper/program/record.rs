//! Writes a call down: one record, by one write to the end of a file, which the kernel does not mix with others.

use super::find::LONGEST;
use super::sys;
use super::wire::{Head, MAGIC, MOST_FILES, MOST_OF_FILE, UNREADABLE};
use super::words::Words;
use core::ffi::CStr;

/// What is written down.
pub(super) struct Call<'a> {
    pub(super) name: &'a [u8],
    pub(super) real: &'a CStr,
    pub(super) words: Words,
    pub(super) shuffled: u32,
    pub(super) nested: bool,
}

/// Appends the record. What cannot be written is not: the tool matters more than what is known of it.
pub(super) fn append(log: &CStr, call: &Call<'_>) {
    let Ok(log) = sys::open_to_append(log) else { return };
    let (words, mut files) = (call.words, 0);
    let mut most = size_of::<Head>() + call.name.len() + 1 + call.real.count_bytes() + 1 + LONGEST;
    for nth in 0..words.len() {
        most += words.bytes(nth).len() + 1;
        files += usize::from(words.bytes(nth).starts_with(b"@"));
    }
    most += files.min(MOST_FILES) * (8 + MOST_OF_FILE);
    // The kernel gives a page when it is written to, so that what is not used costs nothing.
    let Ok(memory) = sys::map(most) else { return sys::close(log) };
    // SAFETY: the mapping is ours and of this length.
    let memory = unsafe { core::slice::from_raw_parts_mut(memory, most) };
    let (front, body) = memory.split_at_mut(size_of::<Head>());
    let mut body = Body { bytes: body, length: 0 };
    body.string(call.name);
    body.string(call.real.to_bytes());
    body.folder();
    (0..words.len()).for_each(|nth| body.string(words.bytes(nth)));
    let responses = (0..words.len()).filter(|&nth| words.bytes(nth).starts_with(b"@"));
    let files = responses.take(MOST_FILES).map(|nth| body.file(words.get(nth))).count();
    let head = Head {
        magic: MAGIC,
        length: body.length as u64,
        pid: sys::own_pid(),
        parent: sys::parent_pid(),
        words: words.len() as u32,
        files: files as u32,
        shuffled: call.shuffled,
        nested: u32::from(call.nested),
    };
    let length = front.len() + body.length;
    // SAFETY: the structure has no padding, and any bytes may be looked at.
    front.copy_from_slice(unsafe { &*(&raw const head).cast::<[u8; size_of::<Head>()]>() });
    while sys::write(log, &memory[..length]) == Err(sys::EINTR) {}
    sys::close(log);
}

/// What follows the head.
struct Body<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Body<'_> {
    fn string(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        // The memory is filled with zeros.
        self.length += bytes.len() + 1;
    }

    fn folder(&mut self) {
        let room = &mut self.bytes[self.length..self.length + LONGEST];
        self.length += sys::folder(room).map_or(1, <[u8]>::len);
    }

    /// The content of the file that a word names after its `@`.
    fn file(&mut self, word: &'static CStr) {
        let path = CStr::from_bytes_with_nul(&word.to_bytes_with_nul()[1..]).unwrap_or_default();
        let (mut filled, mut length) = (0, UNREADABLE);
        if let Ok(file) = sys::open(path, 0) {
            let room = &mut self.bytes[self.length + 8..self.length + 8 + MOST_OF_FILE];
            while let Ok(more @ 1..) = sys::read(file, &mut room[filled..]) {
                filled += more;
            }
            sys::close(file);
            length = filled as u64;
        }
        self.bytes[self.length..self.length + 8].copy_from_slice(&length.to_ne_bytes());
        self.length += 8 + filled;
    }
}
