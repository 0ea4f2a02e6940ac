//! Integers that lost digits as they were read: how many, and one of them. Nothing is rounded here.

use super::origin::Origin;

/// Integers that a 64-bit floating-point number cannot hold, counted, with the first as an example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rounded {
    /// How many.
    pub count: u64,
    /// The first: its place, and what became of it.
    pub example: Option<String>,
}

impl Rounded {
    pub(super) fn count(&mut self, origin: &Origin<'_>, line: u64, word: &[u8], value: f64) {
        self.count += 1;
        self.example.get_or_insert_with(|| {
            format!("{}:{line}: {} became {value:.0}", origin.name, String::from_utf8_lossy(word))
        });
    }

    pub(super) fn append(&mut self, other: Self) {
        self.count += other.count;
        self.example = self.example.take().or(other.example);
    }
}
