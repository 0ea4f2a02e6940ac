//! Methods of other tools and textbooks of comparing two variants, next to those that promises are about. Each is the
//! method by the book, with what is known of the tool; none is the tool itself.

use super::bootstrap::Resampled;
use bakeoff_calibrate::calibration::{Judged, Order, Peer, Simulated};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::student::MeanT;

pub(crate) const ALPHA: f64 = 0.05;
/// Resamples of a bootstrap.
pub(crate) const RESAMPLES: usize = 1000;

/// A method of comparing two variants, at 5 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// One that promises are about.
    Of(Peer),
    /// Student's t with a variance for each side and Welch's degrees of freedom (Welch 1947).
    Welch,
    /// Student's t on the paired differences of logarithms.
    PairedLogT,
    /// The bootstrap's percentile interval for the ratio of means, sides resampled apart, as criterion does.
    Percentile,
    /// The bootstrap's BCa interval for the mean of the paired differences of logarithms.
    Bca,
}

impl Method {
    pub(crate) const ALL: [Self; 7] = [
        Self::Of(Peer::PooledT),
        Self::Welch,
        Self::Of(Peer::MannWhitney),
        Self::PairedLogT,
        Self::Percentile,
        Self::Bca,
        Self::Of(Peer::SignFlip),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Of(Peer::PooledT) => "pooled t (ministat)",
            Self::Welch => "Welch's t",
            Self::Of(Peer::MannWhitney) => "Mann-Whitney (benchstat)",
            Self::PairedLogT => "paired t of logarithms",
            Self::Percentile => "percentile bootstrap (criterion)",
            Self::Bca => "BCa bootstrap, paired",
            Self::Of(Peer::SignFlip) => "sign-flip test (ours)",
        }
    }

    pub(crate) fn is_bootstrap(self) -> bool {
        matches!(self, Self::Percentile | Self::Bca)
    }

    /// Ours is a claim about randomised blocks, and is not made of anything else.
    pub(crate) fn judges(self, order: Order) -> bool {
        self != Self::Of(Peer::SignFlip) || order == Order::Randomised
    }

    /// Compares the second variant of a study with the first. `stream` is for resampling.
    pub(crate) fn judge(self, study: &Simulated, stream: &mut Stream) -> Judged {
        match self {
            Self::Of(peer) => peer.judge(study),
            Self::Welch => Judged::two_sample_t(study, |[a, b], n| {
                let (a, b) = (a * a / n, b * b / n);
                (a + b, (a + b).powi(2) * (n - 1.0) / (a * a + b * b))
            }),
            Self::PairedLogT => Judged::of_logs(MeanT::new(&study.contrasts(0, 1)).and_then(|t| t.interval(ALPHA))),
            Self::Percentile => Judged::of_logs(percentile(study, stream)),
            Self::Bca => Judged::of_logs(bca(&study.contrasts(0, 1), stream)),
        }
    }
}

/// A whole number below `n`.
fn below(stream: &mut Stream) -> impl FnMut(usize) -> usize {
    |n| stream.below(n as u64) as usize
}

/// Of the logarithm of the ratio of means.
fn percentile(study: &Simulated, stream: &mut Stream) -> Option<[f64; 2]> {
    let means = |values: Vec<f64>, stream: &mut Stream| -> Vec<f64> {
        let mut draw = below(stream);
        let n = values.len();
        (0..RESAMPLES).map(|_| (0..n).map(|_| values[draw(n)]).sum::<f64>() / n as f64).collect()
    };
    let (a, b) = (means(study.values(0), stream), means(study.values(1), stream));
    let ratios = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
    Some(Resampled::of(ratios)?.percentile(ALPHA))
}

fn bca(contrasts: &[f64], stream: &mut Stream) -> Option<[f64; 2]> {
    Resampled::means(contrasts, RESAMPLES, below(stream))?.bca(contrasts, ALPHA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_calibrate::calibration::World;

    /// R 4.2: `t.test(b, a, var.equal = TRUE)`, `t.test(b, a)`, `t.test(log(b) - log(a))`; p = 0.0536, 0.0705, 0.0678, and the
    /// widths of the intervals, of the first two as a part of mean(a), of the third after `exp`.
    #[test]
    fn the_t_tests_are_those_of_r() {
        let (a, b) = ([10.1f64, 9.8, 10.4, 10.0, 9.9], [10.6f64, 10.2, 10.9, 10.1, 11.5]);
        // In blocks: the values of a block stand next to each other.
        let logs: Vec<f64> = a.iter().zip(&b).flat_map(|(a, b)| [a.ln(), b.ln()]).collect();
        let slots: Vec<Vec<usize>> = (0..a.len()).map(|block| vec![2 * block, 2 * block + 1]).collect();
        let study = Simulated::dealt(&logs, &slots);
        let slower = study.with(1, 0.02);
        let check = |method: Method, width: f64| {
            let stream = &mut Stream::of(1, &[]);
            let judged = method.judge(&study, stream);
            assert!((judged.width.unwrap() - width).abs() < 1e-9, "{method:?}: {judged:?}, not {width}");
            assert!(!judged.differs && method.judge(&slower, stream).differs, "{method:?}");
        };
        check(Method::Of(Peer::PooledT), 0.125_969_465_004);
        check(Method::Welch, 0.138_224_704_561);
        check(Method::PairedLogT, 0.139_945_509_188);
    }

    /// With many values an interval of the bootstrap is close to Student's; neither is ours to trust with ten.
    #[test]
    fn with_many_values_the_bootstrap_agrees_with_t() {
        let stream = &mut Stream::of(1, &[]);
        let study = Simulated::new(World::Normal, Order::Randomised, 400, &[0.0, 0.0], stream);
        let t = Method::PairedLogT.judge(&study, stream).width.unwrap();
        for method in [Method::Percentile, Method::Bca] {
            let width = method.judge(&study, stream).width.unwrap();
            assert!((width / t - 1.0).abs() < 0.15, "{method:?}: {width}, t: {t}");
        }
    }

    #[test]
    fn ours_is_made_of_randomised_blocks_only() {
        let ours = Method::Of(Peer::SignFlip);
        assert!(ours.judges(Order::Randomised));
        assert!(!ours.judges(Order::Sequential) && !ours.judges(Order::Alternating));
    }
}
