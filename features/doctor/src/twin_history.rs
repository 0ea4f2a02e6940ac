//! What the twins of many studies say about a machine: the twin is the baseline under another name, so its p-values
//! should be small only as often as p-values may be. A pure function of them.

use bakeoff_stats::proportion::{binomial_interval, too_small};
use serde::{Deserialize, Serialize};

/// The level at which twins are counted as different.
pub(crate) const LEVEL: f64 = 0.05;

/// Fewer blocks than this cannot show a difference at [`LEVEL`] by the exact test, so such studies say nothing here.
const LEAST_BLOCKS: u32 = 6;

/// Below this p the twins' p-values are called too small: every study asks again, so it is strict.
const SUSPICIOUS: f64 = 0.01;

/// The twin of one study, on the metric that decides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct TwinOfStudy {
    /// p of no difference from the baseline, uncorrected.
    pub(crate) p: f64,
    /// Number of blocks with both.
    pub(crate) blocks: u32,
}

/// What a machine's twins amount to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TwinHistory {
    /// Studies that count: with at least 6 blocks, and a p.
    pub(crate) studies: u32,
    /// Studies with fewer blocks, or without a usable p; left out.
    pub(crate) left_out: u32,
    /// Studies whose twin has p ≤ [`LEVEL`].
    pub(crate) differed: u32,
    /// Interval of confidence 0.95 for the part of all such studies whose twin differs (Clopper & Pearson); none if no
    /// study counts.
    pub(crate) interval: Option<[f64; 2]>,
    /// p of p-values as small as these on a sound machine, by the one-sided test of Kolmogorov and Smirnov: it is exact for
    /// continuous p-values and errs on the safe side for those of exact tests, which are multiples of 2^(1−blocks).
    /// None if no study counts.
    pub(crate) uniformity_p: Option<f64>,
    /// Whether the twins differ too often for a machine that can be trusted at [`LEVEL`].
    pub(crate) is_suspicious: bool,
    /// All of that in a sentence.
    pub(crate) sentence: String,
}

/// Sums up the twins of a machine, in any order.
///
/// It is suspicious if the p-values are too small at level 0.01, or if the interval of the rate lies above [`LEVEL`]. That they
/// are small too rarely is no fault: exact tests of few blocks promise at most the level, not the level.
pub(crate) fn twin_history(twins: &[TwinOfStudy]) -> TwinHistory {
    let counts = |twin: &&TwinOfStudy| twin.blocks >= LEAST_BLOCKS && (0.0..=1.0).contains(&twin.p);
    let p: Vec<f64> = twins.iter().filter(counts).map(|twin| twin.p).collect();
    let (studies, left_out) = (p.len() as u32, (twins.len() - p.len()) as u32);
    let differed = p.iter().filter(|p| **p <= LEVEL).count() as u32;
    let interval = binomial_interval(differed, studies, 0.05);
    let uniformity_p = too_small(&p);
    let is_suspicious = uniformity_p.is_some_and(|p| p < SUSPICIOUS) || interval.is_some_and(|[low, _]| low > LEVEL);
    let sentence = sentence(studies, differed, interval, is_suspicious);
    TwinHistory { studies, left_out, differed, interval, uniformity_p, is_suspicious, sentence }
}

fn sentence(studies: u32, differed: u32, interval: Option<[f64; 2]>, is_suspicious: bool) -> String {
    let Some([low, high]) = interval.map(|ends| ends.map(|end| 100.0 * end)) else {
        return format!("no study with a twin and at least {LEAST_BLOCKS} blocks yet");
    };
    let part = 100.0 * f64::from(differed) / f64::from(studies);
    let noun = if studies == 1 { "study" } else { "studies" };
    let rate =
        format!("the twin differed at 5 % in {differed} of {studies} {noun}: {part:.1} % ({low:.1}–{high:.1} %)");
    if is_suspicious {
        format!("{rate}; that is more than chance allows: do not trust small differences on this machine")
    } else {
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twins(p: impl IntoIterator<Item = f64>) -> TwinHistory {
        twin_history(&p.into_iter().map(|p| TwinOfStudy { p, blocks: 12 }).collect::<Vec<_>>())
    }

    /// `differed` p-values just below the level, the others evenly spread above it.
    fn mixed(differed: u32, of: u32) -> TwinHistory {
        let rest = of - differed;
        let spread = (0..rest).map(|i| LEVEL + (1.0 - LEVEL) * (f64::from(i) + 1.0) / f64::from(rest));
        twins((0..differed).map(|i| LEVEL * (f64::from(i) + 0.5) / f64::from(differed)).chain(spread))
    }

    #[test]
    fn sentences() {
        let check = |history: TwinHistory, expect: &str| assert_eq!(history.sentence, expect, "{history:?}");
        check(twins([]), "no study with a twin and at least 6 blocks yet");
        // scipy 1.17: binomtest(k, n).proportion_ci(method="exact").
        check(mixed(3, 41), "the twin differed at 5 % in 3 of 41 studies: 7.3 % (1.5–19.9 %)");
        check(mixed(0, 1), "the twin differed at 5 % in 0 of 1 study: 0.0 % (0.0–97.5 %)");
        check(
            mixed(10, 41),
            "the twin differed at 5 % in 10 of 41 studies: 24.4 % (12.4–40.3 %); that is more than chance allows: do not \
             trust small differences on this machine",
        );
    }

    #[test]
    fn what_counts() {
        let twin = |p, blocks| TwinOfStudy { p, blocks };
        let history = twin_history(&[twin(0.01, 5), twin(0.5, 6), twin(f64::NAN, 20), twin(1.5, 20), twin(0.04, 20)]);
        assert_eq!((history.studies, history.left_out, history.differed), (2, 3, 1));
        let none = twin_history(&[twin(0.01, 5)]);
        assert_eq!((none.studies, none.interval, none.uniformity_p, none.is_suspicious), (0, None, None, false));
    }

    #[test]
    fn suspicion() {
        let check = |history: TwinHistory, expect| assert_eq!(history.is_suspicious, expect, "{history:?}");
        check(mixed(2, 41), false);
        check(mixed(10, 41), true);
        // None is below 5 %, and yet they are far too small.
        check(twins((0..40).map(|i| 0.051 + 0.003 * f64::from(i))), true);
        // Too large is no fault; nor is one unlucky study.
        check(twins([1.0; 40]), false);
        check(twins([0.03]), false);
    }
}
