//! The table of other tools' methods and ours, all on the same simulated studies: how often each claims a difference,
//! and how wide its interval is. The methods themselves are in [`super::peer`]; nothing is promised of them.

use super::orders::{Order, Simulated};
use super::peer::{Judged, Peer, RESAMPLES};
use super::promise::Options;
use super::simulate::{Simulation, Stopped};
use super::worlds::World;
use bakeoff_model::shuffle::Stream;
use bakeoff_stats::describe::median;
use bakeoff_stats::proportion::binomial_interval;
use serde::{Deserialize, Serialize};

const PEERS: [Peer; 7] =
    [Peer::PooledT, Peer::Welch, Peer::MannWhitney, Peer::PairedLogT, Peer::Percentile, Peer::Bca, Peer::SignFlip];

/// The part of the studies that a bootstrap gets: one in this many.
const BOOTSTRAP_ONE_IN: u32 = 8;

/// Blocks of every study.
const BLOCKS: usize = 10;
/// A true difference of 2 %, for power.
const EFFECT: f64 = 1.02;

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
