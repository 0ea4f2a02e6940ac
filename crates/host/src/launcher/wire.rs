//! What a launcher and its owner say to each other: JSON behind a length of four bytes, so that a reader never takes
//! more from the socket than the message that it asked for.

use super::{Command, Ended};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;

/// To the launcher. Hanging up is the third request: kill everything and end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Execute this.
    Execute(Command),
    /// Kill what is executing; without meaning if it has just ended.
    Kill,
}

/// From the launcher: `Ready` once, then one reply for each command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It is a launcher and awaits commands.
    Ready,
    /// The command and all that came of it is gone.
    Ended(Ended),
    /// This process cannot be killed.
    Unkillable(i32),
    /// The launcher cannot go on.
    Broken(String),
}

pub(super) fn send<T: Serialize>(mut to: &UnixStream, message: &T) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(body);
    to.write_all(&bytes)
}

/// The next message; none if the other end has hung up.
pub(super) fn receive<T: DeserializeOwned>(mut from: &UnixStream) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(end) if matches!(end.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut body = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}
