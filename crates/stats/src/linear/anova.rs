//! One-way analysis of variance (Fisher 1925): do the groups' means differ more than their members do? It assumes
//! normal values of one variance, and no blocks; it is for imported data and for proving the arithmetic on NIST's
//! certified sets.

use super::super::describe::{mean, sum};
use statrs::function::beta::beta_reg;

/// The table of a one-way analysis of variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneWay {
    /// Σ n_g (mean of group g − grand mean)², in the square of the unit.
    pub between: f64,
    /// Σ (value − mean of its group)², in the square of the unit.
    pub within: f64,
    /// Number of groups − 1.
    pub df_between: usize,
    /// Number of values − number of groups.
    pub df_within: usize,
    /// (between/df_between) / (within/df_within): infinite if only the groups vary.
    pub f: f64,
    /// P(F ≥ f) if all means are equal.
    pub p: f64,
}

impl OneWay {
    /// None for fewer than two groups, an empty group, no group of two, values that are not finite or whose squares
    /// overflow, and for values that do not vary at all.
    ///
    /// All values are centred before anything is squared, and every mean is corrected by the mean of what it leaves
    /// (Chan, Golub & LeVeque 1983), so that leading digits that all values share cost nothing.
    pub fn new(groups: &[&[f64]]) -> Option<Self> {
        let n: usize = groups.iter().map(|group| group.len()).sum();
        let finite = groups.iter().all(|group| !group.is_empty() && group.iter().all(|x| x.is_finite()));
        if groups.len() < 2 || !finite || n <= groups.len() {
            return None;
        }
        let (df_between, df_within) = (groups.len() - 1, n - groups.len());
        let grand = mean(&groups.concat());
        let shifted: Vec<Vec<f64>> = groups.iter().map(|group| group.iter().map(|x| x - grand).collect()).collect();
        let rest = mean(&shifted.concat());
        let means: Vec<f64> = shifted.iter().map(|group| corrected_mean(group)).collect();
        let squares = |group: &[f64], centre: f64| group.iter().map(|x| (x - centre).powi(2)).collect::<Vec<_>>();
        let within: Vec<f64> = shifted.iter().zip(&means).flat_map(|(group, mean)| squares(group, *mean)).collect();
        let between: Vec<f64> =
            shifted.iter().zip(&means).map(|(group, mean)| group.len() as f64 * (mean - rest).powi(2)).collect();
        let (between, within) = (sum(&between), sum(&within));
        let f = (between / df_between as f64) / (within / df_within as f64);
        if !between.is_finite() || !within.is_finite() || f.is_nan() {
            return None;
        }
        // statrs' own F takes the place on the other side, 1 − x, which has no digits left for a large F.
        let (k, m) = (df_between as f64, df_within as f64);
        let p = beta_reg(m / 2.0, k / 2.0, m / (k * f + m));
        Some(Self { between, within, df_between, df_within, f, p })
    }
}

fn corrected_mean(values: &[f64]) -> f64 {
    let first = mean(values);
    first + mean(&values.iter().map(|x| x - first).collect::<Vec<_>>())
}
