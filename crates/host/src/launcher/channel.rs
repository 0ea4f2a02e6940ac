//! The socket to the launcher: whole messages, with their descriptors. What they mean is not known here.

use super::wire::{self, Head};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, ErrorKind, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

pub(super) fn send(to: &UnixStream, kind: u32, body: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let count = u32::try_from(descriptors.len()).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    let head = Head { kind, descriptors: count, length: body.len() as u64 };
    let (first, rest) = descriptors.split_at(descriptors.len().min(wire::MOST_AT_ONCE));
    let sent = send_with(to, &[IoSlice::new(wire::bytes(&head)), IoSlice::new(body)], first)?;
    let of_body = sent.saturating_sub(size_of::<Head>());
    if sent < size_of::<Head>() {
        return Err(ErrorKind::WriteZero.into());
    }
    let mut left = &body[of_body..];
    while !left.is_empty() {
        left = &left[send_with(to, &[IoSlice::new(left)], &[])?..];
    }
    for piece in rest.chunks(wire::MOST_AT_ONCE) {
        send_with(to, &[IoSlice::new(&[0])], piece)?;
    }
    Ok(())
}

fn send_with(to: &UnixStream, data: &[IoSlice<'_>], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(wire::MOST_AT_ONCE))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    loop {
        // Without the flag a launcher that has ended would end us, too.
        match sendmsg(to, data, &mut control, SendFlags::NOSIGNAL) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

/// The next message; none if the launcher has ended.
pub(super) fn receive(mut from: &UnixStream) -> io::Result<Option<(u32, Vec<u8>)>> {
    let mut head = Head::default();
    match from.read_exact(wire::bytes_mut(&mut head)) {
        Ok(()) => {}
        Err(end) if matches!(end.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut body = vec![0; usize::try_from(head.length).map_err(|_| io::Error::from(ErrorKind::InvalidData))?];
    match from.read_exact(&mut body) {
        Ok(()) => Ok(Some((head.kind, body))),
        Err(end) if matches!(end.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => Ok(None),
        Err(error) => Err(error),
    }
}
