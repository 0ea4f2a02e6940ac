//! What a diagnostic can see in a table: the kinds of it, with the numbers that its sentence needs. [`super`] looks for
//! them, [`super::words`] tells of them; nothing is decided here.

use crate::findings::{Scale, Table};
use bakeoff_stats::modes::Mode;

/// Something that was seen in a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen<'a, T> {
    pub(super) table: &'a Table,
    pub(super) p: f64,
    pub(super) what: T,
}

/// A contrast that is another one when the variant executes after the baseline.
pub(super) struct Position<'a> {
    pub(super) variant: &'a str,
    /// Mean contrast after the baseline − mean contrast before it, on the scale of the sheet.
    pub(super) shift: f64,
    pub(super) is_logarithmic: bool,
}

/// A contrast that is another one when a certain variant executed directly before.
#[derive(Debug, Clone, Copy)]
pub(super) struct CarryOver<'a> {
    pub(super) variant: &'a str,
    pub(super) predecessor: &'a str,
    pub(super) is_baseline: bool,
}

/// Trials of a variant that failed, of those that failed or succeeded, or that are void; and the same of the baseline.
pub(super) struct Rates<'a> {
    pub(super) variant: &'a str,
    pub(super) workload: &'a str,
    pub(super) condition: &'a str,
    pub(super) own: [u32; 2],
    pub(super) baseline: [u32; 2],
}

/// A variant with several typical values, in the metric's unit.
pub(super) struct Modes<'a> {
    pub(super) variant: &'a str,
    pub(super) modes: Vec<Mode>,
}

/// A comparison with blocks that stand out.
pub(super) struct Outliers<'a> {
    pub(super) variant: &'a str,
    /// How many blocks, of how many.
    pub(super) blocks: [usize; 2],
    pub(super) scale: Scale,
    /// The estimate with all blocks, and without those.
    pub(super) with_and_without: [f64; 2],
}
