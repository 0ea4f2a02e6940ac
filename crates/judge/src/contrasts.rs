//! Contrasts: one number for each block, which is 0 where nothing differs. A pair, a main effect, an interaction, a suite
//! of workloads and a condition against another differ in their weights only; from here on all of them are the same.
//!
//! The contrast of a block is Σ w ln y over its cells, with Σ w = 0. If some value is not positive, it is Σ w y, and the
//! margin is a part of the reference's median; if that is not positive either, nothing can be shown to be equivalent.
//!
//! Times may lie on the grid of a clock's ticks. A value on a grid of step g is up to g away from what it would be without
//! one, whether it was rounded or cut off; so a contrast of logarithms is wrong by at most the larger of Σ w ln(1 + g/y)
//! over the positive weights and over the negative ones. That bound is its `resolution`.

use super::ids::{Cell, Place, VariantId};
use super::metric_spec::MetricSpec;
use super::trials::{Pairs, Passes};
use crate::findings::{Scale, Subject};
use bakeoff_model::metric::Unit;
use bakeoff_stats::describe::median;
use bakeoff_stats::equivalence::Zone;
use std::collections::BTreeMap;

/// The contrasts of one comparison, in the order of time, and what they are measured by.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contrasts {
    pub(super) values: Vec<f64>,
    pub(super) scale: Scale,
    /// The zone in which differences do not matter.
    pub(super) zone: Option<Zone>,
    /// The block, or pass, of each: contrasts of a family that share it are flipped together.
    pub(super) blocks: Vec<u32>,
    /// The metric is exact, and the values of each cell agree: no chance is involved.
    pub(super) exact: bool,
    /// Exact values differ from here on.
    pub(super) agree: f64,
    /// How far the ticks of a clock may have moved any contrast; 0 where there is no grid to be seen.
    pub(super) resolution: f64,
    /// The step of that grid, in the metric's unit.
    pub(super) step: f64,
    is_time: bool,
    /// Some value may be the launcher's own.
    pub(super) at_floor: bool,
    /// Blocks, or passes, in which not every cell counts.
    pub(super) lost: u32,
}

pub(super) type Weights = BTreeMap<Cell, f64>;

/// A contrast before it is judged. Without weights there is none, and it takes no part of alpha.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) subject: Subject,
    pub(super) weights: Weights,
}

impl Planned {
    /// The place, the variant and the one it is compared with, if this is nothing but a pair.
    pub(super) fn pair(&self) -> Option<(Place, VariantId, VariantId)> {
        let [one, other] = self.weights.iter().collect::<Vec<_>>().try_into().ok()?;
        let ((cell, plus), (against, minus)) = if *one.1 > 0.0 { (one, other) } else { (other, one) };
        let is_pair = (*plus, *minus) == (1.0, -1.0) && cell.place == against.place;
        is_pair.then_some((cell.place, cell.variant, against.variant))
    }
}

impl Contrasts {
    /// A pair: variant against baseline.
    pub(super) fn of_pairs(pairs: &Pairs, spec: MetricSpec, margin: f64) -> Self {
        let both = pairs.baseline.iter().zip(&pairs.variant);
        let rows = both.flat_map(|(baseline, variant)| [*baseline, *variant]).collect();
        let contrasts = Self::of_rows(rows, &[-1.0, 1.0], spec, margin);
        Self { blocks: pairs.blocks.clone(), lost: pairs.lost, ..contrasts }
    }

    /// Whether a clock ticks so coarsely that its step is beyond the margin: nothing is said of such times.
    pub(super) fn is_too_coarse(&self) -> bool {
        self.is_time && self.zone.is_some_and(|zone| self.resolution > zone.half_width)
    }

    /// Any weights, over the passes in which all of these cells count.
    pub(super) fn of_cells(passes: &Passes, weights: &Weights, spec: MetricSpec, margin: f64) -> Self {
        let (mut rows, mut blocks) = (vec![], vec![]);
        let mut lost = 0;
        for (number, pass) in passes {
            let before = rows.len();
            rows.extend(weights.keys().map_while(|cell| pass.get(cell)));
            if rows.len() - before == weights.len() {
                blocks.push(*number);
            } else {
                rows.truncate(before);
                lost += 1;
            }
        }
        let contrasts = Self::of_rows(rows, &weights.values().copied().collect::<Vec<_>>(), spec, margin);
        Self { blocks, lost, ..contrasts }
    }

    /// The values of all blocks, one after the other, each in the order of its weights.
    fn of_rows(values: Vec<f64>, weights: &[f64], spec: MetricSpec, margin: f64) -> Self {
        // Without weights there are no values either.
        let rows = || values.chunks_exact(weights.len().max(1));
        let (scale, zone) = if values.iter().all(|value| *value > 0.0) {
            (Scale::Ratio, Some(Zone::of_log_ratios(margin)))
        } else {
            let cells = rows().flat_map(|row| row.iter().zip(weights));
            let reference: Vec<f64> = cells.filter(|(_, w)| **w < 0.0).map(|(y, _)| *y).collect();
            let half_width = margin * median(&reference).unwrap_or(0.0).abs();
            (Scale::Difference, (half_width > 0.0).then_some(Zone { half_width }))
        };
        let agrees = |cell: usize| spread(rows().map(|row| row[cell])) <= spec.agree;
        let step = spec.step.unwrap_or_else(|| spec.grid_step(&values));
        Self {
            values: rows().map(|row| contrast(row, weights, scale)).collect(),
            scale,
            zone,
            blocks: vec![],
            exact: spec.exact && (0..weights.len()).all(agrees),
            agree: if scale == Scale::Ratio { spec.agree } else { 0.0 },
            resolution: rows().map(|row| wrong_by(row, weights, scale, step)).fold(0.0, f64::max),
            step,
            is_time: spec.unit == Some(Unit::Seconds),
            at_floor: spec.floor > 0.0 && values.iter().any(|value| *value <= FLOOR_ROOM * spec.floor),
            lost: 0,
        }
    }
}

/// How far values are apart, as a part of the least; 0 if all are the same.
pub(super) fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let [min, max] = [f64::min, f64::max].map(|end| values.clone().reduce(end).unwrap_or_default());
    if min == max { 0.0 } else { (max - min) / min.abs() }
}

fn contrast(row: &[f64], weights: &[f64], scale: Scale) -> f64 {
    match (scale, row) {
        // A pair's logarithm of a quotient has one rounding error less than a difference of logarithms.
        (Scale::Ratio, [below, above]) if *weights == [-1.0, 1.0] => (above / below).ln(),
        (Scale::Ratio, row) => row.iter().zip(weights).map(|(y, w)| w * y.ln()).sum(),
        (Scale::Difference, row) => row.iter().zip(weights).map(|(y, w)| w * y).sum(),
    }
}

/// How far ticks of that step may have moved a contrast.
fn wrong_by(row: &[f64], weights: &[f64], scale: Scale, step: f64) -> f64 {
    let (mut up, mut down) = (0.0, 0.0);
    for (y, weight) in row.iter().zip(weights) {
        let error = if scale == Scale::Ratio { (step / y).ln_1p() } else { step };
        up += weight.max(0.0) * error;
        down += (-weight).max(0.0) * error;
    }
    up.max(down)
}

/// Values this close to the floor may be the launcher's: it grows a little while it works.
const FLOOR_ROOM: f64 = 1.05;
