//! The checksum of a line: its last member, `"crc32c"`, eight hexadecimal digits of the CRC-32C (RFC 3720, section 12.1) of
//! all bytes before that member. It finds accidents, not forgery. Lines of older versions have none.

use std::io::Write as _;

/// What stands between the bytes that are summed and the digits.
const MEMBER: &[u8] = b",\"crc32c\":\"";
const DIGITS: usize = 8;
/// What follows the digits.
const END: &[u8] = b"\"}";

/// Whether a line is as it was written, by its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    /// It is as it was written.
    Right,
    /// It is not.
    Wrong,
    /// It has no checksum.
    Absent,
}

/// Puts the checksum into a line, an object of JSON without its line feed.
pub(crate) fn seal(line: &mut Vec<u8>) {
    line.pop();
    let sum = crc32c::crc32c(line);
    line.extend_from_slice(MEMBER);
    // To a vector it cannot fail.
    let _ = write!(line, "{sum:08x}");
    line.extend_from_slice(END);
}

/// A line without its checksum, as it was before it was sealed.
pub(crate) fn without(line: &[u8]) -> Vec<u8> {
    split(line).map_or_else(|| line.to_vec(), |(summed, _)| [summed, b"}"].concat())
}

/// What is summed, and the digits.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_suffix(END)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(MEMBER)?, digits))
}

pub(crate) fn look(line: &[u8]) -> Sum {
    match split(line) {
        None => Sum::Absent,
        Some((summed, digits)) if format!("{:08x}", crc32c::crc32c(summed)).as_bytes() == digits => Sum::Right,
        Some(_) => Sum::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_seen() {
        let mut line = br#"{"line":"trial","block":1}"#.to_vec();
        seal(&mut line);
        assert_eq!(look(&line), Sum::Right, "{}", String::from_utf8_lossy(&line));
        assert_eq!(without(&line), br#"{"line":"trial","block":1}"#);
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(look(&flipped), Sum::Right, "bit {bit}");
        }
        assert_eq!(look(br#"{"line":"trial"}"#), Sum::Absent);
        assert_eq!(look(b""), Sum::Absent);
        // RFC 3720, B.4: 32 bytes of zeroes.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }
}
