//! The types of a promise: what is simulated for it, the goal, and what was measured in each world. They are what
//! [`super::Calibration`] is made of. Nothing is simulated or promised here; [`super::goals`] has the promises.

use super::worlds::World;
use serde::{Deserialize, Serialize};

/// The version of the format of [`super::Calibration`].
pub const FORMAT: u32 = 2;

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
    /// What is promised of it.
    pub goal: Goal,
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
    /// Whether the goal is reached.
    pub holds: bool,
}
