//! Several comparisons in the same blocks, corrected for being several: the sign-flip test, with the distribution of the
//! largest statistic of all comparisons (single-step max-T: Westfall & Young 1993, §2.3), and with the interval that is
//! this test's own inversion. So the interval of a comparison excludes a value exactly when the test refutes it. It
//! knows nothing of variants.
//!
//! Comparison j has contrasts x_jb, one for each block b. With d = x_j − θ, m = 1.5 · median |d| and ψ = clip(d, −m, m), all as
//! in the sign-flip test, its statistic at θ is t_j(θ) = |Σ ψ| / √Σ ψ². Flipping the signs of whole blocks changes neither m
//! nor the denominator. The statistics are standardised because otherwise the noisiest comparison would own the maximum.
//!
//! p_j(θ) = part of the sign patterns s in which max(|Σ s ψ_j(θ)| / √Σ ψ_j(θ)², max over k ≠ j of |Σ s ψ_k(θ̂_k)| / √Σ ψ_k(θ̂_k)²)
//! is at least t_j(θ)
//!
//! The comparison that is tested stands at θ; each of the others is centred at its own estimate θ̂, whatever is true of
//! it. So p_j(θ) says nothing of the hypotheses about the others, and {θ: p_j(θ) > α} is an interval; all intervals together
//! hold with a confidence of about 1 − α. The smallest p is 2^(1−n), however many comparisons there are.
//!
//! The randomised order makes the two labels of a pair exchangeable, and with a single comparison p is exact. For several
//! it is an approximation twice: in every block, the noise of all comparisons together must be as likely as its negative,
//! which a spike of the shared baseline violates, and the others are centred at estimates. `bakeoff calibrate` says what
//! becomes of it: docs/dev/decisions/0006-one-verdict.md.

use super::signflip::{SignFlip, end_of_interval};
use super::signs::Signs;

/// p near alpha is to be known to a twentieth, one standard error: the number of patterns, times alpha, where not all are
/// counted.
const PATTERNS_PER_ALPHA: f64 = 400.0;

/// Statistics that differ by less than this part of the largest possible one are equal.
const TIE: f64 = 1e-12;

/// How closely the ends of an interval are found, as a part of their distance from the centre. p is a step function of a
/// few thousand steps, so more digits would say nothing.
const PRECISION: f64 = 1e-6;

/// How far beyond the outermost contrast p is looked at, as a part of the contrasts' range, and at how many places there and
/// before.
const BEYOND: f64 = 2.0;
const LOOKS: u32 = 8;

/// Comparisons that are judged together. It keeps its buffers from one hypothesis to the next: hence `&mut self`.
#[derive(Debug, Clone)]
pub struct MaxT {
    columns: Vec<Column>,
    signs: Signs,
    /// For each pattern, the largest statistic of any column centred at its estimate, whose it is, and the largest of the
    /// other columns.
    largest: Vec<(f64, usize, f64)>,
    sums: Vec<f64>,
}

/// The contrasts of one comparison.
#[derive(Debug, Clone)]
struct Column {
    /// By block; none where the comparison lacks one.
    contrasts: Vec<Option<f64>>,
    test: SignFlip,
    estimate: f64,
    /// Smallest and largest contrast.
    range: [f64; 2],
}

impl MaxT {
    /// Takes one column for each comparison, with its contrast in every block, or none where it has no part in a block.
    /// `alpha` is the least level that will be asked for: it decides how many patterns are counted where there are more
    /// than can be. `seed` is for those. None if there is no column, or one without contrasts, or with one that is not
    /// finite, or if columns differ in length.
    pub fn new(columns: &[Vec<Option<f64>>], alpha: f64, seed: u64) -> Option<Self> {
        let blocks = columns.first()?.len();
        let column = |contrasts: &Vec<Option<f64>>| {
            let there: Vec<f64> = contrasts.iter().copied().flatten().collect();
            let test = SignFlip::new(&there, seed).filter(|_| contrasts.len() == blocks)?;
            let range = [
                there.iter().copied().fold(f64::INFINITY, f64::min),
                there.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ];
            Some(Column { contrasts: contrasts.clone(), estimate: test.estimate(), test, range })
        };
        let columns = columns.iter().map(column).collect::<Option<Vec<_>>>()?;
        let signs = Signs::new(blocks, PATTERNS_PER_ALPHA / alpha, seed);
        let largest = vec![(0.0, usize::MAX, 0.0); signs.count()];
        let mut all = Self { columns, signs, largest, sums: vec![] };
        for column in 0..all.columns.len() {
            all.flip(column, all.columns[column].estimate);
            for (rank, sum) in all.largest.iter_mut().zip(&all.sums) {
                let t = sum.abs();
                if t > rank.0 {
                    *rank = (t, column, rank.0);
                } else if t > rank.2 {
                    rank.2 = t;
                }
            }
        }
        Some(all)
    }

    /// The smallest p that a column could have given, however large its effect.
    fn smallest_p(&self, column: usize) -> f64 {
        self.columns[column].test.smallest_p().max(1.0 / self.signs.count() as f64)
    }

    /// Whether all patterns are counted.
    pub fn is_exact(&self) -> bool {
        self.signs.is_complete()
    }

    /// Corrected two-sided p of the hypothesis that a column is centred on `theta`; 1 if all its residuals are 0.
    pub fn p(&mut self, column: usize, theta: f64) -> f64 {
        self.flip(column, theta);
        let observed = self.sums[0].abs();
        if observed == 0.0 {
            return 1.0;
        }
        let least = observed - TIE * (self.columns[column].contrasts.len() as f64).sqrt();
        let of_others = |(t, whose, other): &(f64, usize, f64)| if *whose == column { *other } else { *t };
        let reaches = |(own, rank)| u32::from(f64::abs(own) >= least) | u32::from(of_others(rank) >= least);
        let hits: u32 = self.sums.iter().copied().zip(&self.largest).map(reaches).sum();
        f64::from(hits) / self.signs.count() as f64
    }

    /// The hull of all θ with p(θ) > `alpha`. The intervals of all columns together have a confidence of about 1 − alpha.
    /// None if so few blocks cannot refute anything at `alpha`.
    pub fn interval(&mut self, column: usize, alpha: f64) -> Option<[f64; 2]> {
        if self.smallest_p(column) > alpha {
            return None;
        }
        Some([-1.0, 1.0].map(|side| self.end(column, side, alpha)))
    }

    /// One end of the interval: p may rise again after it has fallen to alpha, even beyond the outermost contrast, so that is
    /// looked for before an end is believed.
    ///
    /// Where most contrasts are equal, the estimate is one of them and may itself be refuted, although values next to it are
    /// not; on the side without other contrasts the end is then the estimate. `side` is −1 for the lower end, 1 for the other.
    fn end(&mut self, column: usize, side: f64, alpha: f64) -> f64 {
        let Column { estimate, range: [low, high], .. } = self.columns[column];
        let length = self.columns[column].test.expected_length(estimate);
        let outermost = if side < 0.0 { low } else { high };
        let far = outermost + side * BEYOND * (high - low);
        let mut end = end_of_interval(estimate, far, length, alpha, PRECISION, |theta| self.p(column, theta));
        let between = (1..LOOKS).map(|look| end + (outermost - end) * f64::from(look) / f64::from(LOOKS));
        let beyond = (0..LOOKS).map(|look| outermost + (far - outermost) * f64::from(look) / f64::from(LOOKS));
        let is_farther = |theta: &f64| (theta - end) * side > 0.0;
        let places: Vec<f64> = between.chain(beyond).filter(is_farther).collect();
        if let Some(at) = places.iter().rposition(|theta| self.p(column, *theta) > alpha) {
            let (inner, outer) = (places[at], places.get(at + 1).copied().unwrap_or(far));
            let step = (outer - inner).abs();
            end = end_of_interval(inner, outer, step, alpha, PRECISION, |theta| self.p(column, theta));
        }
        end
    }

    /// Fills `sums` with Σ ± ψ / √Σ ψ² of a column at `theta`, for every pattern; zeros if all residuals are 0.
    fn flip(&mut self, column: usize, theta: f64) {
        let Column { contrasts, test, .. } = &self.columns[column];
        let mut psi: Vec<f64> = contrasts.iter().map(|x| x.map_or(0.0, |x| x - theta)).collect();
        let clip = test.clip(theta);
        if clip > 0.0 {
            // In units of the clip no square vanishes and none overflows.
            psi.iter_mut().for_each(|d| *d = (*d / clip).clamp(-1.0, 1.0));
            let length = psi.iter().map(|x| x * x).sum::<f64>().sqrt();
            psi.iter_mut().for_each(|x| *x /= length);
        }
        self.signs.sums(&psi, &mut self.sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The p of one column alone is that of the sign-flip test, which counts subsets.
    #[test]
    fn one_column_is_the_sign_flip_test() {
        for n in [4, 7, 12] {
            let x: Vec<f64> = (0..n).map(|i| f64::from((i * i * 37 + 11 * i) % 19) - 6.0).collect();
            let mut alone = SignFlip::new(&x, 0).unwrap();
            let mut joint = MaxT::new(&[x.iter().copied().map(Some).collect()], 0.05, 0).unwrap();
            for theta in [-3.0, 0.0, 0.5, 4.0, 20.0] {
                assert!((alone.p(theta) - joint.p(0, theta)).abs() < 1e-12, "{n} {theta}");
            }
            let (Some(one), Some(other)) = (alone.interval(0.2), joint.interval(0, 0.2)) else {
                panic!("{n} blocks have an interval at 80 %");
            };
            for end in 0..2 {
                assert!((one[end] - other[end]).abs() <= 1e-5 * (one[1] - one[0]), "{one:?}, not {other:?}");
            }
        }
    }
}
