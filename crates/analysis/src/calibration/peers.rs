//! Other tools' methods on the same data: what ministat, benchstat and a bootstrap would have said of the simulated studies,
//! and what we say. Each is the method by the book, with what is known of the tool; none is the tool itself.

use super::Options;
use super::orders::{Order, Simulated};
use super::simulate::{Simulation, Stopped};
use super::studies::ALPHA;
use super::worlds::World;
use crate::stats::bootstrap::Resampled;
use crate::stats::describe::{mean, median, sd};
use crate::stats::proportion::binomial_interval;
use crate::stats::rank::{MannWhitney, SignedRank};
use crate::stats::signflip::SignFlip;
use crate::stats::student::{MeanT, t_quantile};
use bakeoff_model::shuffle::Stream;
use serde::{Deserialize, Serialize};

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
    /// Wilcoxon's signed ranks of the paired differences of logarithms, with the interval of Walsh averages.
    SignedRank,
    /// The bootstrap's percentile interval for the ratio of means, sides resampled apart, as criterion does.
    Percentile,
    /// The bootstrap's BCa interval for the mean of the paired differences of logarithms.
    Bca,
    /// The winsorised sign-flip test.
    SignFlip,
}

const PEERS: [Peer; 8] = [
    Peer::PooledT,
    Peer::Welch,
    Peer::MannWhitney,
    Peer::PairedLogT,
    Peer::SignedRank,
    Peer::Percentile,
    Peer::Bca,
    Peer::SignFlip,
];

/// Resamples of a bootstrap, and which part of the studies it gets: one in so many.
pub(super) const RESAMPLES: usize = 1000;
const BOOTSTRAP_ONE_IN: u32 = 8;

/// Blocks of every study.
const BLOCKS: usize = 10;
/// A true difference of 2 %, for power.
const EFFECT: f64 = 1.02;

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
    fn name(self) -> &'static str {
        match self {
            Self::PooledT => "pooled t (ministat)",
            Self::Welch => "Welch's t",
            Self::MannWhitney => "Mann-Whitney (benchstat)",
            Self::PairedLogT => "paired t of logarithms",
            Self::SignedRank => "signed ranks, paired",
            Self::Percentile => "percentile bootstrap (criterion)",
            Self::Bca => "BCa bootstrap, paired",
            Self::SignFlip => "sign-flip test (ours)",
        }
    }

    fn is_bootstrap(self) -> bool {
        matches!(self, Self::Percentile | Self::Bca)
    }

    /// Ours is a claim about randomised blocks, and is not made of anything else.
    fn judges(self, order: Order) -> bool {
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
            Self::SignedRank => {
                let Some(test) = SignedRank::new(&study.contrasts(0, 1)) else { return Judged::of_logs(None) };
                Judged { differs: test.p(0.0) <= ALPHA, ..Judged::of_logs(test.interval(ALPHA)) }
            }
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

/// What the methods say of studies of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerTable {
    /// Blocks of every study, of two variants.
    pub blocks: u32,
    /// True ratio where power is measured.
    pub effect: f64,
    /// Resamples of a bootstrap.
    pub resamples: u32,
    /// The columns.
    pub surroundings: Vec<Surroundings>,
    /// Method by method.
    pub rows: Vec<PeerRow>,
}

/// Noise, and the order of trials in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The noise.
    pub world: World,
    /// The order.
    pub order: Order,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerRow {
    /// The method, and a tool that uses it.
    pub method: String,
    /// For each of the surroundings; none where the method makes no claim.
    pub cells: Vec<Option<PeerCell>>,
}

/// One method in one kind of surroundings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerCell {
    /// Studies that were simulated.
    pub studies: u32,
    /// Part of them in which it calls two variants different that are the same, at 5 %.
    pub false_differences: f64,
    /// How well that is known: Clopper and Pearson's interval at 95 % confidence.
    pub interval: Option<[f64; 2]>,
    /// Part of them in which it sees a true difference.
    pub power: f64,
    /// Median width of its 95 % interval, as a part of the value; none if it has none.
    pub width: Option<f64>,
}

const SURROUNDINGS: [Surroundings; 7] = [
    Surroundings { world: World::Normal, order: Order::Randomised },
    Surroundings { world: World::Spiky, order: Order::Randomised },
    Surroundings { world: World::Drift, order: Order::Sequential },
    Surroundings { world: World::Drift, order: Order::Alternating },
    Surroundings { world: World::Drift, order: Order::Randomised },
    Surroundings { world: World::Mixed, order: Order::Sequential },
    Surroundings { world: World::Mixed, order: Order::Randomised },
];

/// Processor time of one study in microseconds, roughly.
const COST: f64 = 150.0;
const BOOTSTRAP_COST: f64 = 500.0;

fn bootstrap_studies(options: Options) -> u32 {
    (options.studies / BOOTSTRAP_ONE_IN).max(1)
}

/// What the tables cost, in the unit of [`super::goals::cost`].
pub(super) fn cost(options: Options) -> f64 {
    let each = f64::from(options.studies) * COST + f64::from(bootstrap_studies(options)) * BOOTSTRAP_COST;
    SURROUNDINGS.len() as f64 * each
}

/// Simulates and judges; all methods see the same studies, a bootstrap the first of them.
pub(super) fn measure(simulation: &Simulation<'_>) -> Result<Vec<PeerTable>, Stopped> {
    let mut rows: Vec<PeerRow> =
        PEERS.iter().map(|peer| PeerRow { method: peer.name().to_owned(), cells: vec![] }).collect();
    for surroundings in SURROUNDINGS {
        let cells = cells(surroundings, simulation)?;
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.cells.push(cell));
    }
    let table = PeerTable {
        blocks: BLOCKS as u32,
        effect: EFFECT,
        resamples: RESAMPLES as u32,
        surroundings: SURROUNDINGS.to_vec(),
        rows,
    };
    Ok(vec![table])
}

/// The same study without a difference and with one, as a method judges them.
type Both = [Judged; 2];

fn cells(surroundings: Surroundings, simulation: &Simulation<'_>) -> Result<Vec<Option<PeerCell>>, Stopped> {
    let Surroundings { world, order } = surroundings;
    let judge = |peers: Vec<Peer>| {
        move |stream: &mut Stream| -> Vec<Both> {
            let same = Simulated::new(world, order, BLOCKS, &[0.0, 0.0], stream);
            let slower = same.with(1, EFFECT.ln());
            peers.iter().map(|peer| [peer.judge(&same, stream), peer.judge(&slower, stream)]).collect()
        }
    };
    let of_kind = |bootstrap: bool| {
        PEERS.into_iter().filter(|peer| peer.is_bootstrap() == bootstrap && peer.judges(order)).collect::<Vec<_>>()
    };
    let place = ["peers", world.name(), order.name()];
    let options = simulation.options;
    let plain = simulation.each(&place, options.studies, COST, judge(of_kind(false)))?;
    let bootstrap = simulation.each(&place, bootstrap_studies(options), BOOTSTRAP_COST, judge(of_kind(true)))?;
    let cell = |peer: Peer| {
        let studies = if peer.is_bootstrap() { &bootstrap } else { &plain };
        let place = of_kind(peer.is_bootstrap()).into_iter().position(|other| other == peer)?;
        Some(PeerCell::of(&studies.iter().map(|judged| judged[place]).collect::<Vec<_>>()))
    };
    Ok(PEERS.into_iter().map(cell).collect())
}

impl PeerCell {
    fn of(studies: &[Both]) -> Self {
        let n = studies.len();
        let part = |which: usize| studies.iter().filter(|both| both[which].differs).count();
        let widths: Vec<f64> = studies.iter().filter_map(|both| both[0].width).collect();
        Self {
            studies: n as u32,
            false_differences: part(0) as f64 / n as f64,
            interval: binomial_interval(part(0) as u32, n as u32, 0.05),
            power: part(1) as f64 / n as f64,
            width: median(&widths),
        }
    }
}

#[cfg(test)]
mod tests {
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
