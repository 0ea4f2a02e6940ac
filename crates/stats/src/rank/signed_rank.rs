//! Wilcoxon's test of signed ranks (Wilcoxon 1945) and the interval that goes with it (Tukey 1949), for paired contrasts. It
//! assumes that they are distributed symmetrically about their centre and are independent; the winsorised sign-flip test does
//! not.

use super::null;

/// Up to this number of contrasts the distribution of the rank sum is counted; beyond, it is approximated.
const EXACT_MAX: usize = 1000;

/// Some contrasts, and what their signed ranks say.
#[derive(Debug, Clone)]
pub struct SignedRank {
    ascending: Vec<f64>,
}

impl SignedRank {
    /// Takes contrasts in any order. None if there are none, or if one is not finite or so large that sums overflow.
    pub fn new(contrasts: &[f64]) -> Option<Self> {
        let fits = contrasts.iter().all(|x| (2.0 * x).is_finite());
        if contrasts.is_empty() || !fits {
            return None;
        }
        let mut ascending = contrasts.to_vec();
        ascending.sort_by(f64::total_cmp);
        Some(Self { ascending })
    }

    /// Two-sided p of the hypothesis that the contrasts are centred on `theta`: twice the chance that the ranks of the
    /// lighter side, by magnitude, sum to at most what they do. Contrasts that equal `theta` are left out, as in
    /// Wilcoxon's paper and in R; with equal magnitudes it is the exact permutation of the midranks, where R goes over
    /// to the normal distribution. Beyond [`EXACT_MAX`] contrasts so do we, with the corrections for ties and continuity (Lehmann
    /// 1975, §3.2–3.3). 1 if nothing is left.
    pub fn p(&self, theta: f64) -> f64 {
        let mut distances: Vec<f64> = self.ascending.iter().map(|x| x - theta).filter(|d| *d != 0.0).collect();
        distances.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let n = distances.len();
        let mut before = 0;
        let (mut doubled_ranks, mut positive, mut ties) = (Vec::with_capacity(n), 0, 0.0);
        for equal in distances.chunk_by(|a, b| a.abs() == b.abs()) {
            let doubled_rank = 2 * before + equal.len() + 1;
            doubled_ranks.extend(equal.iter().map(|_| doubled_rank));
            positive += doubled_rank * equal.iter().filter(|d| **d > 0.0).count();
            let size = equal.len() as f64;
            ties += size * size * size - size;
            before += equal.len();
        }
        let lighter = positive.min(n * (n + 1) - positive);
        let tail = if n > EXACT_MAX {
            null::signed_rank_normal(n as f64, ties).up_to(lighter as f64 / 2.0)
        } else if ties == 0.0 {
            null::signed_rank(n).up_to((lighter / 2) as f64)
        } else {
            null::subset_sums(&doubled_ranks).up_to(lighter as f64)
        };
        (2.0 * tail).min(1.0)
    }

    /// Interval of confidence 1 − alpha for the centre: from the k-th smallest to the k-th largest Walsh average, with the
    /// greatest k for which 2 · P(W ≤ k − 1) is at most alpha (Tukey 1949; Lehmann 1975, §4.4): R's `qsignrank(alpha/2, n)`.
    /// It is conservative if there are ties. None if so few contrasts cannot refute anything at `alpha`.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let n = self.ascending.len();
        let averages = n as u64 * (n as u64 + 1) / 2;
        let null = if n > EXACT_MAX { null::signed_rank_normal(n as f64, 0.0) } else { null::signed_rank(n) };
        let k = null.rank(alpha)?.min(averages.div_ceil(2));
        Some(self.averages_at([k - 1, averages - k]))
    }

    /// The Walsh averages of two ranks, counted from 0.
    fn averages_at(&self, ranks: [u64; 2]) -> [f64; 2] {
        let sums = super::select::Sums::new(&self.ascending);
        ranks.map(|rank| super::select::at(&sums, rank) / 2.0)
    }
}
