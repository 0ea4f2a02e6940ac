//! The beginning of a file: enough to tell its format, without a byte order mark; refused by name if it is no text.

use super::origin::{Error, Origin};
use std::io::{self, Read as _};

/// A byte order mark in UTF-8, which means nothing there.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Enough to recognise a format.
const HEAD_BYTES: u64 = 1 << 16;

/// What files that are no text begin with.
const BINARIES: [(&[u8], &str); 14] = [
    (b"\x1f\x8b", "a gzip file in a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x04\x22\x4d\x18", "an lz4 file"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x7fELF", "a program or library (ELF)"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PERFILE2", "a perf.data file"),
    (b"\x89PNG", "a PNG picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x80\x04\x95", "a Python pickle"),
];

/// The beginning of a text, less its byte order mark.
pub(super) fn head(reader: &mut dyn io::BufRead, origin: &Origin<'_>) -> Result<Vec<u8>, Error> {
    let mut head = vec![];
    reader.take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| origin.cannot_read(&error))?;
    if let Some(what) = binary(&head) {
        let remedy = "provide text: one number per line, or the output of a tool that `bakeoff stat --help` lists";
        return Err(origin.whole(&format!("this is not text; it looks like {what}"), remedy));
    }
    if head.starts_with(BYTE_ORDER_MARK) {
        head.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(head)
}

/// What a file is that begins so, if it is no text.
fn binary(head: &[u8]) -> Option<&'static str> {
    let known = BINARIES.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what);
    known.or_else(|| head.contains(&0).then_some("binary data"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// Hands out a byte at a time, as a slow pipe may.
    struct Slow<'a>(&'a [u8]);

    impl io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = buffer.len().min(1);
            io::Read::read(&mut self.0, &mut buffer[..some])
        }
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        head(&mut BufReader::new(Slow(bytes)), &Origin { name: "f", label: "f" })
    }

    #[test]
    fn a_mark_is_taken_off_and_pieces_are_joined() {
        assert_eq!(read(b"\xef\xbb\xbf1\n2\n").unwrap(), b"1\n2\n");
        assert_eq!(read(b"goos: linux\nBenchmarkX").unwrap(), b"goos: linux\nBenchmarkX");
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn what_is_no_text_is_refused_by_name() {
        let check = |bytes: &[u8], what: &str| {
            let error = read(bytes).unwrap_err();
            assert!(error.message.contains(what), "{error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error:?}");
        };
        BINARIES.iter().for_each(|(magic, what)| check(&[magic, &b"\0\x01"[..]].concat(), what));
        check(b"1\n2\n\0\0\x1b[2J", "binary data");
    }
}
