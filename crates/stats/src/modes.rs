//! Does a variant have one typical value, or several? Akinshin's lowland detector on a quantile-respectful density. It
//! finds where the modes are and how many values belong to each; it is no test, and has no p.
//!
//! The density has 100 bins between successive Harrell–Davis percentiles (1982), so that each bin holds a hundredth of
//! the distribution, and its height is 0.01 ÷ its width. Imagine the density as hills, and rain that fills the valley
//! between two of them up to the lower of their peaks. If less than half of that cross-section is ground, the valley is
//! a *lowland* and parts two modes (Akinshin 2020, "Lowland multimodality detection", sensitivity 0.5).

use statrs::distribution::{Beta, ContinuousCDF};
use std::collections::BTreeMap;

/// Fewer values than this are too few to judge.
const LEAST: usize = 30;

/// Bins of the density.
const BINS: usize = 100;

/// A valley is a lowland if this part of it, or more, is under water.
const SENSITIVITY: f64 = 0.5;

/// A mode has at least this part of the values, or it is a handful of outliers and belongs to its neighbour.
const LEAST_SHARE: f64 = 0.1;

/// A hundredth of a distribution needs no more values than this; of a longer list, this many evenly spaced order statistics
/// are looked at.
const MOST: usize = 2000;

/// Weights beyond this many standard deviations of a beta distribution are nothing.
const REACH: f64 = 9.0;

/// One mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where its density is highest.
    pub place: f64,
    /// The part of all values that belong to it.
    pub share: f64,
}

/// What can be said of the modes of some values.
#[derive(Debug, Clone, PartialEq)]
pub enum Modality {
    /// Fewer than [`LEAST`] values: too few to judge.
    TooFew,
    /// One mode, or one value.
    One,
    /// Several, in ascending order.
    Several(Vec<Mode>),
}

/// Finds modes; it keeps the weights of the percentiles, which depend on the number of values only.
#[derive(Debug, Clone, Default)]
pub struct Detector(BTreeMap<usize, Vec<Weights>>);

/// The weights of a percentile: of successive order statistics, from `first` on.
#[derive(Debug, Clone)]
struct Weights {
    first: usize,
    weights: Vec<f64>,
}

impl Detector {
    /// The modes of values in any order; infinite values and NaN are left out.
    pub fn modes(&mut self, values: &[f64]) -> Modality {
        let mut ascending: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        ascending.sort_by(f64::total_cmp);
        if ascending.len() < LEAST {
            return Modality::TooFew;
        }
        let (smallest, largest) = (ascending[0], ascending[ascending.len() - 1]);
        let range = largest - smallest;
        if range == 0.0 || !range.is_finite() {
            return Modality::One;
        }
        // On the scale of the range, sizes do not matter.
        let scaled: Vec<f64> = thinned(&ascending).iter().map(|x| (x - smallest) / range).collect();
        let weights = self.0.entry(scaled.len()).or_insert_with(|| percentile_weights(scaled.len()));
        let edges = edges(&scaled, weights);
        let modes = Relief::new(edges).modes();
        let modes = without_small(modes, &scaled);
        if modes.len() < 2 {
            return Modality::One;
        }
        let outward = |mode: Mode| Mode { place: smallest + range * mode.place, ..mode };
        Modality::Several(modes.into_iter().map(outward).collect())
    }
}

/// At most [`MOST`] order statistics, the first and the last among them.
fn thinned(ascending: &[f64]) -> Vec<f64> {
    let last = ascending.len() - 1;
    if ascending.len() <= MOST {
        return ascending.to_vec();
    }
    (0..MOST).map(|i| ascending[(i as f64 * last as f64 / (MOST - 1) as f64).round() as usize]).collect()
}

/// The weights of the inner percentiles: of the i-th of n order statistics, I(i/n) − I((i−1)/n) of the beta distribution
/// with parameters (n+1)q and (n+1)(1−q) (Harrell & Davis 1982).
fn percentile_weights(n: usize) -> Vec<Weights> {
    let weights = |percent: usize| {
        let (q, count) = (percent as f64 / BINS as f64, n as f64);
        let beta = Beta::new((count + 1.0) * q, (count + 1.0) * (1.0 - q)).ok()?;
        let sd = (q * (1.0 - q) / (count + 2.0)).sqrt();
        let first = ((q - REACH * sd) * count).floor().max(0.0) as usize;
        let last = (((q + REACH * sd) * count).ceil() as usize).min(n);
        let mut below = if first == 0 { 0.0 } else { beta.cdf(first as f64 / count) };
        let weights = (first + 1..=last).map(|i| {
            let next = if i == n { 1.0 } else { beta.cdf(i as f64 / count) };
            let weight = next - below;
            below = next;
            weight
        });
        Some(Weights { first, weights: weights.collect() })
    };
    (1..BINS).filter_map(weights).collect()
}

/// The edges of the bins: the percentiles, from the smallest value to the largest.
fn edges(ascending: &[f64], weights: &[Weights]) -> Vec<f64> {
    let percentile =
        |w: &Weights| w.weights.iter().zip(&ascending[w.first..]).map(|(weight, x)| weight * x).sum::<f64>();
    let inner = weights.iter().map(percentile);
    let ends = |i: usize| ascending[i];
    [ends(0)].into_iter().chain(inner).chain([ends(ascending.len() - 1)]).collect()
}

/// A mode before its values are counted: where its peak is, and where the next one's land begins.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hill {
    peak: f64,
    end: f64,
}

/// The density as hills and valleys.
#[derive(Debug)]
struct Relief {
    edges: Vec<f64>,
    heights: Vec<f64>,
}

impl Relief {
    fn new(edges: Vec<f64>) -> Self {
        let mass = 1.0 / (edges.len() - 1) as f64;
        // Tied values can make a bin of no width; it is a needle, not infinitely high.
        let heights = edges.windows(2).map(|edge| mass / (edge[1] - edge[0]).max(1e-12)).collect();
        Self { edges, heights }
    }

    /// The hills that lowlands part, from left to right. `ridge` has the peaks of the hill at hand that no later one has
    /// outgrown, in falling order, so that its first is the highest of the hill.
    fn modes(&self) -> Vec<Hill> {
        let h = &self.heights;
        let peaks = (1..h.len() - 1).filter(|i| h[*i] > h[i - 1] && h[*i] >= h[i + 1]);
        let (mut hills, mut ridge): (Vec<Hill>, Vec<usize>) = (vec![], vec![]);
        for peak in peaks {
            while let Some(&last) = ridge.last() {
                let outgrown = h[last] < h[peak];
                if self.is_lowland(last, peak) {
                    let lowest = (last..peak).min_by(|a, b| h[*a].total_cmp(&h[*b])).unwrap_or(last);
                    hills.push(self.hill(ridge[0], self.middle(lowest)));
                    ridge.clear();
                } else if outgrown {
                    ridge.pop();
                } else {
                    break;
                }
            }
            ridge.push(peak);
        }
        hills.extend(ridge.first().map(|peak| self.hill(*peak, f64::INFINITY)));
        hills
    }

    /// Whether more than half of the valley between two peaks would be under water.
    fn is_lowland(&self, from: usize, to: usize) -> bool {
        let level = self.heights[from].min(self.heights[to]);
        let (mut left, mut right) = (from, to);
        while left < right && self.heights[left] > level {
            left += 1;
        }
        while left < right && self.heights[right] > level {
            right -= 1;
        }
        let ground = (right - left + 1) as f64 / self.heights.len() as f64;
        ground < SENSITIVITY * level * (self.edges[right + 1] - self.edges[left])
    }

    fn middle(&self, bin: usize) -> f64 {
        f64::midpoint(self.edges[bin], self.edges[bin + 1])
    }

    fn hill(&self, peak: usize, end: f64) -> Hill {
        Hill { peak: self.middle(peak), end }
    }
}

/// Counts the values of every hill, and joins the smallest, as long as it is too small, to the neighbour that is nearer.
fn without_small(mut hills: Vec<Hill>, ascending: &[f64]) -> Vec<Mode> {
    loop {
        let before = |end: f64| ascending.partition_point(|x| *x <= end);
        let starts = std::iter::once(0).chain(hills.iter().map(|hill| before(hill.end)));
        let shares: Vec<f64> = hills
            .iter()
            .zip(starts)
            .map(|(hill, start)| (before(hill.end) - start) as f64 / ascending.len() as f64)
            .collect();
        let smallest = (0..hills.len()).min_by(|a, b| shares[*a].total_cmp(&shares[*b]));
        let Some(small) = smallest.filter(|i| hills.len() > 1 && shares[*i] < LEAST_SHARE) else {
            let modes = hills.iter().zip(shares);
            return modes.map(|(hill, share)| Mode { place: hill.peak, share }).collect();
        };
        let away = |i: usize| (hills[i].peak - hills[small].peak).abs();
        let to_left = small + 1 == hills.len() || (small > 0 && away(small - 1) <= away(small + 1));
        let (left, right) = if to_left { (small - 1, small) } else { (small, small + 1) };
        let kept = if to_left { left } else { right };
        hills[left] = Hill { end: hills[right].end, ..hills[kept] };
        hills.remove(right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spread quantiles of a triangular hill of half-width 1 around `place`.
    fn hill(place: f64, n: usize) -> Vec<f64> {
        let quantile = |i: usize| {
            let q = (i as f64 + 0.5) / n as f64;
            if q < 0.5 { (2.0 * q).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * q).sqrt() }
        };
        (0..n).map(|i| place + quantile(i)).collect()
    }

    fn modes(values: &[f64]) -> Modality {
        Detector::default().modes(values)
    }

    #[test]
    fn table() {
        let nothing: &[&[f64]] = &[&[], &[1.0; 29], &[f64::NAN; 50]];
        for values in nothing {
            assert_eq!(modes(values), Modality::TooFew, "{values:?}");
        }
        let one: &[Vec<f64>] = &[
            vec![7.0; 30],
            hill(0.0, 30),
            hill(1e6, 500),
            [1e308, -1e308].repeat(20),
            // Five of a hundred are outliers, not a mode.
            [hill(0.0, 95), hill(40.0, 5)].concat(),
        ];
        for values in one {
            assert_eq!(modes(values), Modality::One, "{values:?}");
        }
    }

    #[test]
    fn two_modes_have_places_and_shares() {
        let check = |n: usize, offset: f64, scale: f64| {
            let values = [hill(0.0, 7 * n), hill(10.0, 3 * n)].concat();
            let values: Vec<f64> = values.iter().map(|x| offset + scale * x).collect();
            let Modality::Several(modes) = modes(&values) else { panic!("one mode in {values:?}") };
            assert_eq!(modes.len(), 2, "{modes:?}");
            for (mode, (place, share)) in modes.iter().zip([(0.0, 0.7), (10.0, 0.3)]) {
                assert!((mode.place - offset - scale * place).abs() < 0.5 * scale, "{mode:?}");
                assert!((mode.share - share).abs() < 1e-9, "{mode:?}");
            }
        };
        check(5, 0.0, 1.0);
        check(20, 0.0, 1e-300);
        check(20, -5.0, 1e200);
        check(1000, 0.0, 1.0);
    }
}
