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
#[derive(Debug, Clone)]
pub(super) struct Estimates {
    blocks: Vec<u32>,
    /// Distance from the blocks' effects: a mean of clipped values.
    centres: Vec<f64>,
    /// |residual about the own centre|, ascending.
    residuals: Vec<f64>,
    scale: f64,
    /// Sum of residuals and number of runs, by place.
    places: [[f64; 2]; PLACES],
}

impl Estimates {
    pub(super) fn new(variants: usize) -> Self {
        Self {
            blocks: vec![0; variants],
            centres: vec![0.0; variants],
            residuals: vec![],
            scale: 0.0,
            places: [[0.0; 2]; PLACES],
        }
    }

    /// √2 · 1.4826 · the median of |residual|: the spread of a difference of two runs. 0 while it is unknown.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Blocks in which a variant gave a value.
    pub(super) fn blocks(&self, variant: usize) -> u32 {
        self.blocks[variant]
    }

    /// The least is the best; one without a value is the last.
    pub(super) fn centre(&self, variant: usize) -> f64 {
        if self.blocks[variant] == 0 { f64::INFINITY } else { self.centres[variant] }
    }

    /// How much slower one is than the other.
    pub(super) fn gap(&self, one: usize, other: usize) -> f64 {
        self.centre(one) - self.centre(other)
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
        let residual = |(variant, value): (&usize, &Option<f64>)| {
            value.filter(|value| value.is_finite()).map(|value| value - self.centres[*variant])
        };
        let residuals: Vec<Option<f64>> = variants.iter().zip(corrected).map(residual).collect();
        let present: Vec<f64> = residuals.iter().flatten().copied().collect();
        let Some(effect) = median(&present) else { return };
        // A residual about a centre of n values is wider by √(1 + 1/n).
        for (variant, residual) in variants.iter().zip(&residuals) {
            let n = f64::from(self.blocks[*variant]);
            let width = (n / (n + 1.0)).sqrt();
            if let Some(residual) = residual.filter(|_| n > 0.0).map(|residual| width * (residual - effect).abs()) {
                self.residuals.insert(self.residuals.partition_point(|other| *other < residual), residual);
            }
        }
        self.take_places(variants, raw);
        self.move_centres(variants, &residuals, effect);
        self.scale = match self.residuals.len() {
            // After the first block only the spread between variants is known: too wide, which is harmless.
            0 => spread(&present.iter().map(|x| (x - effect).abs()).collect::<Vec<f64>>()),
            n => {
                std::f64::consts::SQRT_2 * MAD_TO_SD * f64::midpoint(self.residuals[(n - 1) / 2], self.residuals[n / 2])
            }
        };
    }

    /// Residuals are centred within the block: who is in it changes, and a common centre would move with that.
    fn take_places(&mut self, variants: &[usize], raw: &[Option<f64>]) {
        if self.scale <= 0.0 || self.residuals.is_empty() {
            return;
        }
        let residuals: Vec<Option<f64>> =
            variants.iter().zip(raw).map(|(v, y)| y.filter(|y| y.is_finite()).map(|y| y - self.centres[*v])).collect();
        let present: Vec<f64> = residuals.iter().flatten().copied().collect();
        let Some(centre) = median(&present) else { return };
        let bound = CLIP * self.scale;
        let clipped: Vec<Option<f64>> =
            residuals.iter().map(|r| r.map(|r| (r - centre).clamp(-bound, bound))).collect();
        let mean = clipped.iter().flatten().sum::<f64>() / present.len() as f64;
        for (at, residual) in clipped.iter().enumerate() {
            if let Some(residual) = residual {
                let [sum, runs] = &mut self.places[place(at, raw.len())];
                *sum += residual - mean;
                *runs += 1.0;
            }
        }
    }

    /// Moves each centre by the mean residual of its runs.
    fn move_centres(&mut self, variants: &[usize], residuals: &[Option<f64>], effect: f64) {
        let bound = if self.residuals.is_empty() || self.scale <= 0.0 { f64::INFINITY } else { CLIP * self.scale };
        for variant in 0..self.centres.len() {
            let own = variants.iter().zip(residuals).filter(|(other, _)| **other == variant);
            let own: Vec<f64> = own.filter_map(|(_, r)| r.map(|r| (r - effect).clamp(-bound, bound))).collect();
            if !own.is_empty() {
                self.blocks[variant] += 1;
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                self.centres[variant] += mean / f64::from(self.blocks[variant]);
            }
        }
    }
}

fn spread(deviations: &[f64]) -> f64 {
    std::f64::consts::SQRT_2 * MAD_TO_SD * median(deviations).unwrap_or(0.0)
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
