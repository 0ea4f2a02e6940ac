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
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinHistory {
    /// Whether the twins differ too often for a machine that can be trusted at [`LEVEL`].
    pub(crate) is_suspicious: bool,
    /// How often they differed, with the interval of confidence 0.95 (Clopper & Pearson).
    pub(crate) sentence: String,
}

/// Sums up the twins of a machine, in any order; those with fewer blocks than 6 or without a usable p are left out.
///
/// It is suspicious if the p-values are too small at level 0.01, by the one-sided test of Kolmogorov and Smirnov, or if the
/// interval of the rate lies above [`LEVEL`]. The test is exact for continuous p-values and errs on the safe side for those of
/// exact tests, which are multiples of 2^(1−blocks). That they are small too rarely is no fault: exact tests of few blocks
/// promise at most the level, not the level.
pub(crate) fn twin_history(twins: &[TwinOfStudy]) -> TwinHistory {
    let counts = |twin: &&TwinOfStudy| twin.blocks >= LEAST_BLOCKS && (0.0..=1.0).contains(&twin.p);
    let p: Vec<f64> = twins.iter().filter(counts).map(|twin| twin.p).collect();
    let (studies, differed) = (p.len() as u32, p.iter().filter(|p| **p <= LEVEL).count() as u32);
    let Some([low, high]) = binomial_interval(differed, studies, 0.05) else {
        let sentence = format!("no finished study with a twin and at least {LEAST_BLOCKS} blocks yet");
        return TwinHistory { is_suspicious: false, sentence };
    };
    let is_suspicious = low > LEVEL || too_small(&p).is_some_and(|p| p < SUSPICIOUS);
    let [part, low, high] = [f64::from(differed) / f64::from(studies), low, high].map(|part| 100.0 * part);
    let noun = if studies == 1 { "study" } else { "studies" };
    let end = if is_suspicious {
        "; the twins' p-values are smaller than chance explains, so do not trust small differences on this machine"
    } else {
        ""
    };
    let sentence = format!(
        "the twin differed at the 5 % level in {differed} of {studies} {noun}: {part:.1} % ({low:.1}–{high:.1} %){end}"
    );
    TwinHistory { is_suspicious, sentence }
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
        check(twins([]), "no finished study with a twin and at least 6 blocks yet");
        // scipy 1.17: binomtest(k, n).proportion_ci(method="exact").
        check(mixed(3, 41), "the twin differed at the 5 % level in 3 of 41 studies: 7.3 % (1.5–19.9 %)");
        check(mixed(0, 1), "the twin differed at the 5 % level in 0 of 1 study: 0.0 % (0.0–97.5 %)");
        check(
            mixed(10, 41),
            "the twin differed at the 5 % level in 10 of 41 studies: 24.4 % (12.4–40.3 %); the twins' p-values are \
             smaller than chance explains, so do not trust small differences on this machine",
        );
    }

    #[test]
    fn what_counts() {
        let twin = |p, blocks| TwinOfStudy { p, blocks };
        let history = twin_history(&[twin(0.01, 5), twin(0.5, 6), twin(f64::NAN, 20), twin(1.5, 20), twin(0.04, 20)]);
        assert!(history.sentence.contains("in 1 of 2 studies"), "{history:?}");
        let none = twin_history(&[twin(0.01, 5)]);
        assert_eq!((none.sentence, none.is_suspicious), (twins([]).sentence, false));
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
