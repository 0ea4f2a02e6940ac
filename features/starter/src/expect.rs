//! Runs the workload of a new study on the plain build: twice, to see whether it prints the same, and then for some seconds
//! more, to see how much its time varies. Nothing of this is part of a result; it only helps to choose what is in the file.

use crate::fault::Fault;
use crate::stage::{Ended, Stage};
use crate::workload::Workload;
use bakeoff_judge::planning::{Aim, from_sd, with_layouts};
use std::path::Path;

/// It is run again for this long, in seconds, and no more often than this.
const AGAIN_S: f64 = 3.0;
const MOST: usize = 12;
/// Larger outputs are compared in trials, but are not kept as a file.
const MOST_BYTES: usize = 1 << 20;

/// What was seen.
pub(crate) struct Observed {
    /// What it printed both times; none if that differed or is large.
    pub(crate) output: Option<Vec<u8>>,
    pub(crate) varies: bool,
    /// Elapsed times, in seconds.
    pub(crate) walls: Vec<f64>,
}

/// Runs it; or why it fails, in words.
///
/// # Errors
/// Those of the launcher, and of files.
pub(crate) fn execute(workload: &Workload, dir: &Path, prefix: &Path) -> Result<Observed, Fault> {
    let mut stage = Stage::new(dir, prefix)?;
    let mut once = || -> Result<Ended, Fault> {
        let home = stage.prepared(workload)?;
        stage.execute(&workload.run, home.path())
    };
    let (first, second) = (once()?, once()?);
    let mut walls = vec![first.wall_s, second.wall_s];
    while walls.len() < MOST && walls.iter().sum::<f64>() < AGAIN_S {
        walls.push(once().map_err(|fault| fault.after("in some runs, "))?.wall_s);
    }
    let varies = first.stdout != second.stdout;
    let output = (!varies && first.stdout.len() <= MOST_BYTES).then_some(first.stdout);
    Ok(Observed { output, varies, walls })
}

/// What layouts alone are worth to a program, as a standard deviation: a guess until a study has measured it.
const LAYOUTS: f64 = 0.015;

impl Observed {
    /// The middle of the times, in seconds.
    pub(crate) fn median_s(&self) -> f64 {
        let mut sorted = self.walls.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// About how many blocks it takes to see a difference of 1 % between that many variants; none if that cannot be known.
    pub(crate) fn blocks_for_one_percent(&self, variants: usize) -> Option<u32> {
        // The first ones may have had to load files.
        let logs: Vec<f64> = self.walls.iter().skip(1).map(|wall_s| wall_s.ln()).collect();
        if logs.len() < 4 {
            return None;
        }
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let square = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (logs.len() - 1) as f64;
        let family = u32::try_from(variants.saturating_sub(1)).unwrap_or(1);
        let aim = Aim { see: vec![0.01], power: 0.8, margin: 0.01, confidence: 0.95, family };
        // A ratio has the spread of both of its times and layouts: programs of other options have other ones.
        let planning = from_sd(aim, with_layouts((2.0 * square).sqrt(), LAYOUTS));
        planning.rows.first().and_then(|row| row.to_see.first().copied().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_spread_takes_more_blocks() {
        let blocks = |spread: f64| {
            let walls = (0..9).map(|n| 1.0 + spread * f64::from(n % 3)).collect();
            Observed { output: None, varies: false, walls }.blocks_for_one_percent(4)
        };
        assert!(blocks(0.001) < blocks(0.01) && blocks(0.01) < blocks(0.1), "{:?}", blocks(0.01));
        assert_eq!(Observed { output: None, varies: false, walls: vec![1.0; 4] }.blocks_for_one_percent(2), None);
    }
}
