//! The k-th smallest of all differences between two sorted lists, without forming them. It knows nothing of ranks as a
//! statistic.
//!
//! Sorted lists make a matrix with sorted rows and columns, in which one walk along the staircase between the entries
//! up to a limit and the others counts them, in O(m + n) (Johnson & Mizoguchi 1978). The limit is found by bisection over the
//! 2⁶⁴ numbers themselves, so the answer is an entry, and exact.

/// A whole number that is ordered as the numbers are.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number that it stands for.
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// All differences x − y of two ascending lists.
#[derive(Debug, Clone)]
pub(super) struct Differences<'a> {
    x: &'a [f64],
    y: &'a [f64],
}

impl<'a> Differences<'a> {
    /// Of two ascending lists of finite values that are not empty.
    pub(super) fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        Self { x, y }
    }

    /// The entry of this rank, counted from 0 in ascending order; the largest, if there are fewer.
    pub(super) fn at(&self, rank: u64) -> f64 {
        let (x, y) = (self.x, self.y);
        let wanted = rank.min((x.len() as u64 * y.len() as u64).saturating_sub(1)) + 1;
        let [mut low, mut high] = [x[0] - y[y.len() - 1], x[x.len() - 1] - y[0]].map(ordered);
        // The entry is the smallest number up to which there are enough.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.up_to(number(middle)) >= wanted { high = middle } else { low = middle + 1 }
        }
        // Of the two zeros the positive one.
        number(low) + 0.0
    }

    /// Counts the entries up to `limit`.
    fn up_to(&self, limit: f64) -> u64 {
        // The first y whose difference is at most the limit: as x grows, it moves up.
        let (mut first, mut count) = (0, 0);
        for x in self.x {
            while first < self.y.len() && x - self.y[first] > limit {
                first += 1;
            }
            count += (self.y.len() - first) as u64;
        }
        count
    }
}
