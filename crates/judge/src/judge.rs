//! From a record to findings: which trials count, which are paired, what the pairs show, what is claimed,
//! and which doubts go with it. The arithmetic is [`bakeoff_stats`]'; nothing here draws, and no number is rounded.
//!
//! The claims, for every variant against the baseline, in every table:
//! - *Differs* means that the interval excludes no difference. All intervals of a family hold together at 1 − α: the family
//!   is all variants but the baseline and its twin, and the interval is the inversion of the test that gives the
//!   corrected p ([`infer`]). So a verdict and its interval cannot contradict each other.
//! - *Within* means that the interval of confidence 1 − 2α lies inside the margin. It is not corrected: each claim of
//!   equivalence has an error of at most α of its own.
//! - Differs and not within: faster or slower, by the sign of the estimate and by which way is better for the metric.
//!   Differs and within: negligible. Within and not differs: equivalent, provided that there are blocks enough for an
//!   interval. Neither: undecided.
//! - Where a metric is exact and none of its values varies, no chance is involved: equal values are equivalent, and others
//!   differ. A time is never exact.
//! - Where the ticks of a clock are to be seen in the values, every interval is wider by what they may have done; where
//!   that is more than the margin, there is no verdict.
//! - Peak memory that may be the launcher's is never shown to be within anything: equivalent and negligible become
//!   undecided.
//! - Under a stopping rule, p and intervals are those that account for it ([`crate::stopping`]); the rest is the same.
//! - A variant that printed something other than the baseline gets no verdict ([`outputs`]).
//! - The benchmarks of a suite are one family: their intervals of a metric, of all variants, hold together.
//! - The twin is compared like the others, but uncorrected and outside the family.

use crate::executed;
use crate::findings::{Caveat, Findings, Row, Scale, Spot, Spots, Table, Verdict};
use crate::workloads::judge_workloads;
use bakeoff_model::plan::AS_BUILT;
use bakeoff_model::record::Record;

/// Judges a record, finished or not. It never fails: what cannot be said is absent, and a caveat says why.
pub fn judge(record: &Record) -> Findings {
    judge_with_levels(record, false)
}

/// The same; with levels of one factor against each other, all else as in the baseline, however many there are, if `levels`.
pub fn judge_with_levels(record: &Record, levels: bool) -> Findings {
    let executed = record.without_building();
    let mut findings = judge_workloads(&executed.without_relaid().in_parts(), levels);
    findings.layouts = executed::layouts(record);
    let as_built = findings.layouts.as_ref().map(|layouts| layouts.as_built.clone()).unwrap_or_default();
    findings.caveats.extend(only_files_differ(&findings.tables, &as_built));
    findings.building = record.of_building().map(|building| Box::new(judge_workloads(&building, false)));
    findings
}

/// Where files as built differ, and the programs in other layouts are not shown to.
fn only_files_differ(tables: &[Table], as_built: &[String]) -> Option<Caveat> {
    let mut seen = vec![];
    for table in tables.iter().filter(|table| as_built.contains(&table.condition)) {
        let Some(of_programs) = tables.iter().find(|other| is_of_programs(other, table)) else { continue };
        for row in table.rows.iter().filter(|row| is_shown(row)) {
            let is_program_shown = of_programs.rows.iter().any(|one| one.variant == row.variant && is_shown(one));
            let Some(what) = row.comparison.as_ref().filter(|_| !is_program_shown).map(|one| one.estimate) else {
                continue;
            };
            seen.push(Spot::of(table, &row.variant, what));
        }
    }
    (!seen.is_empty()).then_some(Caveat::OnlyFilesDiffer(Spots { seen, cells: tables.len() }))
}

/// Whether a table is that of the programs beside one of files as built.
fn is_of_programs(table: &Table, as_built: &Table) -> bool {
    (&table.workload, &table.metric) == (&as_built.workload, &as_built.metric)
        && as_built.condition.strip_suffix(AS_BUILT) == Some(&table.condition)
}

/// Whether a row is shown to be faster or slower, by a ratio.
fn is_shown(row: &Row) -> bool {
    row.comparison.as_ref().is_some_and(|comparison| {
        comparison.scale == Scale::Ratio && matches!(comparison.verdict, Verdict::Faster | Verdict::Slower)
    })
}
