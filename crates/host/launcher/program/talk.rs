//! The socket to the owner: heads, bodies and descriptors, as they go and come. What they mean is not known here.

use super::job::{self, Memory};
use super::{sys, wire};

/// The owner's socket. Descriptor 1 is what the owner has us keep open.
pub(super) const CONTROL: u32 = 0;

const _: () = assert!(wire::MOST_AT_ONCE == sys::MOST_AT_ONCE);

pub(super) fn say(kind: u32, body: &[u8]) -> sys::Result<()> {
    let head = wire::Head { kind, descriptors: 0, length: body.len() as u64 };
    send_all(wire::bytes(&head), body)
}

pub(super) fn send_all(mut first: &[u8], mut second: &[u8]) -> sys::Result<()> {
    while !first.is_empty() || !second.is_empty() {
        match sys::send(CONTROL, first, second) {
            Ok(sent) => {
                let of_first = sent.min(first.len());
                (first, second) = (&first[of_first..], &second[sent - of_first..]);
            }
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// The next message's head, and the first of its descriptors; none if the owner has hung up.
pub(super) fn hear(descriptors: &mut [u32]) -> sys::Result<Option<wire::Head>> {
    let mut head = wire::Head::default();
    let (mut filled, mut come) = (0, 0);
    while filled < size_of::<wire::Head>() {
        let into = &mut wire::bytes_mut(&mut head)[filled..];
        match sys::receive(CONTROL, into, descriptors.get_mut(come..).unwrap_or_default()) {
            Ok((0, _)) => return Ok(None),
            Ok((more, with)) => (filled, come) = (filled + more, come + with),
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    // The others come after the body, and are counted on from here.
    let expected = (head.descriptors as usize).min(wire::MOST_AT_ONCE);
    if come == expected { Ok(Some(head)) } else { Err(sys::EPROTO) }
}

pub(super) fn hear_stop() -> sys::Result<wire::Stop> {
    let mut stop = wire::Stop::default();
    receive_all(wire::bytes_mut(&mut stop))?;
    Ok(stop)
}

/// The body, in memory that has room for the job as well, and the rest of its descriptors.
pub(super) fn receive_body(head: wire::Head, descriptors: &mut [u32]) -> sys::Result<(Memory, usize)> {
    let length = usize::try_from(head.length).map_err(|_| sys::EPROTO)?;
    if length < size_of::<wire::Job>() || head.descriptors as usize > descriptors.len() {
        return Err(sys::EPROTO);
    }
    let mut fixed = wire::Job::default();
    receive_all(wire::bytes_mut(&mut fixed))?;
    let mut memory = Memory::take(length + job::beyond(fixed.processes as usize))?;
    let body = &mut memory.bytes()[..length];
    let (start, rest) = body.split_at_mut(size_of::<wire::Job>());
    start.copy_from_slice(wire::bytes(&fixed));
    receive_all(rest)?;
    let mut come = wire::MOST_AT_ONCE;
    while come < head.descriptors as usize {
        match sys::receive(CONTROL, &mut [0], &mut descriptors[come..])? {
            (_, 0) => return Err(sys::EPROTO),
            (_, more) => come += more,
        }
    }
    Ok((memory, length))
}

fn receive_all(mut into: &mut [u8]) -> sys::Result<()> {
    while !into.is_empty() {
        match sys::read(CONTROL, into) {
            Ok(0) => return Err(sys::EPROTO),
            Ok(more) => into = &mut into[more..],
            Err(sys::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
