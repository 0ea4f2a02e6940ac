//! How long trials usually take, by the journals that are there. For estimates only; no verdict depends on it.

use bakeoff_model::metric;
use bakeoff_model::record::Record;
use std::collections::BTreeMap;

/// Elapsed times of the trials in some journals; for estimates.
#[derive(Debug, Default)]
pub struct Walls {
    /// Sum in seconds and number, by workload and condition.
    cells: BTreeMap<(String, String), (f64, u32)>,
}

impl Walls {
    /// The mean of a workload under a condition, in seconds; none if there is no trial of it.
    pub fn of(&self, workload: &str, condition: &str) -> Option<f64> {
        let (sum_s, number) = self.cells.get(&(workload.to_owned(), condition.to_owned()))?;
        Some(sum_s / f64::from(*number))
    }
}

/// What some journals tell of how long trials take.
pub fn usual_walls(records: &[Record]) -> Walls {
    let mut walls = Walls::default();
    for record in records.iter().filter(|record| record.study.simulated.is_none()) {
        for trial in &record.without_building().trials {
            let Some(wall_s) = trial.value(metric::WALL) else { continue };
            let (sum_s, number) = walls.cells.entry((trial.workload.clone(), trial.condition.clone())).or_default();
            *sum_s += wall_s;
            *number += 1;
        }
    }
    walls
}
