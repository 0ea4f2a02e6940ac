//! How many blocks a question needs: the least with which a sign-flip test can say anything, and the number with which
//! a difference, or an equivalence, will probably be shown. Planning aids; nothing is concluded from them.

use super::equivalence::Zone;
use super::student::t_quantile;
use statrs::distribution::{ContinuousCDF, Normal};

/// The power that is planned for.
pub const POWER: f64 = 0.8;

/// Beyond this many blocks a number is of no use to anyone.
pub const BLOCKS_MAX: u32 = 1_000_000;

/// The least number of blocks with which one of `comparisons` can be shown to differ at `alpha`, after Holm's
/// correction: the smallest p of a sign-flip test is 2^(1−n), so n ≥ 1 + log2(comparisons/alpha).
pub fn least(comparisons: u32, alpha: f64) -> u32 {
    1 + (f64::from(comparisons.max(1)) / alpha).log2().ceil().max(0.0) as u32
}

/// What is known about a comparison, on the scale of its contrasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// The estimated difference.
    pub estimate: f64,
    /// Standard deviation of the contrasts, from block to block.
    pub sd: f64,
    /// The zone in which differences do not matter, if there is one.
    pub zone: Option<Zone>,
}

impl Outlook {
    /// The number of blocks, in all, with which a decision has power [`POWER`] if estimate and spread stay as they are:
    /// the cheaper of showing a difference and showing equivalence. None beyond [`BLOCKS_MAX`].
    ///
    /// The smallest n such that (Student's t with n − 1 degrees of freedom, β = 1 − power)
    /// - difference, two-sided and at α/comparisons (Holm's first step): (t(1 − α/2m) + t(1 − β)) · sd/√n ≤ |estimate|
    /// - equivalence, at α: (t(1 − α) + t(1 − β/2)) · sd/√n ≤ half-width of the zone − |estimate|
    ///
    /// (the usual approximation to the noncentral t, which would ask for a block more now and then; the halved β covers
    /// an estimate of 0, where either side may fail), and never less than [`least`].
    pub fn blocks(&self, comparisons: u32, alpha: f64) -> Option<u32> {
        let beta = 1.0 - POWER;
        let difference = self.estimate.abs();
        let per_comparison = alpha / f64::from(comparisons.max(1));
        let shown_different = smallest(difference / self.sd, 1.0 - per_comparison / 2.0, 1.0 - beta)
            .map(|n| n.max(least(comparisons, alpha)));
        let shown_equivalent = self
            .zone
            .and_then(|zone| smallest((zone.half_width - difference) / self.sd, 1.0 - alpha, 1.0 - beta / 2.0))
            .map(|n| n.max(least(1, 2.0 * alpha)));
        shown_different.into_iter().chain(shown_equivalent).min()
    }
}

/// The smallest n ≥ 2 with (t(test) + t(power)) / √n ≤ `distance`, in standard deviations.
fn smallest(distance: f64, test: f64, power: f64) -> Option<u32> {
    if distance.is_nan() || distance <= 0.0 {
        return None;
    }
    // Student's quantiles exceed the normal ones, so the normal answer is a lower bound, and a close one.
    let normal = Normal::standard();
    let least = ((normal.inverse_cdf(test) + normal.inverse_cdf(power)) / distance).powi(2).ceil();
    if least > f64::from(BLOCKS_MAX) {
        return None;
    }
    (least.max(2.0) as u32..=BLOCKS_MAX).find(|n| {
        let quantile = |probability| t_quantile(probability, f64::from(*n) - 1.0);
        let both = quantile(test).zip(quantile(power)).map(|(t, u)| t + u);
        both.is_some_and(|both| (both / distance).powi(2) <= f64::from(*n))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_blocks() {
        let check = |comparisons, alpha, expect| assert_eq!(least(comparisons, alpha), expect, "{comparisons} {alpha}");
        check(1, 0.05, 6);
        check(1, 0.01, 8);
        check(1, 1.0 / 32.0, 6);
        check(5, 0.05, 8);
        check(11, 0.01, 12);
        check(1, 1.0, 1);
    }

    /// Differences: R 4.2, `power.t.test(delta = log(1.01), sd = sd, power = .8, type = "one.sample")`, rounded up; it
    /// uses the noncentral t, hence one block of grace. Equivalence: numpy, 200 000 pairs of one-sided t tests each; their
    /// power at these numbers of blocks is .84, .80 and .80.
    #[test]
    fn enough_blocks() {
        let check = |estimate: f64, sd, margin, expect: u32| {
            let outlook = Outlook { estimate, sd, zone: Some(Zone::of_log_ratios(margin)) };
            let blocks = outlook.blocks(1, 0.05);
            assert!(blocks.is_some_and(|blocks| blocks.abs_diff(expect) <= 1), "{outlook:?}: {blocks:?}, not {expect}");
        };
        check(1.01f64.ln(), 0.01, 0.001, 11);
        check(1.01f64.ln(), 0.02, 0.001, 34);
        check(1.01f64.ln(), 0.05, 0.001, 201);
        check(0.0, 0.01, 0.01, 11);
        check(0.0, 0.02, 0.01, 36);
        check(0.0, 0.05, 0.01, 218);
    }

    #[test]
    fn limits_of_planning() {
        let check = |estimate, sd, zone, comparisons, expect| {
            let outlook = Outlook { estimate, sd, zone };
            assert_eq!(outlook.blocks(comparisons, 0.05), expect, "{outlook:?}");
        };
        let zone = |half_width| Some(Zone { half_width });
        // However large the effect, a sign-flip test needs its blocks: here for a difference, then for equivalence.
        check(0.05, 0.001, zone(0.01), 1, Some(6));
        check(0.05, 0.001, zone(0.01), 5, Some(8));
        check(0.05, 0.0, zone(0.01), 1, Some(6));
        check(0.0, 0.001, zone(0.01), 1, Some(5));
        // Neither within reason, and neither ever.
        check(0.0001, 1.0, zone(0.0001), 1, None);
        check(0.0, 1.0, None, 1, None);
        check(0.0, 0.0, None, 1, None);
    }
}
