//! Contrasts: one number for each block, which is 0 where nothing differs. A pair, a main effect, an interaction, a suite
//! of workloads and a condition against another differ in their weights only; from here on all of them are the same.
//!
//! The contrast of a block is Σ w ln y over its cells, with Σ w = 0. If some value is not positive, as with counters, it
//! is Σ w y, and the margin is a part of the reference's median; if that is not positive either, there is no margin, and
//! nothing can be shown to be equivalent.

use super::trials::Pairs;
use crate::findings::Scale;
use crate::stats::describe::median;
use crate::stats::equivalence::Zone;
use std::collections::BTreeMap;

/// The contrasts of one comparison, in the order of time, and what they are measured by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contrasts {
    pub(super) values: Vec<f64>,
    pub(super) scale: Scale,
    /// The zone in which differences do not matter.
    pub(super) zone: Option<Zone>,
    /// No value of any cell varies from block to block: no chance is involved.
    pub(super) constant: bool,
    /// Blocks, or passes, in which not every cell counts.
    pub(super) lost: u32,
}

/// Variant, workload, condition.
pub(super) type Cell<'a> = (&'a str, &'a str, &'a str);

/// What each cell weighs.
pub(super) type Weights<'a> = BTreeMap<Cell<'a>, f64>;

/// All values of one metric that count: for every pass, by cell.
pub(super) type Passes<'a> = BTreeMap<u32, BTreeMap<Cell<'a>, f64>>;

impl Contrasts {
    /// A pair: variant against baseline.
    pub(super) fn of_pairs(pairs: &Pairs, margin: f64) -> Self {
        let blocks = pairs.baseline.iter().zip(&pairs.variant);
        let rows = blocks.flat_map(|(baseline, variant)| [*baseline, *variant]).collect();
        Self::of_rows(rows, &[-1.0, 1.0], pairs.lost, margin)
    }

    /// Any weights, over the passes in which all of these cells count.
    pub(super) fn of_cells(passes: &Passes<'_>, weights: &Weights<'_>, margin: f64) -> Self {
        let mut rows = vec![];
        let mut lost = 0;
        for pass in passes.values() {
            let before = rows.len();
            rows.extend(weights.keys().map_while(|cell| pass.get(cell)));
            if rows.len() - before < weights.len() {
                rows.truncate(before);
                lost += 1;
            }
        }
        Self::of_rows(rows, &weights.values().copied().collect::<Vec<_>>(), lost, margin)
    }

    /// The values of all blocks, one after the other, each in the order of its weights.
    fn of_rows(values: Vec<f64>, weights: &[f64], lost: u32, margin: f64) -> Self {
        // Without weights there are no values either.
        let rows = || values.chunks_exact(weights.len().max(1));
        let (scale, zone) = if values.iter().all(|value| *value > 0.0) {
            (Scale::Ratio, Some(Zone::of_log_ratios(margin)))
        } else {
            let below = |row: &[f64]| row.iter().zip(weights).filter(|(_, w)| **w < 0.0).map(|(y, _)| *y).collect();
            let reference: Vec<f64> = rows().flat_map(|row| -> Vec<f64> { below(row) }).collect();
            let half_width = margin * median(&reference).unwrap_or(0.0).abs();
            (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
        };
        let contrast = |row: &[f64]| match (scale, row) {
            // A pair's logarithm of a quotient has one rounding error less than a difference of logarithms.
            (Scale::Ratio, [below, above]) if weights[0] == -1.0 && weights[1] == 1.0 => (above / below).ln(),
            (Scale::Ratio, row) => row.iter().zip(weights).map(|(y, w)| w * y.ln()).sum(),
            (Scale::Difference, row) => row.iter().zip(weights).map(|(y, w)| w * y).sum(),
        };
        let constant = rows().zip(rows().skip(1)).all(|(one, next)| one == next);
        Self { values: rows().map(contrast).collect(), scale, zone, constant, lost }
    }
}
