//! Published figures of one list of values, as ranges: n, smallest, largest, median, mean and standard deviation, each
//! known only to the digits that were printed. This file does not judge them; [`super`] narrows them and finds faults.

/// From its least to its greatest possible value.
pub type Range = [f64; 2];

/// Figures of one list of values, each as the range that its digits leave.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Number of values.
    pub n: u64,
    /// Smallest value.
    pub min: Option<Range>,
    /// Largest value.
    pub max: Option<Range>,
    /// Median, by either rule for an even number of values.
    pub median: Option<Range>,
    /// Arithmetic mean.
    pub mean: Option<Range>,
    /// Standard deviation, n − 1.
    pub sd: Option<Range>,
}

/// What the median of an even number of values is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MedianRule {
    /// The upper one of the two in the middle: ministat until 2016, and Debian's.
    UpperMiddle,
    /// The mean of the two in the middle.
    MeanOfMiddles,
}

/// Which figure is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Smallest value.
    Min,
    /// Largest value.
    Max,
    /// Median.
    Median,
    /// Mean.
    Mean,
    /// Standard deviation.
    Sd,
}

/// The part that two ranges share.
pub fn intersect(a: Range, b: Range) -> Option<Range> {
    let both = [a[0].max(b[0]), a[1].min(b[1])];
    (both[0] <= both[1]).then_some(both)
}

impl Figures {
    /// The same with every end of every range changed.
    pub(super) fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        let [min, max, median, mean, sd] =
            [self.min, self.max, self.median, self.mean, self.sd].map(|figure| figure.map(|range| range.map(&change)));
        Self { n: self.n, min, max, median, mean, sd }
    }
}

/// How many of the values that are neither smallest, largest nor the median lie below and above it, and how many
/// are the median (two, as if they were equal, where it is the mean of two). None if n is too small for that.
pub(super) fn places(n: u64, rule: MedianRule) -> Option<(f64, f64, f64)> {
    let (below, middle, above) = match (n % 2, rule) {
        (1, _) => (n.checked_sub(3)? / 2, 1, (n - 3) / 2),
        (_, MedianRule::UpperMiddle) => (n.checked_sub(4)? / 2 + 1, 1, (n - 4) / 2),
        (_, MedianRule::MeanOfMiddles) => (n.checked_sub(4)? / 2, 2, (n - 4) / 2),
    };
    Some((below as f64, middle as f64, above as f64))
}
