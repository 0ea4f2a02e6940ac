//! How the statistic of the rank test is distributed if nothing differs: counted in whole numbers, or, for long lists,
//! approximated by the normal distribution. It is symmetric unless there are ties.

use statrs::distribution::{ContinuousCDF, Normal};

/// Most steps that a count with ties may take.
const MOST_STEPS: usize = 20_000_000;

/// Most values of U that are counted.
const LARGEST_TABLE: usize = 200_000;

/// A distribution over 0, 1, 2, …
#[derive(Debug, Clone)]
pub(super) enum Null {
    /// P(statistic ≤ i) for each i; 1 beyond.
    Counted(Vec<f64>),
    /// Mean and standard deviation; a whole number reaches half a step to either side.
    Normal { mean: f64, sd: f64 },
}

impl Null {
    /// P(statistic ≤ `value`).
    pub(super) fn up_to(&self, value: f64) -> f64 {
        match self {
            Null::Counted(_) if value < 0.0 => 0.0,
            Null::Counted(cumulative) => cumulative.get(value.floor() as usize).copied().unwrap_or(1.0),
            Null::Normal { mean, sd } => Normal::standard().cdf((value + 0.5 - mean) / sd),
        }
    }

    /// The greatest k ≥ 1 for which 2 · P(statistic ≤ k − 1) is at most `alpha`; none if there is none.
    pub(super) fn rank(&self, alpha: f64) -> Option<u64> {
        let k = match self {
            Null::Counted(cumulative) => cumulative.partition_point(|p| 2.0 * p <= alpha) as f64,
            Null::Normal { mean, sd } => {
                let inside = 0.0 < alpha && alpha < 1.0;
                let z = inside.then(|| Normal::standard().inverse_cdf(1.0 - alpha / 2.0))?;
                (mean + 0.5 - z * sd).floor()
            }
        };
        (k >= 1.0).then_some(k as u64)
    }
}

/// True if the distribution of U for lists of m and n values without ties is counted: C(m + n, m) is below 2¹²⁷ and the
/// table is of a reasonable size.
pub(super) fn can_count(m: usize, n: usize) -> bool {
    m.checked_mul(n).is_some_and(|largest| largest <= LARGEST_TABLE) && choose(m + n, m).is_some()
}

/// The same if there are ties, which take more work.
pub(super) fn can_count_tied(m: usize, n: usize) -> bool {
    let (m, n) = (m.min(n), m.max(n));
    let steps = || (m + n).checked_mul(m)?.checked_mul(2)?.checked_mul(m)?.checked_mul(n);
    steps().is_some_and(|steps| steps <= MOST_STEPS) && can_count(m, n)
}

/// The distribution of Mann and Whitney's U for lists of m and n values without ties: counted or approximated.
pub(super) fn mann_whitney(m: usize, n: usize) -> Null {
    if can_count(m, n) { Null::Counted(count_u(m, n)) } else { mann_whitney_normal(m as f64, n as f64, 0.0) }
}

/// The normal approximation; `ties` is Σ(t³ − t) over all groups of t equal values (Lehmann 1975, §1.4).
pub(super) fn mann_whitney_normal(m: f64, n: f64, ties: f64) -> Null {
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    Null::Normal { mean: m * n / 2.0, sd: variance.max(0.0).sqrt() }
}

/// The numbers of arrangements with each U are the coefficients of ∏ (1 − q^(n+i)) / (1 − q^i), i = 1…m. The partial
/// products have whole, positive coefficients of at most C(m + n, m), so nothing overflows and nothing is rounded.
fn count_u(m: usize, n: usize) -> Vec<f64> {
    let (m, n) = (m.min(n), m.max(n));
    let largest = m * n;
    let mut ways = vec![0u128; largest + 1];
    ways[0] = 1;
    for i in 1..=m {
        for u in (n + i..=largest).rev() {
            // The coefficients beyond the partial product's own degree are 0 only after the division.
            ways[u] = ways[u].wrapping_sub(ways[u - n - i]);
        }
        for u in i..=largest {
            ways[u] = ways[u].wrapping_add(ways[u - i]);
        }
    }
    cumulate(&ways)
}

/// The distribution of the doubled U of m of the values that are tied in groups of these sizes, in ascending order; for
/// what [`can_count_tied`].
pub(super) fn tied_doubled_u(groups: &[usize], m: usize) -> Null {
    let values: usize = groups.iter().sum();
    let largest = 2 * m * values.saturating_sub(m);
    // ways[taken][sum]: U doubled is the doubled rank sum less that of the ranks 1…m.
    let mut ways = vec![vec![0u128; largest + 1]; m + 1];
    ways[0][0] = 1;
    let mut before = 0;
    for &size in groups {
        for taken in (1..=m.min(before + size)).rev() {
            for more in 1..=size.min(taken) {
                // Each of the `more` adds its doubled midrank, 2·before + size + 1; the ranks 1…taken are subtracted.
                let had = taken - more;
                if had > before {
                    continue;
                }
                let added = more * (2 * before + size + 1);
                let subtracted = taken * (taken + 1) - had * (had + 1);
                let shift = added - subtracted;
                let times = choose(size, more).unwrap_or(0);
                let (fewer, this) = ways.split_at_mut(taken);
                let (from, to) = (&fewer[had], &mut this[0]);
                for (to, from) in to.iter_mut().skip(shift).zip(from) {
                    *to += from * times;
                }
            }
        }
        before += size;
    }
    Null::Counted(cumulate(&ways[m]))
}

fn cumulate(ways: &[u128]) -> Vec<f64> {
    let all: u128 = ways.iter().sum();
    let sums = ways.iter().scan(0, |sum, ways| {
        *sum += ways;
        Some(*sum as f64 / all as f64)
    });
    sums.collect()
}

/// C(n, k), if it is below 2¹²⁷.
fn choose(n: usize, k: usize) -> Option<u128> {
    let k = k.min(n.checked_sub(k)?);
    let mut ways = 1u128;
    for i in 0..k {
        // The product of i + 1 successive numbers is divisible by (i + 1)!.
        ways = ways.checked_mul((n - i) as u128)? / (i + 1) as u128;
    }
    (ways < 1 << 127).then_some(ways)
}
