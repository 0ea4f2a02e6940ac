//! A prefix's own name taken out of what was built in it. Two builds of the same thing differ in the 32 hexadecimal
//! digits that name their layers, wherever paths were written into files: these digits are replaced by others that are
//! the same for all builds. Their length stays, so that no byte moves; see [`crate::relocate`], which rests on the same.

use memchr::memmem::Finder;
use std::borrow::Cow;

/// Stands in the place of every layer's digits.
const CONSTANT: u8 = b'0';

/// Takes one layer's digits out.
pub(super) struct Neutral {
    digits: Finder<'static>,
}

impl Neutral {
    /// Of the layer that these digits name.
    pub(super) fn of(digits: &str) -> Self {
        Self { digits: Finder::new(digits.as_bytes()).into_owned() }
    }

    /// The bytes without the digits.
    pub(super) fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let places: Vec<usize> = self.digits.find_iter(bytes).collect();
        if places.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut neutral = bytes.to_vec();
        let length = self.digits.needle().len();
        places.into_iter().for_each(|place| neutral[place..place + length].fill(CONSTANT));
        Cow::Owned(neutral)
    }

    /// The text without the digits.
    pub(super) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_and_lengths_stay() {
        let digits = "0123456789abcdef0123456789abcdef";
        let neutral = Neutral::of(digits);
        let path = format!("/c/builds/{digits}/lib:/c/work/{digits}/tree");
        let zeros = "0".repeat(32);
        assert_eq!(neutral.text(&path), format!("/c/builds/{zeros}/lib:/c/work/{zeros}/tree"));
        assert_eq!(neutral.text("nothing"), "nothing");
        assert_eq!(neutral.text(&digits[1..]), digits[1..]);
    }
}
