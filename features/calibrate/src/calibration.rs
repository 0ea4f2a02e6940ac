//! The scale, tested on itself: thousands of simulated studies whose truth is known, judged by the very code that judges
//! real ones. How often is a difference claimed where there is none, how often does an interval cover the truth, what
//! does the test see? [`goals`] is the table of what is promised.
//!
//! Unlike `stats/` it may draw chance from the model's streams. It is as pure: the same options give the same numbers,
//! on however many threads. It starts nothing and knows no clock; it reports progress to the caller.

mod boots;
mod families;
mod goals;
mod layouts;
mod levels;
mod node_goals;
mod nodes;
mod orders;
mod peer;
mod promise;
mod simulate;
mod stopping;
#[cfg(test)]
mod stopping_tests;
mod studies;
mod task;
#[cfg(test)]
mod tests;
mod ticks;
mod whole;
mod worlds;

pub use orders::{Order, Simulated};
pub use peer::{Judged, Peer};
pub use promise::{Cell, FORMAT, Goal, Measure, Options, Row};
pub use worlds::{WORLDS, World};

use serde::{Deserialize, Serialize};
use simulate::Simulation;

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
}

impl Calibration {
    /// True if every goal is reached.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }
}

/// Simulates and measures, on the threads of the present rayon pool. `watch` learns, from any of them, which part is
/// done, and says whether to go on; none if it said no.
pub fn calibrate(options: Options, watch: &(dyn Fn(f64) -> bool + Sync)) -> Option<Calibration> {
    let Options { studies, seed, short } = options;
    let simulation = Simulation::new(options, goals::cost(options), watch);
    let rows = goals::measure(&simulation).ok()?;
    Some(Calibration { format: FORMAT, studies, seed, short, rows })
}
