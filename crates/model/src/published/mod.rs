//! Published figures, as people print them: tables of n, smallest, largest, median, mean and standard deviation, and
//! claims about them. Here is what they are and how text is read into them; whether they are possible and what they
//! show is judged elsewhere. Numbers keep the digits that they were printed with, for the digits tell how far they
//! can be trusted; units stay text.

pub mod claim;
mod number;
mod read;
mod words;

#[cfg(test)]
mod tests;

pub use number::Figure;
pub use read::read;

use serde::{Deserialize, Serialize};

/// Figures of one list of values, as they were published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What it is called; unique among its like.
    pub name: String,
    /// Where it was found, counted from 1.
    pub line: usize,
    /// Number of values, at least 1.
    pub n: u64,
    /// Smallest value.
    pub min: Option<Figure>,
    /// Largest value.
    pub max: Option<Figure>,
    /// Median.
    pub median: Option<Figure>,
    /// Arithmetic mean.
    pub mean: Option<Figure>,
    /// Standard deviation.
    pub sd: Option<Figure>,
}

/// How the figures were printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Printing {
    /// Each to the digits that it shows.
    AsShown,
    /// By ministat: eight significant digits, without the zeros at the end.
    EightDigits,
}

/// All that a text held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Its summaries; never empty, and in the order of the text.
    pub summaries: Vec<Summary>,
    /// How they were printed.
    pub printing: Printing,
    /// The unit that stood at the values; none if none did.
    pub unit: Option<String>,
    /// Lines that are known and were not needed, such as a picture or the sentences that ministat prints below.
    pub lines_left_out: usize,
}
