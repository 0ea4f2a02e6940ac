//! Doubts about samples that somebody else measured: of one sample, of one comparison, and of all of them.

use super::super::infer::Inference;
use super::super::rule::DecisionRule;
use crate::findings::Summary;
use crate::findings::{Caveat, Comparison, Scale, Test};
use bakeoff_model::percent::percent;
use bakeoff_readers::Sample;

/// Fewer values than this do not tell a spread.
const SPREAD_MIN: u32 = 10;
/// Spreads that differ by more than this factor are no mere shift.
const SPREADS_DIFFER: f64 = 3.0;

pub(super) fn order_caveat(paired: bool) -> Caveat {
    let text = if paired {
        "paired as asked: that each line is a block, and the order inside it random, is not known here"
    } else {
        "order unknown: these are unpaired samples, and whether they were measured in a random order is not known; a \
         drift between them looks just like a difference (`bakeoff compare` measures in randomised blocks)"
    };
    caveat("order-unknown", text.to_owned())
}

pub(super) fn caveat(kind: &str, text: String) -> Caveat {
    Caveat { kind: kind.to_owned(), text }
}

/// Doubts about a sample on its own.
pub(super) fn of_sample(sample: &Sample, summary: &Summary, alpha: f64) -> Vec<Caveat> {
    let mut caveats = vec![];
    if !sample.vary.is_empty() {
        let keys = sample.vary.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let text = format!(
            "values that differ in {keys} stand in one sample, as nothing that was asked for tells them apart; if that \
             is meant, --ignore says so"
        );
        caveats.push(caveat("values-vary", text));
    }
    let Summary { min, max, .. } = summary;
    if sample.exact && min != max {
        let text = format!(
            "declared to be exact (assume=exact), but the values range from {min} to {max}; so they are judged like any \
             others"
        );
        caveats.push(caveat("not-exact", text));
    }
    if summary.median_interval.is_none() && !sample.exact {
        let needed = (1..64).find(|n| 2.0 * 0.5f64.powi(*n) <= alpha).unwrap_or(64);
        let percent = percent(1.0 - alpha);
        let text = format!("an interval of the median at {percent} confidence needs {needed} values");
        caveats.push(caveat("no-median-interval", text));
    }
    caveats
}

/// Where nothing varies, nothing tells how finely the values were measured.
pub(super) fn never_vary(constant: bool, inference: &Inference) -> Option<Caveat> {
    let text = "the values of both samples never vary, so how finely they were measured cannot be seen, and there is no \
                interval; if they cannot vary by chance, a line `Unit NAME assume=exact` in Go's format says so";
    let is_told = match inference.test {
        Test::Deterministic => false,
        Test::TooFew => inference.blocks >= 3,
        _ => inference.interval.is_none(),
    };
    (constant && is_told).then(|| caveat("never-vary", text.to_owned()))
}

/// Too few values for a test, for an interval, or for a difference that survives the correction.
pub(super) fn too_few(inference: &Inference, [n, other]: [u32; 2], rule: DecisionRule) -> Option<Caveat> {
    let (n, other) = (n.min(other), n.max(other));
    let percent = percent(1.0 - rule.alpha);
    let text = match inference.test {
        Test::TooFew if n < 3 => format!("{n} values are too few to infer anything from; at least 3 are needed"),
        Test::TooFew => "the values are so far apart that their differences cannot be computed".to_owned(),
        Test::Deterministic | Test::TooCoarse => return None,
        _ => {
            let alpha = rule.alpha / f64::from(rule.family.max(1));
            if smallest_p(n, other) <= alpha {
                return None;
            }
            let needed = needed(alpha);
            let among = if rule.family > 1 { format!(" among {} comparisons", rule.family) } else { String::new() };
            format!("{n} values can show nothing at {percent} confidence{among}; {needed} in each sample can")
        }
    };
    Some(caveat("too-few-values", text))
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
    let told = variant.n.min(baseline.n) >= SPREAD_MIN && inference.p.is_some();
    (told && wide > SPREADS_DIFFER * narrow).then(|| {
        let text = "one sample is spread more than three times as wide as the other: they differ by more than a shift, \
                    which is what the interval is for";
        caveat("spreads-differ", text.to_owned())
    })
}

/// The shift is a robust centre; the means may tell another story.
pub(super) fn means_disagree(comparison: &Comparison, rule: DecisionRule) -> Option<Caveat> {
    let means = comparison.ratio_of_means?.estimate;
    let apart = (means.ln() - comparison.estimate.ln()).abs() > rule.margin.ln_1p();
    apart.then(|| {
        let change = |ratio: f64| match ratio {
            0.1..=10.0 => format!("{:+.1} %", 100.0 * (ratio - 1.0)),
            _ => format!("a factor of {}", super::super::conclude::short(ratio, 2)),
        };
        let (typical, mean) = (change(comparison.estimate), change(means));
        let text = format!("typical and mean disagree: the typical value changes by {typical}, the mean by {mean}");
        caveat("typical-and-mean-disagree", text)
    })
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
