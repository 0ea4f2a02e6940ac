//! The scale, tested on itself: thousands of simulated studies whose truth is known, judged by the very code that judges
//! real ones. How often is a difference claimed where there is none, how often does an interval cover the truth, what
//! does the test see, what do other tools' methods say of the same data? [`goals`] is the table of what is promised.
//!
//! Unlike `stats/` it may draw chance from the model's streams. It is as pure: the same options give the same numbers,
//! on however many threads. It starts nothing and knows no clock; whoever waits is told how far it is.

mod families;
mod goals;
mod orders;
mod peers;
pub mod real;
mod simulate;
mod stopping;
mod studies;
mod ticks;
mod whole;
mod worlds;

pub use orders::{Order, Simulated};
pub use peers::{PeerCell, PeerRow, PeerTable, Surroundings};
pub use worlds::{WORLDS, World};

use serde::{Deserialize, Serialize};
use simulate::Simulation;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// What to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Studies in each world.
    pub studies: u32,
    /// The seed of all chance.
    pub seed: u64,
    /// A goal counts as reached unless the interval of the measured number, at 99.9 % confidence, excludes it. For
    /// numbers of studies that are too small to hold a measured number to its goal.
    pub short: bool,
}

/// All that the calibration found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// [`FORMAT`].
    pub format: u32,
    /// Studies in each world, where a cell does not say otherwise.
    pub studies: u32,
    /// The seed of all chance.
    pub seed: u64,
    /// Whether goals were widened by the error of simulation; see [`Options::short`].
    pub short: bool,
    /// What is promised, and what was measured.
    pub rows: Vec<Row>,
    /// What other methods make of data like these.
    pub peers: Vec<PeerTable>,
}

impl Calibration {
    /// True if every goal is reached.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }
}

/// One promise, in one or more worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A stable name for machines, such as `false-difference-5`.
    pub name: String,
    /// What is measured, for people.
    pub property: String,
    /// Of which studies: blocks, variants, effect.
    pub design: String,
    /// What kind of number it is.
    pub measure: Measure,
    /// What is promised of it; none for what is only shown.
    pub goal: Option<Goal>,
    /// World by world.
    pub cells: Vec<Cell>,
}

impl Row {
    /// True if it reaches its goal in every world.
    pub fn holds(&self) -> bool {
        self.cells.iter().all(|cell| cell.holds)
    }
}

/// What kind of number a row has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A part of all studies, from 0 to 1.
    Rate,
    /// Ours ÷ another's.
    Ratio,
}

/// The range in which a number must be, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Not less than this.
    pub least: Option<f64>,
    /// Not more than this.
    pub most: Option<f64>,
}

impl Goal {
    /// True if some of the range lies between `low` and `high`.
    pub fn meets(&self, low: f64, high: f64) -> bool {
        self.least.is_none_or(|least| high >= least) && self.most.is_none_or(|most| low <= most)
    }
}

/// One promise in one world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The world.
    pub world: World,
    /// Studies that were simulated.
    pub studies: u32,
    /// What was measured.
    pub measured: f64,
    /// How well it is known, at 95 % confidence: Clopper and Pearson's for a rate, Student's t over batches of studies for
    /// a ratio.
    pub interval: Option<[f64; 2]>,
    /// Whether the goal is reached; true if there is none.
    pub holds: bool,
}

/// Simulates and measures, on the threads of the present rayon pool. `watch` is told, from any of them, which part is
/// done, and says whether to go on; none if it said no.
pub fn calibrate(options: Options, watch: &(dyn Fn(f64) -> bool + Sync)) -> Option<Calibration> {
    let Options { studies, seed, short } = options;
    let simulation = Simulation::new(options, goals::cost(options) + peers::cost(options), watch);
    let rows = goals::measure(&simulation).ok()?;
    let peers = peers::measure(&simulation).ok()?;
    Some(Calibration { format: FORMAT, studies, seed, short, rows, peers })
}
