//! Published figures, as people print them: tables of n, smallest, largest, median, mean and standard deviation, and
//! claims about them. Here is what they are and how text is read into them; whether they are possible and what they
//! show is judged elsewhere. Numbers keep the digits that they were printed with, for the digits tell how far they
//! can be trusted; units stay text.

pub mod claim;
mod difference;
mod families;
mod header;
mod jmh;
mod lists;
mod number;
mod pairs;
mod read;
mod reader;
mod table;
mod words;

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod prose_tests;
#[cfg(test)]
mod tests;

pub use number::Figure;
pub use read::read;
pub(crate) use words::is_rate;

use serde::{Deserialize, Serialize};

/// Figures of one list of values, as they were published.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What was measured: a build, a system, a file. Unique among the summaries of one quantity and unit.
    pub name: String,
    /// What was measured of it, such as an operation or `real`; none if the text does not say.
    pub quantity: Option<String>,
    /// The unit that stood at the values; none if none did.
    pub unit: Option<String>,
    /// The symbol that stood for it in ministat's table.
    pub symbol: Option<String>,
    /// Where it was found, counted from 1.
    pub line: usize,
    /// Number of values, at least 1; none if it was not published.
    pub n: Option<u64>,
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

impl Summary {
    /// Whether the two can be compared: they are of the same quantity, in the same unit.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.quantity == other.quantity && self.unit == other.unit
    }

    /// All figures but n.
    fn figures_mut(&mut self) -> [&mut Option<Figure>; 5] {
        [&mut self.min, &mut self.max, &mut self.median, &mut self.mean, &mut self.sd]
    }

    fn figures(&self) -> impl Iterator<Item = &Figure> {
        [&self.min, &self.max, &self.median, &self.mean, &self.sd].into_iter().flatten()
    }

    /// The quantity by its name, or by its unit if it has none.
    pub fn label(&self) -> Option<&str> {
        self.quantity.as_deref().or(self.unit.as_deref())
    }
}

/// What ministat printed below a row of its table, about this row and the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// Where it was found, counted from 1.
    pub line: usize,
    /// The summary that it is about, as an index.
    pub subject: usize,
    /// The one that it was compared with.
    pub object: usize,
    /// In percent.
    pub confidence: Figure,
    /// What was found; none for "No difference proven".
    pub difference: Option<StatedDifference>,
}

/// The lines below "Difference at 95.0% confidence", each with what stands on both sides of its `+/-`; none that was
/// not printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatedDifference {
    /// In the unit of the values.
    pub absolute: Option<[Figure; 2]>,
    /// In percent of the first row's mean.
    pub percent: Option<[Figure; 2]>,
    /// The pooled standard deviation.
    pub pooled_sd: Option<Figure>,
}

/// How the figures were printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Printing {
    /// Each to the digits that it shows.
    #[default]
    AsShown,
    /// By ministat: eight significant digits, without the zeros at the end.
    EightDigits,
}

/// All that a text held.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Its summaries; never empty, and in the order of the text.
    pub summaries: Vec<Summary>,
    /// How they were printed.
    pub printing: Printing,
    /// What ministat said of them.
    pub stated: Vec<Stated>,
    /// Lines that are known and were not needed, such as a picture.
    pub lines_left_out: usize,
    /// Lines that were taken as titles or remarks, counted from 1.
    pub lines_unread: Vec<usize>,
    /// Titles of columns with numbers that are no known figures.
    pub columns_unread: Vec<String>,
}
