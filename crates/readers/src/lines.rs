//! Lines of bytes from a reader, in bounded memory, without a copy of those that lie whole in its buffer.

use memchr::memchr;
use std::io::{self, BufRead};

/// Hands every line to `take`, with its line feed; a longer one in pieces of `limit` bytes. An error ends the reading.
pub fn each<E>(
    reader: &mut dyn BufRead,
    limit: usize,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut begun: Vec<u8> = vec![];
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer.map_err(Stop::Read)?,
        };
        if buffer.is_empty() {
            break;
        }
        let length = buffer.len();
        let mut rest = buffer;
        while !rest.is_empty() {
            let room = (limit - begun.len()).min(rest.len());
            let end = memchr(b'\n', &rest[..room]).map(|at| at + 1);
            let (piece, after) = rest.split_at(end.unwrap_or(room));
            let whole = end.is_some() || begun.len() + piece.len() == limit;
            if whole && begun.is_empty() {
                take(piece).map_err(Stop::Taker)?;
            } else {
                begun.extend_from_slice(piece);
                if whole {
                    take(&begun).map_err(Stop::Taker)?;
                    begun.clear();
                }
            }
            rest = after;
        }
        reader.consume(length);
    }
    if begun.is_empty() { Ok(()) } else { take(&begun).map_err(Stop::Taker) }
}

/// Why reading ended before its time.
#[derive(Debug)]
pub enum Stop<E> {
    /// The reader failed.
    Read(io::Error),
    /// The caller wanted no more lines.
    Taker(E),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn check(text: &str, limit: usize, expect: &[&str]) {
        for capacity in 1..=text.len().max(1) {
            let mut lines: Vec<String> = vec![];
            let mut reader = BufReader::with_capacity(capacity, text.as_bytes());
            let taken = each(&mut reader, limit, |line| {
                lines.push(String::from_utf8_lossy(line).into_owned());
                Ok::<(), ()>(())
            });
            assert!(taken.is_ok());
            assert_eq!(lines, expect, "{text:?} in buffers of {capacity}");
        }
    }

    #[test]
    fn lines_are_whole_whatever_the_buffer() {
        check("", 8, &[]);
        check("a\nbc\n\nd", 8, &["a\n", "bc\n", "\n", "d"]);
        check("abcdefgh\nx\n", 4, &["abcd", "efgh", "\n", "x\n"]);
        check("abc\nd", 4, &["abc\n", "d"]);
    }

    #[test]
    fn whoever_takes_them_may_stop() {
        let mut seen = 0;
        let stopped = each(&mut "1\n2\n3\n".as_bytes(), 8, |_| {
            seen += 1;
            if seen == 2 { Err("enough") } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(Stop::Taker("enough"))));
        assert_eq!(seen, 2);
    }
}
