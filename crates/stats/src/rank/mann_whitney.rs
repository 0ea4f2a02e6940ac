//! Mann and Whitney's test of two unpaired lists (Wilcoxon 1945; Mann & Whitney 1947), and by how much one is shifted
//! against the other (Hodges & Lehmann 1963). It assumes that the values are independent and that the lists differ, if at
//! all, by a shift; in particular that nothing drifted while they were measured, which blocks would take care of and this
//! cannot see.

use super::null::{self, Null};
use super::select::Differences;

/// Two lists, and what their ranks say.
#[derive(Debug, Clone)]
pub struct MannWhitney<'a> {
    x: &'a [f64],
    y: &'a [f64],
    differences: Differences<'a>,
    ranks: Ranks,
}

/// What a walk through both lists finds.
#[derive(Debug, Clone, Default)]
struct Ranks {
    /// 2 · #{x > y} + #{x = y}, over all pairs.
    doubled_u: u128,
    /// Σ(t³ − t) over all groups of t equal values.
    ties: f64,
}

impl<'a> MannWhitney<'a> {
    /// Takes both lists in ascending order. None if one is empty or not ascending, if a value is not finite, or if a
    /// difference would overflow.
    pub fn new(x: &'a [f64], y: &'a [f64]) -> Option<Self> {
        let (x_ends, y_ends) = ([*x.first()?, *x.last()?], [*y.first()?, *y.last()?]);
        // A list that is ascending and has finite ends has nothing but finite values: NaN is in no order.
        let ascending = |list: &[f64]| list.windows(2).all(|pair| pair[0] <= pair[1]);
        let finite = (x_ends[1] - y_ends[0]).is_finite() && (x_ends[0] - y_ends[1]).is_finite();
        (finite && ascending(x) && ascending(y)).then(|| Self {
            x,
            y,
            differences: Differences::new(x, y),
            ranks: Ranks::new(x, y),
        })
    }

    /// True if [`Self::p`] is exact; false if it is the normal approximation, which is used for long lists.
    pub fn is_exact(&self) -> bool {
        let (m, n) = (self.x.len(), self.y.len());
        if self.ranks.ties > 0.0 { null::can_count_tied(m, n) } else { null::can_count(m, n) }
    }

    /// Two-sided p of the hypothesis that both lists come from one distribution: twice the smaller of P(U ≤ u) and P(U ≥ u),
    /// at most 1. It is exact, as a permutation of the midranks if there are ties, while counting is affordable: always
    /// up to 60 values on either side, 40 if there are ties. Beyond, it is the normal approximation with corrections for ties
    /// and continuity (Lehmann 1975, §1.3–1.4).
    pub fn p(&self) -> f64 {
        let (mut m, mut n) = (self.x.len(), self.y.len());
        let mut doubled = self.ranks.doubled_u as f64;
        let mut mirrored = 2.0 * m as f64 * n as f64 - doubled;
        if m > n {
            // The shorter list is cheaper to count, and U of the other mirrors this one.
            std::mem::swap(&mut m, &mut n);
            std::mem::swap(&mut doubled, &mut mirrored);
        }
        let smaller_tail = if !self.is_exact() {
            match null::mann_whitney_normal(m as f64, n as f64, self.ranks.ties) {
                // All values are equal.
                Null::Normal { sd: 0.0, .. } => 1.0,
                null => null.up_to(doubled.min(mirrored) / 2.0),
            }
        } else if self.ranks.ties == 0.0 {
            null::mann_whitney(m, n).up_to(doubled.min(mirrored) / 2.0)
        } else {
            // With ties, the distribution is not symmetric: the upper tail is the lower one of the mirrored values.
            let mut groups = self.groups();
            let below = null::tied_doubled_u(&groups, m).up_to(doubled);
            groups.reverse();
            if below <= 0.5 { below } else { below.min(null::tied_doubled_u(&groups, m).up_to(mirrored)) }
        };
        (2.0 * smaller_tail).min(1.0)
    }

    /// By how much x is larger than y: the median of all differences x − y.
    pub fn shift(&self) -> f64 {
        let pairs = self.x.len() as u64 * self.y.len() as u64;
        let [low, high] = [0, 1].map(|next| self.differences.at((pairs - 1) / 2 + next));
        if pairs % 2 == 1 { low } else { low / 2.0 + high / 2.0 }
    }

    /// Interval of confidence 1 − alpha for the shift: from the k-th smallest to the k-th largest of all differences, with the
    /// greatest k for which 2 · P(U ≤ k − 1) ≤ alpha (Lehmann 1975, §2.6; Moses 1953). The distribution of U is counted
    /// as in [`Self::p`], but without ties, which makes it conservative if there are some. None if the lists are too short
    /// to refute anything at `alpha`.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let pairs = self.x.len() as u64 * self.y.len() as u64;
        let k = null::mann_whitney(self.x.len(), self.y.len()).rank(alpha)?.min(pairs.div_ceil(2));
        Some([self.differences.at(k - 1), self.differences.at(pairs - k)])
    }

    /// How many values of both lists are equal, in ascending order of the values.
    fn groups(&self) -> Vec<usize> {
        let mut all = [self.x, self.y].concat();
        all.sort_by(f64::total_cmp);
        all.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
    }
}

impl Ranks {
    fn new(x: &[f64], y: &[f64]) -> Self {
        let mut ranks = Self { doubled_u: 0, ties: ties(x) + ties(y) };
        let run = |value: f64, rest: &[f64]| rest.iter().take_while(|other| **other == value).count();
        let (mut i, mut j) = (0, 0);
        while i < x.len() {
            let value = x[i];
            while j < y.len() && y[j] < value {
                j += 1;
            }
            if j < y.len() && y[j] == value {
                let (of_x, of_y) = (run(value, &x[i..]), run(value, &y[j..]));
                ranks.doubled_u += of_x as u128 * (2 * j + of_y) as u128;
                ranks.ties += tie(of_x + of_y) - tie(of_x) - tie(of_y);
                i += of_x;
                j += of_y;
            } else {
                ranks.doubled_u += 2 * j as u128;
                i += 1;
            }
        }
        ranks
    }
}

/// Σ(t³ − t) over all groups of t equal values of an ascending list.
fn ties(list: &[f64]) -> f64 {
    if list.windows(2).all(|pair| pair[0] != pair[1]) {
        return 0.0;
    }
    list.chunk_by(|a, b| a == b).map(|equal| tie(equal.len())).sum()
}

fn tie(size: usize) -> f64 {
    let size = size as f64;
    size * size * size - size
}
