//! The arithmetic of ministat (P.-H. Kamp, FreeBSD): Student's t on pooled variances, in the very order of operations of
//! the two programs of that name, so that the last digit agrees. Its defects are kept, because that is what it is for;
//! nothing here should be believed further than the original.
//!
//! Defects: those of the table ([`bakeoff_stats::ministat`]); the legacy variance is that of one pass, Σa² − (Σa)²/n, which
//! loses all digits where the mean is large; the legacy relative half-width takes the baseline's mean for exact.

use bakeoff_stats::ministat::tabulated;

// Which ministat. A documentation comment would become help of `stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Edition {
    // Debian's package of 2015, and FreeBSD's until then.
    Legacy,
    // FreeBSD's of today: variance in two passes over the sorted values, median of two middles, and a relative
    // half-width that knows of the baseline's own error.
    Freebsd,
}

/// What ministat knows of one set of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vitals {
    /// Number of values.
    pub(crate) n: u64,
    /// The first of the sorted values: the smallest, unless one is not a number.
    pub(crate) min: f64,
    /// The last of the sorted values.
    pub(crate) max: f64,
    /// Legacy: the value at n/2, counted from 0. FreeBSD: for even n, the mean of the two middles.
    pub(crate) median: f64,
    /// Σa / n, summed in the order of the file.
    pub(crate) mean: f64,
    /// n − 1 in the denominator; may be negative in the legacy edition.
    pub(crate) variance: f64,
}

impl Vitals {
    /// Looks at a set, and sorts it. None if it is empty.
    pub(crate) fn new(values: &mut [f64], edition: Edition) -> Option<Self> {
        let (mut sum, mut squares) = (0.0, 0.0);
        for &a in &*values {
            sum += a;
            squares += a * a;
        }
        sort(values);
        let count = values.len();
        let n = count as f64;
        let mean = sum / n;
        let variance = match edition {
            Edition::Legacy => (squares - sum * sum / n) / (n - 1.0),
            Edition::Freebsd => values.iter().fold(0.0, |sum, a| sum + (a - mean) * (a - mean)) / (n - 1.0),
        };
        let upper = *values.get(count / 2)?;
        let median = match edition {
            Edition::Freebsd if count.is_multiple_of(2) => (upper + values[count / 2 - 1]) / 2.0,
            _ => upper,
        };
        Some(Self { n: count as u64, min: values[0], max: values[count - 1], median, mean, variance })
    }

    /// The square root of the variance; not a number if that is negative.
    pub(crate) fn sd(&self) -> f64 {
        self.variance.sqrt()
    }
}

/// A set against the first one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Relative {
    /// Difference of the means, d.
    pub(crate) difference: f64,
    /// e = t · s · √(1/n₁ + 1/n₂), with the pooled s.
    pub(crate) half_width: f64,
    /// d as a percentage of the baseline's mean.
    pub(crate) percent: f64,
    /// Its half-width as a percentage.
    pub(crate) percent_half_width: f64,
    /// Pooled standard deviation, s.
    pub(crate) pooled: f64,
}

impl Relative {
    /// Compares `set` with `baseline`; `level` is an index into [`bakeoff_stats::ministat::LEVELS`].
    pub(crate) fn new(set: &Vitals, baseline: &Vitals, level: usize, edition: Edition) -> Self {
        let (n, m) = (set.n as f64, baseline.n as f64);
        let freedom = (set.n + baseline.n).saturating_sub(2);
        let t = tabulated(freedom, level);
        let pooled = (((n - 1.0) * set.variance + (m - 1.0) * baseline.variance) / freedom as f64).sqrt();
        let difference = set.mean - baseline.mean;
        let half_width = t * (pooled * (1.0 / n + 1.0 / m).sqrt());
        let numerator = match edition {
            Edition::Legacy => half_width,
            Edition::Freebsd => {
                let spread = (n - 1.0) * set.variance
                    + (m - 1.0) * baseline.variance * (set.mean * set.mean) / (baseline.mean * baseline.mean);
                t * (spread * ((n + m) / (n * m * (n + m - 2.0)))).sqrt()
            }
        };
        Self {
            difference,
            half_width,
            percent: difference * 100.0 / baseline.mean,
            percent_half_width: numerator * 100.0 / baseline.mean,
            pooled,
        }
    }

    /// Whether ministat calls it a difference: |d| > e.
    pub(crate) fn differs(&self) -> bool {
        self.difference.abs() > self.half_width
    }
}

/// Sorts as the C library does: stable, by `<` and `>` alone. That is only slower than need be where a value is not a
/// number (then order is what merging makes of it), or where there are zeros of both signs.
fn sort(values: &mut [f64]) {
    let (mut negative_zero, mut positive_zero) = (false, false);
    for a in &*values {
        if a.is_nan() {
            merge_sort(values);
            return;
        }
        if *a == 0.0 {
            negative_zero |= a.is_sign_negative();
            positive_zero |= a.is_sign_positive();
        }
    }
    if negative_zero && positive_zero {
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    } else {
        values.sort_unstable_by(f64::total_cmp);
    }
}

/// Merges halves from the top down, as glibc's qsort does: the lower half has ⌊n/2⌋ values, and gives the next value
/// unless it is greater than the other half's.
fn merge_sort(values: &mut [f64]) {
    if values.len() < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(values.len() / 2);
    merge_sort(low);
    merge_sort(high);
    let mut merged = Vec::with_capacity(low.len() + high.len());
    let (mut i, mut j) = (0, 0);
    while i < low.len() && j < high.len() {
        if low[i] > high[j] {
            merged.push(high[j]);
            j += 1;
        } else {
            merged.push(low[i]);
            i += 1;
        }
    }
    merged.extend_from_slice(&low[i..]);
    merged.extend_from_slice(&high[j..]);
    values.copy_from_slice(&merged);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vitals(values: &[f64], edition: Edition) -> Vitals {
        Vitals::new(&mut values.to_vec(), edition).unwrap()
    }

    /// The manual's own example.
    #[test]
    fn iguana_and_chameleon() {
        let iguana = vitals(&[50.0, 200.0, 150.0, 400.0, 750.0, 400.0, 150.0], Edition::Legacy);
        let chameleon = vitals(&[150.0, 400.0, 720.0, 500.0, 930.0], Edition::Legacy);
        assert!((iguana.sd() - 238.047_61).abs() < 1e-4, "{}", iguana.sd());
        let relative = Relative::new(&chameleon, &iguana, 0, Edition::Legacy);
        assert!(relative.differs());
        assert!((relative.half_width - 212.215).abs() < 1e-3, "{relative:?}");
        assert!((relative.percent_half_width - 70.7384).abs() < 1e-4, "{relative:?}");
        assert!(!Relative::new(&chameleon, &iguana, 2, Edition::Legacy).differs());
        let honest = Relative::new(&chameleon, &iguana, 0, Edition::Freebsd);
        assert!((honest.percent_half_width - 102.3).abs() < 0.1, "{honest:?}");
    }

    #[test]
    fn one_pass_loses_what_two_passes_keep() {
        let high = [1e9, 1e9 + 1.0, 1e9 + 2.0];
        assert_eq!(vitals(&high, Edition::Legacy).sd(), 0.0);
        assert_eq!(vitals(&high, Edition::Freebsd).sd(), 1.0);
        assert!(vitals(&[1e300, 2e300, 3e300], Edition::Legacy).sd().is_nan());
    }

    #[test]
    fn medians_of_an_even_number() {
        assert_eq!(vitals(&[4.0, 1.0, 3.0, 2.0], Edition::Legacy).median, 3.0);
        assert_eq!(vitals(&[4.0, 1.0, 3.0, 2.0], Edition::Freebsd).median, 2.5);
        assert_eq!(Vitals::new(&mut [], Edition::Freebsd), None);
    }

    #[test]
    fn zeros_keep_their_order_and_what_is_no_number_its_place() {
        let check = |values: &[f64], expect: &[f64]| {
            let mut sorted = values.to_vec();
            sort(&mut sorted);
            let bits = |values: &[f64]| values.iter().map(|a| a.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&sorted), bits(expect), "{values:?}");
        };
        check(&[0.0, -0.0, -1.0], &[-1.0, 0.0, -0.0]);
        check(&[-0.0, 0.0, -1.0], &[-1.0, -0.0, 0.0]);
        check(&[f64::NAN, 1.0, 2.0], &[f64::NAN, 1.0, 2.0]);
        check(&[2.0, 1.0, f64::NAN, 0.0], &[1.0, 2.0, f64::NAN, 0.0]);
    }
}
