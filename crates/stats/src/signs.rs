//! A group of sign patterns, and the signed sums of a list under all of them at once. The patterns are those of a linear
//! code: pattern u turns the sign of item i if u and the item's mask have an odd number of bits in common. A test that
//! counts over a group that holds the identity is exact (Hemerik & Goeman 2018, theorem 1), and all sums together are one
//! Walsh–Hadamard transform: r·2^r additions, however many items there are. It knows nothing of tests.

use super::splitmix::SplitMix64;

/// At most this many patterns, as a power of two.
const BITS_MAX: u32 = 20;

/// Patterns of signs for a number of items.
#[derive(Debug, Clone)]
pub(super) struct Signs {
    masks: Vec<usize>,
    bits: u32,
    complete: bool,
}

impl Signs {
    /// For `items` items, and at least `patterns` patterns if there are that many. Where all 2^(n−1) fit (a pattern and its
    /// opposite count once), these are all of them; else the masks are drawn from `seed`.
    pub(super) fn new(items: usize, patterns: f64, seed: u64) -> Self {
        let bits = (patterns.log2().ceil() as u32).clamp(1, BITS_MAX);
        if items <= bits as usize + 1 {
            let bits = items.saturating_sub(1) as u32;
            // The last item keeps its sign.
            let masks = (0..items).map(|item| if item as u32 == bits { 0 } else { 1 << item }).collect();
            return Self { masks, bits, complete: true };
        }
        let mut generator = SplitMix64(seed);
        let last = (1u64 << bits) - 1;
        // Below 2^20 of 2^64, the remainder's bias is nothing.
        let masks = (0..items).map(|_| 1 + (generator.next() % last) as usize).collect();
        Self { masks, bits, complete: false }
    }

    /// Number of patterns.
    pub(super) fn count(&self) -> usize {
        1 << self.bits
    }

    /// Whether these are all patterns.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Σ ± item over all patterns; the first is the identity. Items beyond the last have no part in it.
    pub(super) fn sums(&self, items: &[f64], sums: &mut Vec<f64>) {
        sums.clear();
        sums.resize(self.count(), 0.0);
        for (item, mask) in items.iter().zip(&self.masks) {
            sums[*mask] += item;
        }
        transform(sums);
    }
}

/// The Walsh–Hadamard transform of a list whose length is a power of two: two stages at a time, so that the list is read half
/// as often.
fn transform(sums: &mut [f64]) {
    let mut quarter = 1;
    while 4 * quarter <= sums.len() {
        for four in sums.chunks_exact_mut(4 * quarter) {
            let (low, high) = four.split_at_mut(2 * quarter);
            let (a, b) = low.split_at_mut(quarter);
            let (c, d) = high.split_at_mut(quarter);
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                let (first, second, third, fourth) = (*a + *b, *a - *b, *c + *d, *c - *d);
                (*a, *b, *c, *d) = (first + third, second + fourth, first - third, second - fourth);
            }
        }
        quarter *= 4;
    }
    if 2 * quarter == sums.len() {
        let (even, odd) = sums.split_at_mut(quarter);
        for (even, odd) in even.iter_mut().zip(odd) {
            (*even, *odd) = (*even + *odd, *even - *odd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_definition(signs: &Signs, items: &[f64]) -> Vec<f64> {
        let sign = |pattern: usize, mask: usize| if (pattern & mask).count_ones() % 2 == 1 { -1.0 } else { 1.0 };
        let sum = |pattern| items.iter().zip(&signs.masks).map(|(x, mask)| sign(pattern, *mask) * x).sum();
        (0..signs.count()).map(sum).collect()
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        for items in [1, 2, 5, 11, 40] {
            let values: Vec<f64> = (1..=items).map(|i| f64::from(i * i % 7) - 2.0).collect();
            let signs = Signs::new(values.len(), 1024.0, 178);
            let mut sums = vec![];
            signs.sums(&values, &mut sums);
            assert_eq!(sums, by_definition(&signs, &values), "{items}");
            assert_eq!(signs.count(), if items <= 11 { 1 << (items - 1) } else { 1024 });
        }
    }

    /// With few items every pattern is there once, but for its opposite.
    #[test]
    fn few_items_have_all_patterns() {
        let signs = Signs::new(5, 1000.0, 1);
        let mut sums = vec![];
        signs.sums(&[1.0, 2.0, 4.0, 8.0, 16.0], &mut sums);
        let mut sizes: Vec<f64> = sums.iter().map(|sum| sum.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        assert_eq!(sizes, (0..16).map(|i| f64::from(2 * i + 1)).collect::<Vec<_>>());
    }
}
