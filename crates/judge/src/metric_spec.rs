//! How one metric is measured: its unit, which way is better, whether it can vary by chance, and what its values cannot
//! tell apart. It holds no values.

use bakeoff_model::metric::{Direction, Metric, Unit};
use bakeoff_stats::grid;

/// Counts of one program agree if they differ by no more than this part: so much may depend on the number of a process.
const COUNTS_AGREE: f64 = 1e-5;

#[derive(Debug, Clone, Copy)]
pub(super) struct MetricSpec {
    /// None if it is not known, as in a file of numbers.
    pub(super) unit: Option<Unit>,
    pub(super) better: Direction,
    /// It cannot vary by chance.
    pub(super) exact: bool,
    /// Of an exact one: values agree that differ by no more than this part.
    pub(super) agree: f64,
    /// Of a count: the share of the time that it can see. None of what is measured.
    pub(super) seen: Option<f64>,
    /// Values down here are the launcher's, not the program's; 0 if there is no such floor.
    pub(super) floor: f64,
    /// The step of the clock's grid, from all values of a table; none where each comparison looks for its own.
    pub(super) step: Option<f64>,
}

impl MetricSpec {
    /// That of a metric without a floor; `seen` is the share of the time that a count can see, if it is known.
    pub(super) fn of(metric: &Metric, seen: Option<f64>) -> Self {
        let Metric { unit, better, exact, counted, .. } = *metric;
        let (agree, seen) = if counted { (COUNTS_AGREE, Some(seen.unwrap_or(0.0))) } else { (0.0, None) };
        Self { agree, seen, ..Self::measured(Some(unit), better, exact) }
    }

    /// That of values that were measured, and not counted.
    pub(super) fn measured(unit: Option<Unit>, better: Direction, exact: bool) -> Self {
        Self { unit, better, exact, agree: 0.0, seen: None, floor: 0.0, step: None }
    }

    /// The same with the step that these values lie on. One clock made all values of a table: the more of them, the
    /// better its ticks are known.
    pub(super) fn on_grid_of(self, values: &[f64]) -> Self {
        Self { step: Some(self.grid_step(values)), ..self }
    }

    /// The step of the grid that a clock has put times on; 0 if none is to be seen. A count is not rounded.
    pub(super) fn grid_step(self, values: &[f64]) -> f64 {
        let may_tick = !self.exact && matches!(self.unit, None | Some(Unit::Seconds | Unit::PerSecond));
        if may_tick { grid::step(values).unwrap_or(0.0) } else { 0.0 }
    }
}
