//! Messages with descriptors over a socket, and waiting for several descriptors at once.

use super::call::{Result, call};
use super::number;

pub const POLLIN: i16 = 1;
/// No more descriptors come in one piece.
pub const MOST_AT_ONCE: usize = 240;

/// struct pollfd.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Polled {
    /// Ignored if negative.
    pub descriptor: i32,
    pub events: i16,
    pub revents: i16,
}

/// Waits for one of them; none is no limit.
pub fn poll(watched: &mut [Polled], timeout_ns: Option<u64>) -> Result<usize> {
    let time = timeout_ns.map(|ns| [ns / 1_000_000_000, ns % 1_000_000_000]);
    let time = time.as_ref().map_or(0, |time| time.as_ptr() as usize);
    // SAFETY: the slice is valid for reads and writes of its length; the time is null or a struct timespec.
    unsafe { call(number::PPOLL, [watched.as_mut_ptr() as usize, watched.len(), time, 0, 8, 0]) }
}

/// struct msghdr with one piece of data.
#[repr(C)]
struct Message {
    name: usize,
    name_length: usize,
    pieces: *const [usize; 2],
    piece_count: usize,
    control: *mut u8,
    control_length: usize,
    flags: usize,
}

/// Whether a descriptor is a socket; nothing is taken from it.
pub fn is_socket(descriptor: u32) -> bool {
    const MSG_PEEK_DONTWAIT: usize = 0x42;
    const ENOTSOCK: u32 = 88;
    let piece = [0_usize; 2];
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: &raw const piece,
        piece_count: 1,
        control: core::ptr::null_mut(),
        control_length: 0,
        flags: 0,
    };
    // SAFETY: the message describes no buffer at all.
    let looked = unsafe {
        call(number::RECVMSG, [descriptor as usize, (&raw const message) as usize, MSG_PEEK_DONTWAIT, 0, 0, 0])
    };
    looked != Err(ENOTSOCK)
}

/// Receives bytes, and with them descriptors, which are put into `descriptors` and counted.
pub fn receive(from: u32, into: &mut [u8], descriptors: &mut [u32]) -> Result<(usize, usize)> {
    // struct cmsghdr: its length, then level and type; then the descriptors.
    let mut control = [0_u64; 2 + MOST_AT_ONCE / 2];
    let piece = [into.as_mut_ptr() as usize, into.len()];
    let mut message = Message {
        name: 0,
        name_length: 0,
        pieces: &raw const piece,
        piece_count: 1,
        control: control.as_mut_ptr().cast(),
        control_length: size_of_val(&control),
        flags: 0,
    };
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    let arguments = [from as usize, (&raw mut message) as usize, MSG_CMSG_CLOEXEC, 0, 0, 0];
    // SAFETY: the message describes buffers that are valid for writes of the lengths that it gives.
    let length = unsafe { call(number::RECVMSG, arguments) }?;
    if message.control_length < 16 {
        return Ok((length, 0));
    }
    let count = ((control[0] as usize).saturating_sub(16) / 4).min(descriptors.len());
    for (at, descriptor) in descriptors[..count].iter_mut().enumerate() {
        *descriptor = (control[2 + at / 2] >> (32 * (at % 2))) as u32;
    }
    Ok((length, count))
}

/// Sends what stands in two pieces; how much of it.
pub fn send(to: u32, first: &[u8], second: &[u8]) -> Result<usize> {
    let pieces = [[first.as_ptr() as usize, first.len()], [second.as_ptr() as usize, second.len()]];
    let message = Message {
        name: 0,
        name_length: 0,
        pieces: pieces.as_ptr(),
        piece_count: 2,
        control: core::ptr::null_mut(),
        control_length: 0,
        flags: 0,
    };
    const MSG_NOSIGNAL: usize = 0x4000;
    // SAFETY: the message describes slices that are valid for reads of their lengths.
    unsafe { call(number::SENDMSG, [to as usize, (&raw const message) as usize, MSG_NOSIGNAL, 0, 0, 0]) }
}
