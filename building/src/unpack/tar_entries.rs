//! The entries of a tar: old, ustar, GNU and pax. Headers are read here and not by the crate, whose reader keeps in
//! memory whatever a long name claims to be. [`super::tree`] writes the entries.

use super::error::{Fault, Refusal};
use super::limits::Meter;
use super::tree::{Entry, EntryKind, Tree};
use std::io::{self, Read};
use std::time::{Duration, SystemTime};
use tar::Header;

pub(super) const BLOCK_BYTES: usize = 512;

/// A header that only describes the next one holds a name or two; this is more than any of them needs.
const MAX_DESCRIPTION_BYTES: u64 = 1 << 20;

/// What describes the entry that follows.
#[derive(Default)]
struct Description {
    name: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size_bytes: Option<u64>,
    modified: Option<SystemTime>,
}

/// Whether a block begins a tar: its checksum says so. An empty tar is nothing but zeros, and so are other files.
pub(super) fn begins_tar(block: &[u8]) -> bool {
    block.len() == BLOCK_BYTES && checksum_holds(Header::from_byte_slice(block))
}

/// Adds all entries of a tar to the tree, and reads the stream to its end, so that a checksum there is compared.
pub(super) fn add_all(stream: &mut dyn Read, meter: &Meter, tree: &mut Tree<'_>) -> Result<(), Fault> {
    let mut next = Description::default();
    let mut last: Vec<u8> = vec![];
    let of = |fault: Fault, name: &[u8]| if name.is_empty() { fault } else { fault.of(name) };
    while let Some(block) = read_block(stream).map_err(|why| of(why.into(), &last))? {
        let header = Header::from_byte_slice(&block);
        if is_zero(&block) {
            break;
        }
        if !checksum_holds(header) {
            let why = "the checksum of the next header is wrong".to_owned();
            return Err(of(Refusal::Damaged(why).into(), &last));
        }
        last = next.name.clone().unwrap_or_else(|| header.path_bytes().into_owned());
        meter.entry()?;
        let described = std::mem::take(&mut next);
        match header.entry_type().as_byte() {
            b'L' | b'K' | b'x' | b'X' | b'g' => next = describe(stream, header, described).map_err(|f| of(f, &last))?,
            _ => add(stream, header, described, &last, tree).map_err(|fault| of(fault, &last))?,
        }
    }
    io::copy(stream, &mut io::sink())?;
    Ok(())
}

fn describe(stream: &mut dyn Read, header: &Header, mut next: Description) -> Result<Description, Fault> {
    let size_bytes = header.entry_size()?;
    if size_bytes > MAX_DESCRIPTION_BYTES {
        return Err(Refusal::Damaged(format!("an entry's description is too long: {size_bytes} bytes")).into());
    }
    let mut text = vec![];
    stream.take(size_bytes).read_to_end(&mut text)?;
    skip_to_block(stream, size_bytes, text.len() as u64)?;
    match header.entry_type().as_byte() {
        b'L' => next.name = Some(without_end(text)),
        b'K' => next.target = Some(without_end(text)),
        kind => {
            for (key, value) in pax_records(&text)? {
                pax(&mut next, key, value, kind == b'g')?;
            }
        }
    }
    Ok(next)
}

/// GNU ends the name with a NUL.
fn without_end(mut name: Vec<u8>) -> Vec<u8> {
    if name.last() == Some(&0) {
        name.pop();
    }
    name
}

fn pax(next: &mut Description, key: &[u8], value: &[u8], global: bool) -> Result<(), Refusal> {
    let text = || std::str::from_utf8(value).unwrap_or_default();
    match key {
        b"path" | b"linkpath" | b"size" if global => {
            return Err(Refusal::Damaged("it sets one name or size for all following entries".to_owned()));
        }
        b"path" => next.name = Some(value.to_vec()),
        b"linkpath" => next.target = Some(value.to_vec()),
        b"size" => {
            let size = text().parse().map_err(|_| Refusal::Damaged("its size is not a number".to_owned()))?;
            next.size_bytes = Some(size);
        }
        b"mtime" if !global => next.modified = pax_time(text()),
        _ if key.starts_with(b"GNU.sparse.") => return Err(sparse()),
        _ => {}
    }
    Ok(())
}

/// Seconds since 1970 with a fraction. Nobody's source is older, and a time that makes no sense is none.
fn pax_time(text: &str) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}

fn sparse() -> Refusal {
    Refusal::Kind("a sparse file; pack it without tar's --sparse".to_owned())
}

/// A key and its value.
type Record<'a> = (&'a [u8], &'a [u8]);

/// `LENGTH KEY=VALUE\n`, where the length counts all of it.
fn pax_records(mut text: &[u8]) -> Result<Vec<Record<'_>>, Refusal> {
    let damaged = || Refusal::Damaged("its extended header is unreadable".to_owned());
    let mut records = vec![];
    while !text.is_empty() {
        let space = text.iter().take(20).position(|&byte| byte == b' ').ok_or_else(damaged)?;
        let length: usize =
            std::str::from_utf8(&text[..space]).ok().and_then(|n| n.parse().ok()).ok_or_else(damaged)?;
        let record = text.get(space + 1..length).ok_or_else(damaged)?;
        let record = record.strip_suffix(b"\n").ok_or_else(damaged)?;
        let equals = record.iter().position(|&byte| byte == b'=').ok_or_else(damaged)?;
        records.push((&record[..equals], &record[equals + 1..]));
        text = &text[length..];
    }
    Ok(records)
}

fn add(
    stream: &mut dyn Read,
    header: &Header,
    described: Description,
    name: &[u8],
    tree: &mut Tree<'_>,
) -> Result<(), Fault> {
    let second = header.mtime().ok().map(Duration::from_secs);
    let modified = described.modified.or(second.and_then(|second| SystemTime::UNIX_EPOCH.checked_add(second)));
    let target =
        || described.target.clone().or_else(|| Some(header.link_name_bytes()?.into_owned())).unwrap_or_default();
    let entry = |kind| Entry { name, modified, kind };
    match header.entry_type().as_byte() {
        // The format of 1979 knows folders by their names.
        b'0' | 0 if name.ends_with(b"/") => tree.add(entry(EntryKind::Folder)),
        b'0' | b'7' | 0 => {
            let size_bytes = match described.size_bytes {
                Some(size_bytes) => size_bytes,
                None => header.entry_size()?,
            };
            let executable = header.mode()? & 0o111 != 0;
            let mut content = Exactly { stream, left_bytes: size_bytes };
            tree.add(entry(EntryKind::File { content: &mut content, executable }))?;
            Ok(skip_to_block(stream, size_bytes, size_bytes)?)
        }
        b'1' => tree.add(entry(EntryKind::HardLink(&target()))),
        b'2' => tree.add(entry(EntryKind::SymbolicLink(&target()))),
        b'5' => tree.add(entry(EntryKind::Folder)),
        // The name of the archive itself.
        b'V' => Ok(()),
        b'3' | b'4' => Err(Refusal::Kind("a device".to_owned()).into()),
        b'6' => Err(Refusal::Kind("a named pipe".to_owned()).into()),
        b'S' => Err(sparse().into()),
        b'D' | b'M' => Err(Refusal::Kind("part of an incremental backup, not of a complete archive".to_owned()).into()),
        other => Err(Refusal::Kind(format!("of the unknown type `{}`", other.escape_ascii())).into()),
    }
}

/// The next `n` bytes of a stream; it is an error if there are fewer.
struct Exactly<'a> {
    stream: &'a mut dyn Read,
    left_bytes: u64,
}

impl Read for Exactly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left_bytes).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let n = self.stream.read(&mut buffer[..most])?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left_bytes -= n as u64;
        Ok(n)
    }
}

/// Content is padded to whole blocks.
fn skip_to_block(stream: &mut dyn Read, size_bytes: u64, read_bytes: u64) -> Result<(), Refusal> {
    let padded = size_bytes.checked_next_multiple_of(BLOCK_BYTES as u64);
    let padded = padded.ok_or_else(|| Refusal::Damaged("its size is impossible".to_owned()))?;
    let left_bytes = padded - read_bytes;
    let skipped = io::copy(&mut stream.take(left_bytes), &mut io::sink())?;
    if skipped < left_bytes { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) } else { Ok(()) }
}

/// The next block; none at the end of the stream.
fn read_block(stream: &mut dyn Read) -> Result<Option<[u8; BLOCK_BYTES]>, Refusal> {
    let mut block = [0; BLOCK_BYTES];
    let mut filled = 0;
    while filled < BLOCK_BYTES {
        match stream.read(&mut block[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(block))
}

fn is_zero(block: &[u8]) -> bool {
    block.iter().all(|&byte| byte == 0)
}

/// The sum of a header's bytes, where those of the sum itself count as spaces.
fn checksum_holds(header: &Header) -> bool {
    let bytes = header.as_bytes();
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let expected = sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]);
    header.cksum().is_ok_and(|found| found == expected)
}
