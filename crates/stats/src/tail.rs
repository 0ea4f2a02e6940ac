//! Quantiles of one long list of latencies, with their intervals by order statistics. They describe one trial; trials are
//! compared by the contrasts of such quantiles, one per trial. The values are taken as independent, which the latencies of
//! one trial need not be.

use super::describe::quantile;
use statrs::distribution::{Binomial, DiscreteCDF};

/// The probabilities that are usually shown; 1 is the largest value.
pub const USUAL: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// A quantile of a list, in the unit of its values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// Which quantile, from 0 to 1.
    pub probability: f64,
    /// The quantile of the list, by linear interpolation (Hyndman & Fan 1996, type 7).
    pub value: f64,
    /// Lower end of its interval; none (−∞) if the list is too short to have one.
    pub low: Option<f64>,
    /// Upper end; none (∞) if the list is too short: for 95 %, p99 needs 368 values and p99.9 needs 3688.
    pub high: Option<f64>,
}

impl Tail {
    /// Of values in ascending order; each end misses the true quantile with a chance of at most `alpha`/2. The lower end is
    /// the l-th smallest value, with the greatest l for which P(Bin(n, q) < l) ≤ alpha/2; the upper end the u-th, with
    /// the smallest u for which P(Bin(n, q) ≥ u) ≤ alpha/2 (Conover 1999, §3.2). None for no values, or unless
    /// 0 ≤ q ≤ 1. Of the extremes, q = 0 and 1, nothing is known beyond the list.
    pub fn new(ascending: &[f64], probability: f64, alpha: f64) -> Option<Self> {
        let n = ascending.len();
        if n == 0 || !(0.0..=1.0).contains(&probability) {
            return None;
        }
        let value = quantile(ascending, probability);
        if probability == 0.0 || probability == 1.0 {
            return Some(Self { probability, value, low: None, high: None });
        }
        let binomial = Binomial::new(probability, n as u64).ok()?;
        let below = first(n, |l| binomial.cdf(l as u64) > alpha / 2.0);
        // u − 1, which is where the u-th stands if counted from 0.
        let above = first(n, |u| binomial.sf(u as u64) <= alpha / 2.0);
        Some(Self {
            probability,
            value,
            low: below.checked_sub(1).map(|l| ascending[l]),
            high: ascending.get(above).copied(),
        })
    }
}

/// The first of 0…n for which a condition holds that then goes on to hold; n, if there is none.
fn first(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
