//! Other tools' methods of comparing two variants, and ours: what ministat, benchstat and a bootstrap would say of one
//! study. Each is the method by the book, with what is known of the tool; none is the tool itself. How often they are
//! right is counted in [`super::peers`].

use super::bootstrap::Resampled;
use super::levels::ALPHA;
use super::orders::{Order, Simulated};
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::{mean, sd};
use bakeoff_stats::rank::MannWhitney;
use bakeoff_stats::signflip::SignFlip;
use bakeoff_stats::student::{MeanT, t_quantile};

/// A method of comparing two variants, at 5 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// Student's t with pooled variance on the values, as ministat: knows no order.
    PooledT,
    /// Student's t with a variance for each side and Welch's degrees of freedom (Welch 1947).
    Welch,
    /// Mann and Whitney's test of the logarithms, with Hodges and Lehmann's interval, as benchstat tests: knows no order.
    MannWhitney,
    /// Student's t on the paired differences of logarithms.
    PairedLogT,
    /// The bootstrap's percentile interval for the ratio of means, sides resampled apart, as criterion does.
    Percentile,
    /// The bootstrap's BCa interval for the mean of the paired differences of logarithms.
    Bca,
    /// The winsorised sign-flip test.
    SignFlip,
}

/// Resamples of a bootstrap.
pub(super) const RESAMPLES: usize = 1000;

/// What a method says of a study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    pub(super) differs: bool,
    /// Width of its interval at 95 % confidence, as a part of the value; none if it has none.
    pub(super) width: Option<f64>,
}

impl Judged {
    /// From an interval of a difference of logarithms.
    fn of_logs(interval: Option<[f64; 2]>) -> Self {
        Self {
            differs: interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0),
            width: interval.map(|[low, high]| high.exp() - low.exp()),
        }
    }
}

impl Peer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::PooledT => "pooled t (ministat)",
            Self::Welch => "Welch's t",
            Self::MannWhitney => "Mann-Whitney (benchstat)",
            Self::PairedLogT => "paired t of logarithms",
            Self::Percentile => "percentile bootstrap (criterion)",
            Self::Bca => "BCa bootstrap, paired",
            Self::SignFlip => "sign-flip test (ours)",
        }
    }

    pub(super) fn is_bootstrap(self) -> bool {
        matches!(self, Self::Percentile | Self::Bca)
    }

    /// Ours is a claim about randomised blocks, and is not made of anything else.
    pub(super) fn judges(self, order: Order) -> bool {
        self != Self::SignFlip || order == Order::Randomised
    }

    /// Compares the second variant of a study with the first. `stream` is for resampling.
    pub(super) fn judge(self, study: &Simulated, stream: &mut Stream) -> Judged {
        match self {
            Self::PooledT => two_sample_t(study, |[a, b], n| ((a * a + b * b) / n, 2.0 * (n - 1.0))),
            Self::Welch => two_sample_t(study, |[a, b], n| {
                let (a, b) = (a * a / n, b * b / n);
                (a + b, (a + b).powi(2) * (n - 1.0) / (a * a + b * b))
            }),
            Self::PairedLogT => Judged::of_logs(MeanT::new(&study.contrasts(0, 1)).and_then(|t| t.interval(ALPHA))),
            Self::MannWhitney => mann_whitney(study),
            Self::Percentile => Judged::of_logs(percentile(study, stream)),
            Self::Bca => Judged::of_logs(bca(&study.contrasts(0, 1), stream)),
            Self::SignFlip => {
                let Some(mut test) = SignFlip::new(&study.contrasts(0, 1), 0) else { return Judged::of_logs(None) };
                Judged { differs: test.p(0.0) <= ALPHA, ..Judged::of_logs(test.interval(ALPHA)) }
            }
        }
    }
}

/// A two-sample t test of the values, with the squared standard error and the degrees of freedom that come of both standard
/// deviations and n. Its width is a part of the first variant's mean, as ministat has it.
fn two_sample_t(study: &Simulated, error: impl Fn([f64; 2], f64) -> (f64, f64)) -> Judged {
    let (a, b) = (study.values(0), study.values(1));
    let half = sd(&a).zip(sd(&b)).and_then(|(sd_a, sd_b)| {
        let (squared, degrees_of_freedom) = error([sd_a, sd_b], a.len() as f64);
        Some(t_quantile(1.0 - ALPHA / 2.0, degrees_of_freedom)? * squared.sqrt())
    });
    let difference = mean(&b) - mean(&a);
    Judged { differs: half.is_some_and(|half| difference.abs() > half), width: half.map(|half| 2.0 * half / mean(&a)) }
}

fn mann_whitney(study: &Simulated) -> Judged {
    let [a, b] = [0, 1].map(|variant| {
        let mut ascending = study.logs(variant).to_vec();
        ascending.sort_by(f64::total_cmp);
        ascending
    });
    let Some(test) = MannWhitney::new(&b, &a) else { return Judged::of_logs(None) };
    Judged { differs: test.p() <= ALPHA, ..Judged::of_logs(test.interval(ALPHA)) }
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
    use super::super::worlds::World;
    use super::*;

    /// R 4.2: `t.test(b, a, var.equal = TRUE)`, `t.test(b, a)`, `t.test(log(b) - log(a))`; p = 0.0536, 0.0705, 0.0678, and the
    /// widths of the intervals, of the first two as a part of mean(a), of the third after `exp`.
    #[test]
    fn the_t_tests_are_those_of_r() {
        let (a, b) = ([10.1, 9.8, 10.4, 10.0, 9.9], [10.6, 10.2, 10.9, 10.1, 11.5]);
        let study = Simulated::of_values(&[&a, &b]);
        let slower = study.with(1, 0.02);
        let check = |peer: Peer, width: f64| {
            let stream = &mut Stream::of(1, &[]);
            let judged = peer.judge(&study, stream);
            assert!((judged.width.unwrap() - width).abs() < 1e-9, "{peer:?}: {judged:?}, not {width}");
            assert!(!judged.differs && peer.judge(&slower, stream).differs, "{peer:?}");
        };
        check(Peer::PooledT, 0.125_969_465_004);
        check(Peer::Welch, 0.138_224_704_561);
        check(Peer::PairedLogT, 0.139_945_509_188);
    }

    /// With many values an interval of the bootstrap is close to Student's; neither is ours to trust with ten.
    #[test]
    fn with_many_values_the_bootstrap_agrees_with_t() {
        let stream = &mut Stream::of(1, &[]);
        let study = Simulated::new(World::Normal, Order::Randomised, 400, &[0.0, 0.0], stream);
        let t = Peer::PairedLogT.judge(&study, stream).width.unwrap();
        for peer in [Peer::Percentile, Peer::Bca] {
            let width = peer.judge(&study, stream).width.unwrap();
            assert!((width / t - 1.0).abs() < 0.15, "{peer:?}: {width}, t: {t}");
        }
    }

    #[test]
    fn ours_is_made_of_randomised_blocks_only() {
        assert!(Peer::SignFlip.judges(Order::Randomised));
        assert!(!Peer::SignFlip.judges(Order::Sequential) && !Peer::SignFlip.judges(Order::Alternating));
    }
}
