//! The files of `bakeoff stat`, opened, and unpacked if gzip packed them. What they mean is read elsewhere.

use crate::{foreign, titled};
use bakeoff_readers::columns::Columns;
use bakeoff_readers::{Error, Format, Gathered, Options, Origin};
use flate2::bufread::MultiGzDecoder;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};

/// What is read at a time.
const BUFFER_BYTES: usize = 1 << 18;
/// A packed file may unpack to so much: a few kilobytes could be made to fill the memory.
const UNPACKED_MAX: u64 = 1 << 30;

/// Enough to recognise a form, and the most that is held whole.
const HEAD_BYTES: u64 = 1 << 16;
const WHOLE_MAX: u64 = 1 << 30;

/// How our own journals begin.
const JOURNAL: &[u8] = b"{\"line\":\"study\"";

/// Reads one file, which may be the only one, or standard input.
pub(crate) fn read(file: &OsStr, label: &str, is_alone: bool, options: &Options) -> Result<Gathered, Error> {
    if file == "-" {
        return from(io::stdin(), &Origin { name: "<stdin>", label }, is_alone, options, UNPACKED_MAX);
    }
    let name = file.to_string_lossy();
    let opened = File::open(file).map_err(|error| Error {
        place: name.to_string(),
        message: format!("cannot be opened: {error}"),
        remedy: String::new(),
    })?;
    from(opened, &Origin { name: &name, label }, is_alone, options, UNPACKED_MAX)
}

fn from(
    input: impl Read,
    origin: &Origin<'_>,
    is_alone: bool,
    options: &Options,
    most: u64,
) -> Result<Gathered, Error> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, input);
    // No text begins with the first of these bytes, so that a pipe's first piece need not hold both. An error will come
    // again, and be reported, when the content is read.
    let is_packed = reader.fill_buf().is_ok_and(|bytes| matches!(bytes, [0x1f] | [0x1f, 0x8b, ..]));
    if is_packed {
        let unpacked = Limited { inner: MultiGzDecoder::new(reader), left: most, most };
        of_text(BufReader::with_capacity(BUFFER_BYTES, unpacked), origin, is_alone, options)
    } else {
        of_text(reader, origin, is_alone, options)
    }
}

/// Text of any form. Tables with titles and the events of `go test -json` are recognised here, and what no reader
/// knows.
fn of_text(
    mut reader: impl io::BufRead,
    origin: &Origin<'_>,
    is_alone: bool,
    options: &Options,
) -> Result<Gathered, Error> {
    let failed = |error: io::Error| origin.whole(&format!("cannot be read: {error}"), "");
    let mut head = vec![];
    reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
    if head.starts_with(JOURNAL) {
        let remedy = "use `bakeoff report`; with --export-go, it writes a file that this command can read";
        return Err(origin.whole("this is a Bakeoff journal", remedy));
    }
    let mut all = head.as_slice().chain(reader);
    if options.format.is_some() || options.columns.delimiters != Columns::default().delimiters {
        return bakeoff_readers::read(&mut all, origin, options);
    }
    let is_go = foreign::is_go_json(&head);
    let is_plain = !is_go && bakeoff_readers::recognise(&head) == Format::Columns;
    let separator = titled::separator(&head).filter(|_| is_plain);
    if let Some(error) = foreign::refusal(&head, origin).filter(|_| is_plain && !options.columns.is_chosen) {
        return Err(error);
    }
    if !is_go && separator.is_none() {
        return bakeoff_readers::read(&mut all, origin, options);
    }
    let mut whole = vec![];
    all.take(WHOLE_MAX + 1).read_to_end(&mut whole).map_err(failed)?;
    if whole.len() as u64 > WHOLE_MAX {
        return Err(origin.whole("the file is larger than 1 GB", "reduce it to the numbers, one per line"));
    }
    match separator {
        Some(separator) => titled::read(&String::from_utf8_lossy(&whole), separator, origin, is_alone, options),
        None => {
            let text = foreign::go_text(&whole, origin)?;
            bakeoff_readers::read(
                &mut text.as_bytes(),
                origin,
                &Options { format: Some(Format::Go), ..options.clone() },
            )
        }
    }
}

/// A reader that fails where it would yield too much.
struct Limited<R> {
    inner: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!("it unpacks to more than {} bytes; unpack it with `gzip -d`", self.most))
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], most: u64) -> Result<Gathered, Error> {
        from(bytes, &Origin { name: "f.gz", label: "f.gz" }, true, &Options::default(), most)
    }

    #[test]
    fn what_gzip_packed_is_read() {
        // Two members, one after the other, are one file.
        let bytes = [packed(b"1\n2\n"), packed(b"3\n")].concat();
        assert_eq!(read(&bytes, 100).unwrap().samples[0].values, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn what_unpacks_to_too_much_or_is_broken_is_refused() {
        let check = |bytes: &[u8], most: u64, part: &str| {
            let error = read(bytes, most).unwrap_err().to_string();
            assert!(error.starts_with("f.gz: cannot be read: ") && error.contains(part), "{error}");
        };
        let bytes = packed("1\n".repeat(1000).as_bytes());
        assert!(read(&bytes, 2000).is_ok());
        check(&bytes, 1999, "it unpacks to more than 1999 bytes");
        check(&bytes[..bytes.len() / 2], 2000, "");
        check(b"\x1f\x8b nonsense", 2000, "");
        check(b"\x1f", 2000, "");
    }
}
