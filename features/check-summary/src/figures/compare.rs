//! Two lists of values, of which only n, mean and standard deviation are known, and those to ranges: their difference
//! and ratio, with intervals and p, each as the range that it takes while the figures move within theirs. The ends
//! are bounds: nothing in the ranges goes beyond them, but not every end need be reached. The arms are taken as
//! independent, the means as normally distributed; a summary does not tell whether they are.

use super::known::Range;
use bakeoff_stats::student::{t_quantile, two_sided_p};
use serde::{Deserialize, Serialize};

/// What is known of one list of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Number of values, at least 2.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: Range,
    /// Standard deviation, n − 1.
    pub sd: Range,
}

/// An estimate and the ends of its interval, each from the least to the greatest that the digits allow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub estimate: Range,
    /// The lower end of the interval.
    pub low: Range,
    /// The upper end of the interval.
    pub high: Range,
}

impl Estimate {
    /// From the lowest lower end to the highest upper end.
    pub fn widest(&self) -> Range {
        [self.low[0], self.high[1]]
    }

    /// The same with every end of every range changed.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        let Self { estimate, low, high } = self;
        let [estimate, low, high] = [estimate, low, high].map(|range| range.map(&change));
        Self { estimate, low, high }
    }
}

/// A difference, b − a, with its interval and p.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Difference and interval.
    pub estimate: Estimate,
    /// Two-sided p of no difference.
    pub p: Range,
}

/// Squared standard error of the mean.
fn squared_error(sample: &Sample) -> Range {
    sample.sd.map(|s| s * s / sample.n as f64)
}

/// Both by a power of two that keeps their squares finite, and that power. They must be [`usable`].
fn scaled(a: &Sample, b: &Sample) -> (Sample, Sample, f64) {
    let ends = [a.mean, a.sd, b.mean, b.sd].concat();
    let size = ends.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    let unit = if size > 0.0 { size.log2().floor().exp2() } else { 1.0 };
    let by = |s: &Sample| Sample { n: s.n, mean: s.mean.map(|x| x / unit), sd: s.sd.map(|x| x / unit) };
    (by(a), by(b), unit)
}

impl Test {
    fn times(self, unit: f64) -> Self {
        Self { estimate: self.estimate.map(|x| x * unit), ..self }
    }
}

fn usable(a: &Sample, b: &Sample) -> bool {
    let ordered = |[low, high]: Range| low <= high && (high - low).is_finite();
    let fine = |s: &Sample| s.n >= 2 && ordered(s.sd) && ordered(s.mean) && s.sd[0] >= 0.0;
    fine(a) && fine(b)
}

/// b − a with the interval of confidence 1 − alpha and p by Student's pooled t (Student 1908; what ministat prints):
/// t(1 − alpha/2, n_a + n_b − 2) · s_p √(1/n_a + 1/n_b). It takes both standard deviations as equal. None for n < 2.
pub fn pooled(a: &Sample, b: &Sample, alpha: f64) -> Option<Test> {
    if !usable(a, b) {
        return None;
    }
    let (a, b, unit) = &scaled(a, b);
    let (n_a, n_b) = (a.n as f64, b.n as f64);
    let freedom = n_a + n_b - 2.0;
    let variance = |end: usize| ((n_a - 1.0) * a.sd[end].powi(2) + (n_b - 1.0) * b.sd[end].powi(2)) / freedom;
    let error = [0, 1].map(|end| (variance(end) * (1.0 / n_a + 1.0 / n_b)).sqrt());
    difference(a, b, error, [freedom, freedom], alpha).map(|difference| difference.times(*unit))
}

/// b − a with the interval of confidence 1 − alpha and p by Welch's t (Welch 1947), which takes no standard
/// deviations as equal. None for n < 2.
pub fn welch(a: &Sample, b: &Sample, alpha: f64) -> Option<Test> {
    if !usable(a, b) {
        return None;
    }
    let (a, b, unit) = &scaled(a, b);
    let (v_a, v_b) = (squared_error(a), squared_error(b));
    let error = [0, 1].map(|end| (v_a[end] + v_b[end]).sqrt());
    difference(a, b, error, freedom(a.n, v_a, b.n, v_b), alpha).map(|difference| difference.times(*unit))
}

fn difference(a: &Sample, b: &Sample, error: Range, freedom: Range, alpha: f64) -> Option<Test> {
    let estimate = [b.mean[0] - a.mean[1], b.mean[1] - a.mean[0]];
    let quantile = |freedom| quantile(1.0 - alpha / 2.0, freedom);
    // The fewer degrees of freedom, the wider.
    let half = [quantile(freedom[1])? * error[0], quantile(freedom[0])? * error[1]];
    let away = [estimate[0].max(-estimate[1]).max(0.0), estimate[0].abs().max(estimate[1].abs())];
    let interval = Estimate {
        estimate,
        low: [estimate[0] - half[1], estimate[1] - half[0]],
        high: [estimate[0] + half[0], estimate[1] + half[1]],
    };
    Some(Test { estimate: interval, p: [p(away[1], error[0], freedom[1])?, p(away[0], error[1], freedom[0])?] })
}

fn quantile(probability: f64, freedom: f64) -> Option<f64> {
    t_quantile(probability, freedom).filter(|_| freedom >= 1.0)
}

fn p(away: f64, error: f64, freedom: f64) -> Option<f64> {
    if away == 0.0 {
        return Some(1.0);
    }
    if error == 0.0 {
        return Some(0.0);
    }
    two_sided_p(away / error, freedom)
}

/// Degrees of freedom (Satterthwaite 1946): (v_a + v_b)² / (v_a²/(n_a − 1) + v_b²/(n_b − 1)). They depend on v_a/v_b alone,
/// and have their one maximum, n_a + n_b − 2, where it is (n_a − 1)/(n_b − 1).
fn freedom(n_a: u64, v_a: Range, n_b: u64, v_b: Range) -> Range {
    let (f_a, f_b) = (n_a as f64 - 1.0, n_b as f64 - 1.0);
    let of = |v_a: f64, v_b: f64| {
        let size = v_a.max(v_b);
        if size <= 0.0 {
            return f_a + f_b;
        }
        let (v_a, v_b) = (v_a / size, v_b / size);
        (v_a + v_b).powi(2) / (v_a * v_a / f_a + v_b * v_b / f_b)
    };
    let ends = [of(v_a[0], v_b[1]), of(v_a[1], v_b[0])];
    let peak_inside = v_a[0] * f_b <= v_b[1] * f_a && v_b[0] * f_a <= v_a[1] * f_b;
    [ends[0].min(ends[1]), if peak_inside { f_a + f_b } else { ends[0].max(ends[1]) }]
}

/// b ÷ a with the interval of confidence 1 − alpha for independent arms (Fieller 1954, without covariance): all ρ with
/// (b̄ − ρā)² ≤ t² (s_b²/n_b + ρ² s_a²/n_a). It counts the error of a, too. The degrees of freedom are
/// Satterthwaite's of b̄ − ρ̂ā. None for n < 2, for means that are not positive, or if the interval is unbounded.
pub fn ratio(a: &Sample, b: &Sample, alpha: f64) -> Option<Estimate> {
    if !usable(a, b) || a.mean[0] <= 0.0 || b.mean[0] <= 0.0 {
        return None;
    }
    let (a, b, _) = &scaled(a, b);
    let estimate = [b.mean[0] / a.mean[1], b.mean[1] / a.mean[0]];
    let (v_a, v_b) = (squared_error(a), squared_error(b));
    let seen = [v_a[0] * estimate[0].powi(2), v_a[1] * estimate[1].powi(2)];
    let freedom = freedom(a.n, seen, b.n, v_b);
    let [wide, narrow] = freedom.map(|freedom| quantile(1.0 - alpha / 2.0, freedom));
    let (narrow, wide) = (narrow?, wide?);
    // Each end grows with b. With a it falls if it is positive, and grows if it is negative.
    let ends = |end: usize, b: f64, v: usize, t: f64| {
        let at = |a: f64| fieller(a, v_a[v], b, v_b[v], t).map(|roots| roots[end]);
        Some([at(a.mean[0])?, at(a.mean[1])?])
    };
    let (lowest, highest) = (ends(0, b.mean[0], 1, wide)?, ends(0, b.mean[1], 0, narrow)?);
    let low = [lowest[0].min(lowest[1]), highest[0].max(highest[1])];
    let (lowest, highest) = (ends(1, b.mean[0], 0, narrow)?, ends(1, b.mean[1], 1, wide)?);
    let high = [lowest[0].min(lowest[1]), highest[0].max(highest[1])];
    Some(Estimate { estimate, low, high })
}

/// The roots of (b − ρa)² = t² (v_b + ρ² v_a).
fn fieller(a: f64, v_a: f64, b: f64, v_b: f64, t: f64) -> Option<Range> {
    let bounded = a * a - t * t * v_a;
    let root = (a * a * v_b + b * b * v_a - t * t * v_a * v_b).max(0.0).sqrt();
    (bounded > 0.0 && root.is_finite()).then(|| [(a * b - t * root) / bounded, (a * b + t * root) / bounded])
}

/// The smallest two-sided p that any exact test of the order of n_a + n_b values can give: 2 ÷ the number of ways to choose
/// n_a of them. At 3 and 3 it is 0.1.
pub fn smallest_exact_p(n_a: u64, n_b: u64) -> f64 {
    let (few, all) = (n_a.min(n_b), n_a.saturating_add(n_b));
    // Beyond a thousand choices the number is of no interest.
    let ways = (1..=few.min(1000)).map(|i| (all - few + i) as f64 / i as f64).product::<f64>();
    (2.0 / ways).min(1.0)
}
