//! Marks: what a workload tells of itself while it executes, one line each, on the descriptor that `$BAKEOFF_MARKS`
//! names. This reads the lines and keeps what they amount to: phases, latencies of ops, values. It reads text with the
//! times at which it came; how it comes is the host's business.

use serde::{Deserialize, Serialize};

/// Bytes that came in one piece, and when.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunk {
    /// When they were read, in seconds since the launch.
    pub at_s: f64,
    /// Any number of lines, or parts of lines.
    pub bytes: Vec<u8>,
}

/// What one trial's marks amount to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Marks {
    /// The phases, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
}

/// A named interval inside a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began, in seconds since the launch.
    pub began_s: f64,
    /// When it ended: with the next one, or with the trial.
    pub ended_s: f64,
}

impl Marks {
    /// Whether nothing was marked.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    /// The value of a metric of phases and ops, such as `scan.wall`; none if it was not marked.
    pub fn value(&self, name: &str) -> Option<f64> {
        let phase = name.strip_suffix(".wall")?;
        let of_phase = self.phases.iter().filter(|p| p.name == phase);
        of_phase.map(|p| p.ended_s - p.began_s).reduce(|sum, s| sum + s)
    }
}
