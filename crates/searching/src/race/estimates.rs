//! What a race knows before a block: who leads, how much values spread, and what a place in the order costs. All of it may
//! choose and scale bets, because it is fixed before the block; none of it is an estimate to report.

use bakeoff_stats::describe::{MAD_TO_SD, median};

/// Deviations count as at most this many scales.
const CLIP: f64 = 3.0;

/// Imaginary runs without an effect of the place, so that few runs do not make one.
const SHRINKAGE: f64 = 4.0;

/// The places whose effects are estimated: first, second, last, any other.
const PLACES: usize = 4;

/// What is known of the variants.
#[derive(Debug, Clone, Default)]
pub(super) struct Estimates {
    /// Blocks in which a variant gave a value.
    pub(super) blocks: Vec<u32>,
    /// Distance from the blocks' effects: a mean of clipped values.
    centres: Vec<f64>,
    /// |residual about the own centre|, ascending.
    residuals: Vec<f64>,
    /// √2 · 1.4826 · the median of |residual|: the spread of a difference of two runs. 0 while it is unknown.
    pub(super) scale: f64,
    /// Sum of residuals and number of runs, by place.
    places: [[f64; 2]; PLACES],
}

impl Estimates {
    pub(super) fn new(variants: usize) -> Self {
        Self { blocks: vec![0; variants], centres: vec![0.0; variants], ..Self::default() }
    }

    /// The least is the best; one without a value is the last.
    pub(super) fn centre(&self, variant: usize) -> f64 {
        if self.blocks[variant] == 0 { f64::INFINITY } else { self.centres[variant] }
    }

    /// Values of a block without the effects of their places, which are fixed before.
    pub(super) fn corrected(&self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        let effect = |at: usize| {
            let [sum, runs] = self.places[place(at, values.len())];
            sum / (runs + SHRINKAGE)
        };
        values.iter().enumerate().map(|(at, value)| value.map(|value| value - effect(at))).collect()
    }

    /// Takes a block: the variants in their order, with values corrected and as they were.
    pub(super) fn take(&mut self, variants: &[usize], corrected: &[Option<f64>], raw: &[Option<f64>]) {
        let Some(residuals) = self.residuals_of(variants, corrected) else { return };
        // A residual about a centre of n values is wider by √(1 + 1/n).
        for (variant, residual) in variants.iter().zip(&residuals) {
            let n = f64::from(self.blocks[*variant]);
            let width = (n / (n + 1.0)).sqrt();
            if let Some(residual) = residual.filter(|_| n > 0.0).map(|residual| width * residual.abs()) {
                self.residuals.insert(self.residuals.partition_point(|other| *other < residual), residual);
            }
        }
        let is_known = self.scale > 0.0 && !self.residuals.is_empty();
        let bound = if is_known { CLIP * self.scale } else { f64::INFINITY };
        if is_known {
            self.take_places(variants, raw, bound);
        }
        self.move_centres(variants, &residuals, bound);
        let middle = match self.residuals.len() {
            // After the first block only the spread between variants is known: too wide, which is harmless.
            0 => median(&residuals.iter().flatten().map(|x| x.abs()).collect::<Vec<f64>>()).unwrap_or(0.0),
            n => f64::midpoint(self.residuals[(n - 1) / 2], self.residuals[n / 2]),
        };
        self.scale = std::f64::consts::SQRT_2 * MAD_TO_SD * middle;
    }

    /// Values about the centres of their variants and the block's median. Who is in a block changes, and a common centre of all
    /// blocks would move with that. None if there is no value.
    fn residuals_of(&self, variants: &[usize], values: &[Option<f64>]) -> Option<Vec<Option<f64>>> {
        let about_centre = |(variant, value): (&usize, &Option<f64>)| {
            value.filter(|value| value.is_finite()).map(|value| value - self.centres[*variant])
        };
        let about: Vec<Option<f64>> = variants.iter().zip(values).map(about_centre).collect();
        let effect = median(&about.iter().flatten().copied().collect::<Vec<f64>>())?;
        Some(about.iter().map(|value| value.map(|value| value - effect)).collect())
    }

    fn take_places(&mut self, variants: &[usize], raw: &[Option<f64>], bound: f64) {
        let Some(residuals) = self.residuals_of(variants, raw) else { return };
        let clipped = residuals.iter().enumerate().filter_map(|(at, r)| Some((at, (*r)?.clamp(-bound, bound))));
        let clipped: Vec<(usize, f64)> = clipped.collect();
        let mean = clipped.iter().map(|(_, residual)| residual).sum::<f64>() / clipped.len() as f64;
        for (at, residual) in clipped {
            let [sum, runs] = &mut self.places[place(at, raw.len())];
            *sum += residual - mean;
            *runs += 1.0;
        }
    }

    /// Moves each centre by the mean residual of its runs.
    fn move_centres(&mut self, variants: &[usize], residuals: &[Option<f64>], bound: f64) {
        for variant in 0..self.centres.len() {
            let own = variants.iter().zip(residuals).filter(|(other, _)| **other == variant);
            let own: Vec<f64> = own.filter_map(|(_, residual)| Some((*residual)?.clamp(-bound, bound))).collect();
            if !own.is_empty() {
                self.blocks[variant] += 1;
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                self.centres[variant] += mean / f64::from(self.blocks[variant]);
            }
        }
    }
}

/// The kind of a place in a block of `runs` runs.
fn place(at: usize, runs: usize) -> usize {
    match at {
        0 => 0,
        at if at + 1 == runs => 2,
        1 => 1,
        _ => 3,
    }
}
