//! Two findings of one study side by side: here and there. It pairs what both compared and says whether the intervals
//! overlap. It makes no test and judges neither: two machines are two samples of one each.
#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use crate::findings::{Comparison, Findings, Row, Table};
use bakeoff_model::metric::{Direction, Unit};
use serde::{Deserialize, Serialize};

/// What two findings say of the same comparisons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// What both compared, in the order of the first.
    pub pairs: Vec<Pair>,
    pub only_here: Vec<Compared>,
    pub only_there: Vec<Compared>,
}

/// What was compared with the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    pub workload: String,
    pub condition: String,
    /// The metric's name.
    pub metric: String,
    /// The variant's display name.
    pub variant: String,
}

/// One comparison, here and there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub compared: Compared,
    /// The metric's base unit.
    pub unit: Unit,
    pub better: Direction,
    /// What the first says.
    pub here: Comparison,
    /// What the second says.
    pub there: Comparison,
    /// Whether the intervals that the verdicts rest on have values in common.
    pub intervals: Intervals,
}

/// How two intervals lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intervals {
    /// They have values in common.
    Overlap,
    /// They have none.
    Apart,
    /// One of them is missing, or they are of different kinds: ratios and differences.
    Unknown,
}

/// Pairs what two findings say.
pub fn side_by_side(here: &Findings, there: &Findings) -> SideBySide {
    let (ours, theirs) = (comparisons(here), comparisons(there));
    let (mut pairs, mut only_here) = (vec![], vec![]);
    for (compared, table, comparison) in &ours {
        match theirs.iter().find(|(other, ..)| other == compared) {
            Some((_, _, other)) => pairs.push(Pair {
                compared: compared.clone(),
                unit: table.unit,
                better: table.better,
                here: (*comparison).clone(),
                there: (*other).clone(),
                intervals: intervals(comparison, other),
            }),
            None => only_here.push(compared.clone()),
        }
    }
    let mut only_there: Vec<Compared> = theirs.into_iter().map(|(compared, ..)| compared).collect();
    only_there.retain(|compared| !ours.iter().any(|(ours, ..)| ours == compared));
    SideBySide { pairs, only_here, only_there }
}

fn comparisons(findings: &Findings) -> Vec<(Compared, &Table, &Comparison)> {
    let of_row = |table: &Table, row: &Row| Compared {
        workload: table.workload.clone(),
        condition: table.condition.clone(),
        metric: table.metric.clone(),
        variant: row.variant.clone(),
    };
    let rows = findings.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    rows.filter_map(|(table, row)| Some((of_row(table, row), table, row.comparison.as_ref()?))).collect()
}

/// Of the intervals that are printed: equivalent and negligible have the narrower one. Both ends belong to an interval.
fn intervals(here: &Comparison, there: &Comparison) -> Intervals {
    match (here.shown_interval(), there.shown_interval()) {
        (Some(ours), Some(theirs)) if here.scale == there.scale => {
            if ours[0] <= theirs[1] && theirs[0] <= ours[1] {
                Intervals::Overlap
            } else {
                Intervals::Apart
            }
        }
        _ => Intervals::Unknown,
    }
}
