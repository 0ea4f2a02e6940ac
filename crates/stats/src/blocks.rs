//! How many blocks a question needs: the least with which a sign-flip test can say anything, and the number with which
//! a difference, or an equivalence, will probably be shown, given what is known. Planning aids; nothing is concluded from
//! them. The power itself is [`super::power`]'s.

use super::equivalence::Zone;
use super::power::Design;

/// The power that is planned for.
const POWER: f64 = 0.8;

/// The least number of blocks with which a comparison can be shown to differ at `alpha`, however many others it is
/// judged with: the smallest p of the sign-flip test, and of max-T, is 2^(1−n), so n ≥ 1 + log2(1/alpha).
pub fn least(alpha: f64) -> u32 {
    ((1.0 / alpha).log2().ceil().max(0.0) as u32).saturating_add(1)
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
    /// By how much intervals are wider than the contrasts' spread makes them, because a clock ticks; 0 if none does. No number
    /// of blocks makes that smaller.
    pub resolution: f64,
}

impl Outlook {
    /// The number of blocks, in all, with which a decision has power [`POWER`] if estimate and spread stay as they are:
    /// the cheaper of showing a difference, at alpha/comparisons (which max-T is never much worse than) and with [`least`]
    /// blocks at least, and showing equivalence, at alpha. None beyond a million.
    pub fn blocks(&self, comparisons: u32, alpha: f64) -> Option<u32> {
        let per_comparison = alpha / f64::from(comparisons.max(1));
        let beyond_ticks = (self.estimate.abs() - self.resolution).max(0.0);
        let shown_different =
            self.design(per_comparison).blocks_for_difference(beyond_ticks, POWER).map(|n| n.max(least(alpha)));
        let within_ticks = self.zone.map(|zone| zone.half_width - self.resolution).filter(|half| *half > 0.0);
        let shown_equivalent = within_ticks
            .and_then(|half| self.design(alpha).blocks_for_equivalence(half, self.estimate, POWER))
            .map(|n| n.max(least(2.0 * alpha)));
        shown_different.into_iter().chain(shown_equivalent).min()
    }

    /// The smallest difference that `blocks` blocks would have shown with power [`POWER`], at alpha/comparisons, on the
    /// scale of the contrasts. None if they could not have shown any.
    pub fn detectable(&self, blocks: u32, comparisons: u32, alpha: f64) -> Option<f64> {
        let enough = blocks >= least(alpha);
        let design = self.design(alpha / f64::from(comparisons.max(1)));
        enough.then(|| design.detectable(blocks, POWER)).flatten().map(|beyond_ticks| beyond_ticks + self.resolution)
    }

    fn design(&self, alpha: f64) -> Design {
        Design { sd: self.sd, alpha }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_blocks() {
        let check = |alpha, expect| assert_eq!(least(alpha), expect, "{alpha}");
        check(0.05, 6);
        check(0.01, 8);
        check(1.0 / 32.0, 6);
        check(1.0, 1);
        check(0.0, u32::MAX);
    }

    /// The table of 1.11 with margins so small, or estimates of 0, that only one of the two can be shown.
    #[test]
    fn enough_blocks() {
        let check = |estimate: f64, sd, margin, expect: u32| {
            let outlook = Outlook { estimate, sd, zone: Some(Zone::of_log_ratios(margin)), resolution: 0.0 };
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
            let outlook = Outlook { estimate, sd, zone, resolution: 0.0 };
            assert_eq!(outlook.blocks(comparisons, 0.05), expect, "{outlook:?}");
        };
        let zone = |half_width| Some(Zone { half_width });
        // However large the effect, a sign-flip test needs its blocks: here for a difference, then for equivalence.
        check(0.05, 0.001, zone(0.01), 1, Some(6));
        check(0.05, 0.001, zone(0.01), 5, Some(6));
        check(0.05, 0.0, zone(0.01), 1, Some(6));
        check(0.0, 0.001, zone(0.01), 1, Some(5));
        // Neither within reason, and neither ever.
        check(0.0001, 1.0, zone(0.0001), 1, None);
        check(0.0, 1.0, None, 1, None);
        check(0.0, 0.0, None, 1, None);
    }

    #[test]
    fn no_number_of_blocks_sees_below_a_tick() {
        let blocks = |estimate, resolution| {
            Outlook { estimate, sd: 0.01, zone: Some(Zone { half_width: 0.01 }), resolution }.blocks(1, 0.05)
        };
        assert_eq!(blocks(0.004, 0.0067), None);
        assert!(blocks(0.02, 0.0067) > blocks(0.02, 0.0));
        assert_eq!(blocks(0.0, 0.011), None, "the tick is wider than the margin");
        let constant = Outlook { estimate: 0.004, sd: 0.0, zone: Some(Zone { half_width: 0.01 }), resolution: 0.0067 };
        assert_eq!(constant.blocks(1, 0.05), None);
        let detectable = |resolution| Outlook { sd: 0.01, resolution, ..constant }.detectable(12, 1, 0.05).unwrap();
        assert!((detectable(0.0067) - detectable(0.0) - 0.0067).abs() < 1e-12);
    }
}
