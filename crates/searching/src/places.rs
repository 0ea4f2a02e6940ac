//! The effects of places in blocks of two and three: the first run of a block may take longer. They are fitted to pairs
//! whose difference is known, and used in the next blocks. Without that, a place doubles the variance of such small blocks.

use bakeoff_stats::cholesky;

/// First, second of three, last.
const PLACES: usize = 3;

/// Imaginary blocks without an effect.
const SHRINKAGE: f64 = 4.0;

/// Least squares, a block at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    matrix: [f64; PLACES * PLACES],
    right: [f64; PLACES],
    effects: [f64; PLACES],
}

impl Places {
    /// Values of a block without the effects of their places.
    pub(crate) fn corrected(&self, values: &[f64]) -> Vec<f64> {
        values.iter().enumerate().map(|(at, value)| value - self.effects[place(at, values.len())]).collect()
    }

    /// Takes by how much more than expected the run at the second of two positions took than that at the first.
    pub(crate) fn take(&mut self, positions: [usize; 2], runs: usize, surprise: f64) {
        let [before, after] = positions.map(|at| place(at, runs));
        for (one, sign) in [(before, -1.0), (after, 1.0)] {
            self.right[one] += sign * surprise;
            for (other, other_sign) in [(before, -1.0), (after, 1.0)] {
                self.matrix[one * PLACES + other] += sign * other_sign;
            }
        }
        let mut ridge = self.matrix;
        (0..PLACES).for_each(|at| ridge[at * PLACES + at] += SHRINKAGE);
        if let Some(effects) = cholesky::solve(&ridge, &self.right) {
            self.effects.copy_from_slice(&effects);
        }
    }
}

fn place(at: usize, runs: usize) -> usize {
    match at {
        0 => 0,
        at if at + 1 == runs => 2,
        _ => 1,
    }
}
