//! Description of one list of values: order statistics and moments. It describes what was seen and infers nothing,
//! but for the interval of the median.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, FisherSnedecor, Normal};

/// Makes a median absolute deviation comparable with a standard deviation, for normally distributed values: one divided by
/// that distribution's third quartile, rounded as R's `mad` and scipy's have it.
pub const MAD_TO_SD: f64 = 1.4826;

/// Beyond this many values the interval of the median uses the normal approximation.
const MEDIAN_EXACT_MAX: usize = 2000;

/// Order statistics and moments, in the unit of the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Number of values.
    pub n: u32,
    /// Smallest value.
    pub min: f64,
    /// First quartile (Hyndman & Fan 1996, type 7).
    pub q1: f64,
    /// Middle value, or the average of the two middle ones.
    pub median: f64,
    /// Interval for the median by order statistics; none if n is too small for the confidence.
    pub median_interval: Option<[f64; 2]>,
    /// Third quartile (Hyndman & Fan 1996, type 7).
    pub q3: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation (n − 1); none for n = 1.
    pub sd: Option<f64>,
    /// Geometric mean; none unless all values are positive.
    pub geomean: Option<f64>,
    /// Median absolute deviation from the median × 1.4826.
    pub mad: f64,
    /// Correlation of successive values; none for n < 3 or without variation.
    pub lag1: Option<f64>,
}

impl Description {
    /// Describes finite values, given in the order of time. None if there are none. `alpha` is for the median's interval.
    pub fn new(values: &[f64], alpha: f64) -> Option<Self> {
        let mut ascending = values.to_vec();
        ascending.sort_unstable_by(f64::total_cmp);
        Self::of(values, &ascending, None, alpha)
    }

    /// The same where the values are at hand in ascending order too, and perhaps their logarithms.
    pub fn of(values: &[f64], ascending: &[f64], logarithms: Option<&[f64]>, alpha: f64) -> Option<Self> {
        let (min, max) = (*ascending.first()?, *ascending.last()?);
        let median = quantile(ascending, 0.5);
        let mean = mean(values);
        Some(Self {
            n: values.len() as u32,
            min,
            q1: quantile(ascending, 0.25),
            median,
            median_interval: median_interval(ascending, alpha),
            q3: quantile(ascending, 0.75),
            max,
            mean,
            sd: sd_about(values, mean),
            geomean: logarithms.map_or_else(|| geomean(values), |logarithms| Some(self::mean(logarithms).exp())),
            mad: MAD_TO_SD * median_deviation(ascending, median),
            lag1: lag1(values, mean),
        })
    }
}

/// The median of |x − centre|: away from the centre, on both sides of it, deviations grow, so merging finds it.
fn median_deviation(ascending: &[f64], centre: f64) -> f64 {
    let (below, above) = ascending.split_at(ascending.partition_point(|x| *x < centre));
    let mut below = below.iter().rev().map(|x| centre - x).peekable();
    let mut above = above.iter().map(|x| x - centre).peekable();
    let mut next = || match (below.peek(), above.peek()) {
        (Some(b), Some(a)) if b <= a => below.next(),
        (_, Some(_)) => above.next(),
        _ => below.next(),
    };
    let (n, mut low, mut high) = (ascending.len(), 0.0, 0.0);
    for _ in 0..=n / 2 {
        low = high;
        high = next().unwrap_or(high);
    }
    if n % 2 == 1 { high } else { low + 0.5 * (high - low) }
}

/// Sum with a running compensation for rounding (Neumaier 1974).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for x in values {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Arithmetic mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    sum(values.iter().copied()) / values.len() as f64
}

/// Standard deviation, n − 1, in two passes; none for fewer than two values.
pub fn sd(values: &[f64]) -> Option<f64> {
    sd_about(values, mean(values))
}

/// The same where the mean is known.
fn sd_about(values: &[f64], mean: f64) -> Option<f64> {
    let squares = sum(values.iter().map(|x| (x - mean).powi(2)));
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}

/// The interval of confidence 1 − `alpha` for the ratio of the true variances of two independent normal samples, of their
/// variances and sizes, by Fisher's F. None where the second does not vary, or for samples of fewer than two.
pub fn ratio_interval(variances: [f64; 2], sizes: [usize; 2], alpha: f64) -> Option<[f64; 2]> {
    let [above, below] = sizes.map(|size| size as f64 - 1.0);
    let f = FisherSnedecor::new(above, below).ok()?;
    let ratio = variances[0] / variances[1];
    let at = |probability: f64| ratio / f.inverse_cdf(probability);
    (variances[1] > 0.0).then(|| [at(1.0 - alpha / 2.0), at(alpha / 2.0)])
}

/// The median; none for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let (n, mut values) = (values.len(), values.to_vec());
    if n == 0 {
        return None;
    }
    // Searches ask for it after each block: sorting would take most of their time.
    let (below, high, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let low = if n % 2 == 0 { below.iter().copied().max_by(f64::total_cmp) } else { None };
    Some(quantile(&[low.unwrap_or(*high), *high], 0.5))
}

/// The median by which tests clip, of a list in ascending order that is not empty: half of the one middle and half of the
/// other. [`median`] is a quantile like any other, low + ½ (high − low), and may differ in the last digit: of 0.1 and 0.5 this
/// one is 0.3, and that one 0.30000000000000004. What is judged by the one and printed by the other must not change.
pub(super) fn middle(ascending: &[f64]) -> f64 {
    let n = ascending.len();
    ascending[(n - 1) / 2] / 2.0 + ascending[n / 2] / 2.0
}

/// The quantile of a list that is not empty, by linear interpolation (Hyndman & Fan 1996, type 7).
pub(super) fn quantile(ascending: &[f64], probability: f64) -> f64 {
    let position = probability * (ascending.len() - 1) as f64;
    let (low, high) = (ascending[position.floor() as usize], ascending[position.ceil() as usize]);
    low + position.fract() * (high - low)
}

/// From the k-th smallest to the k-th largest, with the greatest k for which the chance that the median lies outside,
/// 2 · P(Bin(n, ½) < k), is at most alpha (Conover 1999, §3.2).
fn median_interval(ascending: &[f64], alpha: f64) -> Option<[f64; 2]> {
    let n = ascending.len();
    // Of many values, the normal approximation with a correction for continuity is off by less than one place.
    let outside = if n > MEDIAN_EXACT_MAX {
        let z = Normal::standard().inverse_cdf(alpha / 2.0);
        let below = n as f64 / 2.0 - 0.5 + z * (n as f64).sqrt() / 2.0;
        (below >= 0.0).then_some(below as usize)?
    } else {
        let binomial = Binomial::new(0.5, n as u64).ok()?;
        (0..n / 2).take_while(|below| 2.0 * binomial.cdf(*below as u64) <= alpha).last()?
    };
    Some([ascending[outside], ascending[n - 1 - outside]])
}

fn geomean(values: &[f64]) -> Option<f64> {
    let logarithms = || sum(values.iter().map(|x| x.ln()));
    values.iter().all(|x| *x > 0.0).then(|| (logarithms() / values.len() as f64).exp())
}

/// Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) / Σ(xᵢ − x̄)² (Box & Jenkins 1976).
fn lag1(values: &[f64], mean: f64) -> Option<f64> {
    let variation: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let successive: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let varies = values.windows(2).any(|pair| pair[0] != pair[1]);
    (values.len() >= 3 && varies).then(|| successive / variation)
}
