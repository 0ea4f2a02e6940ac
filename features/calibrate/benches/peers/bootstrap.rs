//! Bootstrap intervals of a mean, percentile and bias-corrected accelerated (BCa). They are here to be measured beside
//! the sign-flip test, not to judge: with 5 to 20 values they cover far less than they say. Who resamples says how
//! chance is drawn; there is no generator here.

use statrs::distribution::{ContinuousCDF, Normal};

/// Means that differ by less than this part of the values' size are equal.
const TIE: f64 = 1e-12;

/// Means of resamples, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resampled {
    ascending: Vec<f64>,
}

impl Resampled {
    /// Means of `n` resamples of `values`, each of their number, drawn with replacement (Efron 1979). `below` gives
    /// a whole number from 0 up and below its argument, each equally likely. None for no values, no resamples or a mean
    /// that is not finite.
    pub(crate) fn means(values: &[f64], resamples: usize, mut below: impl FnMut(usize) -> usize) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mut mean = || (0..n).filter_map(|_| values.get(below(n))).sum::<f64>() / n as f64;
        Self::of((0..resamples).map(|_| mean()).collect())
    }

    /// Means of resamples that were drawn elsewhere. None if there are none, or if one is not finite.
    pub(crate) fn of(mut means: Vec<f64>) -> Option<Self> {
        means.sort_by(f64::total_cmp);
        let finite = means.iter().all(|mean| mean.is_finite());
        (finite && !means.is_empty()).then_some(Self { ascending: means })
    }

    /// The quantile, by linear interpolation (Hyndman & Fan 1996, type 7); `probability` outside 0 to 1 is its nearer end.
    fn quantile(&self, probability: f64) -> f64 {
        let position = probability.clamp(0.0, 1.0) * (self.ascending.len() - 1) as f64;
        let (low, high) = (self.ascending[position.floor() as usize], self.ascending[position.ceil() as usize]);
        low + position.fract() * (high - low)
    }

    /// The percentile interval of confidence 1 − alpha: the quantiles alpha/2 and 1 − alpha/2 (Efron 1981).
    pub(crate) fn percentile(&self, alpha: f64) -> [f64; 2] {
        [self.quantile(alpha / 2.0), self.quantile(1.0 - alpha / 2.0)]
    }

    /// The BCa interval of confidence 1 − alpha for the mean of `values`, from which these resamples must be (Efron 1987):
    /// the quantiles Φ(z₀ + (z₀ + z) / (1 − a(z₀ + z))) for z = Φ⁻¹(alpha/2) and Φ⁻¹(1 − alpha/2), with
    /// z₀ = Φ⁻¹(part of the resampled means below the mean, those equal to it counting half) and
    /// a = Σ d³ / (6 (Σ d²)^(3/2)), d the mean of the leave-one-out means − each of them. None where z₀ is infinite,
    /// without variation, or for an alpha that is not between 0 and 1.
    pub(crate) fn bca(&self, values: &[f64], alpha: f64) -> Option<[f64; 2]> {
        let n = values.len() as f64;
        let normal = Normal::standard();
        let sum: f64 = values.iter().sum();
        let mean = sum / n;
        // A resample that is a permutation has the same mean, but for rounding.
        let tie = TIE * values.iter().map(|x| x.abs()).sum::<f64>() / n;
        let below = self.ascending.partition_point(|m| *m < mean - tie);
        let up_to = self.ascending.partition_point(|m| *m <= mean + tie);
        let part = (below + up_to) as f64 / (2 * self.ascending.len()) as f64;
        let left_out: Vec<f64> = values.iter().map(|x| (sum - x) / (n - 1.0)).collect();
        let centre = left_out.iter().sum::<f64>() / n;
        let power = |k: i32| left_out.iter().map(|m| (centre - m).powi(k)).sum::<f64>();
        let acceleration = power(3) / (6.0 * power(2).powf(1.5));
        if !(0.0 < part && part < 1.0 && 0.0 < alpha && alpha < 1.0 && acceleration.is_finite()) {
            return None;
        }
        let bias = normal.inverse_cdf(part);
        let end = |probability: f64| {
            let shifted = bias + normal.inverse_cdf(probability);
            self.quantile(normal.cdf(bias + shifted / (1.0 - acceleration * shifted)))
        };
        Some([end(alpha / 2.0), end(1.0 - alpha / 2.0)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_said_is_not() {
        let first = |_| 0;
        assert_eq!(Resampled::means(&[], 10, first), None);
        assert_eq!(Resampled::means(&[1.0], 0, first), None);
        assert_eq!(Resampled::means(&[f64::NAN], 10, first), None);
        assert_eq!(Resampled::means(&[1e308, 1e308], 10, first), None);
        let same = Resampled::means(&[3.0; 5], 10, first).unwrap();
        assert_eq!(same.percentile(0.05), [3.0, 3.0]);
        assert_eq!(same.bca(&[3.0; 5], 0.05), None);
        assert_eq!(Resampled::means(&[3.0], 10, first).unwrap().bca(&[3.0], 0.05), None);
        let two = Resampled::of(vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(two.bca(&[1.0, 3.0], f64::NAN), None);
        assert_eq!(two.percentile(0.0), [1.0, 3.0]);
        // All resampled means on one side of the mean: the bias is infinite.
        assert_eq!(Resampled::of(vec![5.0; 4]).unwrap().bca(&[1.0, 2.0, 3.0], 0.05), None);
    }
}
