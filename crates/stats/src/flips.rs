//! Random sign flips, for more blocks than can be enumerated: drawn once from a recorded seed and used for every
//! hypothesis, so that p is a well-behaved function of it. It estimates what [`super::subsets`] counts.

use super::splitmix::SplitMix64;
use std::cell::RefCell;
use std::sync::Arc;

/// Number of flips: with the observed one, 200 000.
pub(super) const DRAWS: u32 = 199_999;

/// Which of up to 8 magnitudes are negated, for each byte.
const PATTERNS: usize = 256;

/// Random flips of n magnitudes, eight to the byte.
#[derive(Debug, Clone)]
pub(super) struct Flips {
    bytes: Arc<[u8]>,
    bytes_per_draw: usize,
    /// For each byte of a draw and each of its patterns, the sum of the negated magnitudes.
    tables: Vec<[f64; PATTERNS]>,
}

/// Draws, with the bytes for each and the seed that they are of.
type Drawn = ((usize, u64), Arc<[u8]>);

thread_local! {
    /// The latest draws: all comparisons of a study use the same.
    static LATEST: RefCell<Option<Drawn>> = const { RefCell::new(None) };
}

fn drawn(bytes_per_draw: usize, seed: u64) -> Arc<[u8]> {
    let mut generator = SplitMix64(seed);
    let mut bytes = Vec::with_capacity(bytes_per_draw * DRAWS as usize + 8);
    while bytes.len() < bytes_per_draw * DRAWS as usize {
        bytes.extend(generator.next().to_le_bytes());
    }
    bytes.truncate(bytes_per_draw * DRAWS as usize);
    bytes.into()
}

impl Flips {
    /// [`DRAWS`] flips of `n` ≥ 1 magnitudes.
    pub(super) fn draw(n: usize, seed: u64) -> Self {
        let bytes_per_draw = n.div_ceil(8);
        let bytes = LATEST.with_borrow_mut(|latest| match latest {
            Some((of, bytes)) if *of == (bytes_per_draw, seed) => Arc::clone(bytes),
            _ => {
                let bytes = drawn(bytes_per_draw, seed);
                *latest = Some(((bytes_per_draw, seed), Arc::clone(&bytes)));
                bytes
            }
        });
        Self { bytes, bytes_per_draw, tables: vec![[0.0; PATTERNS]; bytes_per_draw] }
    }

    /// Eight values are looked up at a time ("four Russians": Arlazarov et al. 1970).
    fn tabulate(&mut self, values: &[f64]) {
        for (table, eight) in self.tables.iter_mut().zip(values.chunks(8)) {
            for (bit, value) in eight.iter().enumerate() {
                let (known, next) = table.split_at_mut(1 << bit);
                next.iter_mut().zip(known).for_each(|(sum, without)| *sum = *without + value);
            }
            // In a last chunk of fewer than eight, the unused bits change nothing.
            let used = 1 << eight.len();
            for pattern in used..PATTERNS {
                table[pattern] = table[pattern % used];
            }
        }
    }

    /// Of the first draws, the number of those whose negated magnitudes, or whose others, sum to at most `limit`; `total` is the
    /// sum of all.
    pub(super) fn among_the_first(&mut self, draws: u32, magnitudes: &[f64], limit: f64, total: f64) -> u32 {
        self.tabulate(magnitudes);
        let bytes = &self.bytes[..self.bytes.len().min(draws as usize * self.bytes_per_draw)];
        // A loop of known length for the usual studies: it is what all of the time goes to.
        match self.bytes_per_draw {
            5 => self.count_of::<5>(bytes, limit, total),
            6 => self.count_of::<6>(bytes, limit, total),
            7 => self.count_of::<7>(bytes, limit, total),
            8 => self.count_of::<8>(bytes, limit, total),
            _ => hits(bytes.chunks_exact(self.bytes_per_draw), &self.tables, limit, total),
        }
    }

    fn count_of<const BYTES: usize>(&self, bytes: &[u8], limit: f64, total: f64) -> u32 {
        let (draws, _) = bytes.as_chunks::<BYTES>();
        match self.tables.as_slice().try_into() {
            Ok::<&[_; BYTES], _>(tables) => hits(draws.iter().map(|draw| draw.as_slice()), tables, limit, total),
            Err(_) => hits(draws.iter().map(|draw| draw.as_slice()), &self.tables, limit, total),
        }
    }
}

/// Sum of the values that one draw negates.
#[inline(always)]
fn negated(draw: &[u8], tables: &[[f64; PATTERNS]]) -> f64 {
    draw.iter().zip(tables).map(|(byte, table)| table[usize::from(*byte)]).sum()
}

#[inline(always)]
fn hits<'a>(draws: impl Iterator<Item = &'a [u8]>, tables: &[[f64; PATTERNS]], limit: f64, total: f64) -> u32 {
    let mut count = 0;
    for draw in draws {
        let negated = negated(draw, tables);
        // Two comparisons, and no branch that the processor would mispredict.
        count += u32::from(negated <= limit) | u32::from(negated >= total - limit);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oracle adds the magnitudes bit by bit, in the same order as the tables do.
    #[test]
    fn tables_agree_with_plain_sums() {
        for n in [1, 7, 8, 9, 21, 40, 64, 65, 130] {
            let magnitudes: Vec<f64> = (0..n).map(|i| f64::from(i * i % 7 + 1)).collect();
            let total: f64 = magnitudes.iter().sum();
            let limit = (total / 3.0).floor();
            let mut flips = Flips::draw(magnitudes.len(), 178);
            let plain = flips
                .bytes
                .chunks_exact(flips.bytes_per_draw)
                .filter(|draw| {
                    let bit = |i: usize| draw[i / 8] >> (i % 8) & 1 == 1;
                    let negated: f64 = magnitudes.iter().enumerate().filter(|(i, _)| bit(*i)).map(|(_, m)| m).sum();
                    negated <= limit || negated >= total - limit
                })
                .count();
            assert_eq!(flips.among_the_first(DRAWS, &magnitudes, limit, total) as usize, plain, "n = {n}");
        }
    }

    /// Within five standard errors of the exact count, for seed 178.
    #[test]
    fn estimates_what_subsets_counts() {
        let magnitudes: Vec<f64> = (1..=30).map(|i| f64::from(i).sqrt()).collect();
        let total: f64 = magnitudes.iter().sum();
        let mut flips = Flips::draw(magnitudes.len(), 178);
        for part in [0.3, 0.4, 0.45] {
            let limit = part * total;
            let subsets = super::super::subsets::SubsetCounter::default().at_most(&magnitudes, limit);
            let exact = subsets as f64 / 2f64.powi(29);
            let estimate = f64::from(flips.among_the_first(DRAWS, &magnitudes, limit, total)) / f64::from(DRAWS);
            let standard_error = (exact * (1.0 - exact) / f64::from(DRAWS)).sqrt();
            assert!((estimate - exact).abs() < 5.0 * standard_error, "{part}: {estimate}, not {exact}");
        }
    }
}
