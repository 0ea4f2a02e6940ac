//! Doubts about samples that somebody else measured: of one sample, of one comparison, and of all of them.

use super::super::infer::Inference;
use super::super::rule::DecisionRule;
use crate::findings::{Caveat, Comparison, Inferred, Scale, Summary, TooFewValues};
use bakeoff_readers::Sample;

/// Fewer values than this do not tell a spread.
const SPREAD_MIN: u32 = 10;
/// Spreads that differ by more than this factor are no mere shift.
const SPREADS_DIFFER: f64 = 3.0;

/// Doubts about a sample on its own.
pub(super) fn of_sample(sample: &Sample, summary: &Summary, alpha: f64) -> Vec<Caveat> {
    let mut caveats = vec![];
    if !sample.vary.is_empty() {
        caveats.push(Caveat::ValuesVary { keys: sample.vary.iter().cloned().collect() });
    }
    let Summary { min, max, .. } = *summary;
    if sample.exact && min != max {
        caveats.push(Caveat::NotExact { min, max });
    }
    if summary.median_interval.is_none() && !sample.exact {
        let needed = (1..64).find(|n| 2.0 * 0.5f64.powi(*n) <= alpha).unwrap_or(64);
        caveats.push(Caveat::NoMedianInterval { confidence: 1.0 - alpha, needed });
    }
    caveats
}

/// Where nothing varies, nothing tells how finely the values were measured.
pub(super) fn never_vary(constant: bool, inference: &Inference) -> Option<Caveat> {
    let is_seen = match inference.inferred {
        Inferred::Exact => false,
        Inferred::TooFew => inference.blocks >= 3,
        Inferred::TooCoarse | Inferred::Tested(_) => inference.interval().is_none(),
    };
    (constant && is_seen).then_some(Caveat::NeverVary)
}

/// Too few values for a test, for an interval, or for a difference that survives the correction.
pub(super) fn too_few(inference: &Inference, [n, other]: [u32; 2], rule: DecisionRule) -> Option<Caveat> {
    let (n, other) = (n.min(other), n.max(other));
    Some(Caveat::TooFewValues(match inference.inferred {
        Inferred::TooFew if n < 3 => TooFewValues::Inference { values: n },
        Inferred::TooFew => TooFewValues::FarApart,
        Inferred::Exact | Inferred::TooCoarse => return None,
        Inferred::Tested(_) => {
            let alpha = rule.alpha / f64::from(rule.family.max(1));
            if smallest_p(n, other) <= alpha {
                return None;
            }
            let (confidence, family) = (1.0 - rule.alpha, rule.family);
            TooFewValues::Difference { values: n, confidence, family, needed: needed(alpha) }
        }
    }))
}

/// The smallest p that samples of n and m values can give, 2/C(n + m, n).
fn smallest_p(n: u32, m: u32) -> f64 {
    (1..=n).fold(2.0, |p, i| p * f64::from(i) / f64::from(m + i))
}

/// The smallest n for which two samples of n values can give a p of at most alpha.
fn needed(alpha: f64) -> u32 {
    (1..1000).find(|n| smallest_p(*n, *n) <= alpha * (1.0 + 1e-12)).unwrap_or(1000)
}

/// The interval is that of a shift; if one sample is spread far wider, there is more between them than that.
pub(super) fn spreads(inference: &Inference, variant: &Summary, baseline: &Summary) -> Option<Caveat> {
    let spread = |summary: &Summary| match inference.scale {
        Scale::Ratio => (summary.q3 / summary.q1).ln(),
        Scale::Difference => summary.q3 - summary.q1,
    };
    let (wide, narrow) = (spread(variant).max(spread(baseline)), spread(variant).min(spread(baseline)));
    let enough = variant.n.min(baseline.n) >= SPREAD_MIN && inference.inferred.tested().is_some();
    (enough && wide > SPREADS_DIFFER * narrow).then_some(Caveat::SpreadsDiffer)
}

/// The shift is a robust centre; the means may tell another story.
pub(super) fn means_disagree(comparison: &Comparison, rule: DecisionRule) -> Option<Caveat> {
    let means = comparison.ratio_of_means?.estimate;
    let apart = (means.ln() - comparison.estimate.ln()).abs() > rule.margin.ln_1p();
    apart.then_some(Caveat::TypicalAndMeanDisagree { ratios: Some([comparison.estimate, means]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_numbers_of_values() {
        let check = |alpha, expect| assert_eq!(needed(alpha), expect, "{alpha}");
        // 2/C(8, 4) = .029, 2/C(6, 3) = .1, 2/C(10, 5) = .0079
        check(0.05, 4);
        check(0.1, 3);
        check(0.01, 5);
        // 2/C(13, 3)
        assert!((smallest_p(3, 10) - 2.0 / 286.0).abs() < 1e-15);
    }
}
