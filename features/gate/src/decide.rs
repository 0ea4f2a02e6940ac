//! From findings to a gate. A case *passes* if the interval that the report prints excludes a larger slowdown; it *fails*
//! if an interval shows one that holds together with those of all other cases; else it is undecided. So the gate cannot
//! contradict the report.
//!
//! Error rates, with 1 − α the study's confidence:
//! - *All pass* is the intersection of one claim for each case, each of which has an error of at most α of its own. That some
//!   case should not have passed implies that one particular claim is wrong, so all of them together need no correction
//!   (intersection–union: Berger 1982).
//! - *Some fails* is a union. Within a table the intervals of all variants hold together (max-T); over k tables each
//!   is taken at α/k (Bonferroni).
//!
//! Which trials count, and the intervals, are `bakeoff_judge`'s business.

use crate::decision::{Broken, Case, Decision, FORMAT, Gate, JudgedSlowdown, Open, Outcome, Passed};
use crate::missing::{Levels, more_blocks};
use crate::slowdown::Slowdown;
use crate::spec::Limits;
use bakeoff_judge::findings::{Caveat, Comparison, Findings, Inferred, Scale, Table, Verdict};
use bakeoff_model::metric::Direction;
use bakeoff_model::plan::BASELINE;
use bakeoff_model::record::{Record, SameIn, TWIN};
use bakeoff_model::study::OutputUse;
use bakeoff_report::words::is_same_program;

/// What floating point may add to a slowdown.
const ARITHMETIC_NOISE: f64 = 1e-12;

/// Which variants, and how much slower they may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) limits: Limits,
    /// None of them is all but the baseline.
    pub(crate) variants: Vec<String>,
}

/// Why there can be no gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoGate {
    #[error("the journal has no variant `{name}`")]
    UnknownVariant { name: String, known: Vec<String> },
    #[error("`{name}` is the baseline; name a variant to compare with it")]
    Baseline { name: String, known: Vec<String> },
    #[error("no workload has a limit")]
    NoLimit,
    #[error("there is no variant besides the baseline")]
    NoVariant,
}

/// One table, or what would be one if the metric had been measured.
struct Spot<'a> {
    workload: &'a str,
    condition: &'a str,
    limit: f64,
}

struct Deciding<'a> {
    findings: &'a Findings,
    baseline: &'a str,
    /// The same at the confidence at which cases fail.
    to_fail: &'a [Table],
    levels: Levels,
}

/// The gate of a record, whose findings these are.
pub(crate) fn gate(record: &Record, findings: &Findings, wanted: &Wanted) -> Result<Gate, NoGate> {
    let record = &*record.in_parts();
    let (study, metric) = (&record.study, &findings.method.deciding_metric);
    let baseline = findings.variants.first().ok_or(NoGate::NoVariant)?.name.as_str();
    let variants = variants(findings, baseline, &wanted.variants)?;
    let mut spots = vec![];
    for workload in &study.workloads {
        let Some(limit) = wanted.limits.of(workload, record.suite_of(workload)) else { continue };
        // A gate is about programs, not about files as built.
        let as_built = findings.layouts.as_ref().map(|layouts| layouts.as_built.as_slice()).unwrap_or_default();
        let conditions = study.conditions.iter().filter(|condition| !as_built.contains(condition));
        spots.extend(conditions.map(|condition| Spot { workload, condition, limit }));
    }
    if spots.is_empty() {
        return Err(NoGate::NoLimit);
    }
    let alpha = 1.0 - findings.method.confidence;
    let levels = Levels { alpha, alpha_to_fail: alpha / spots.len() as f64, family: findings.method.family };
    let strict;
    let to_fail = if spots.len() == 1 {
        &findings.tables
    } else {
        strict = tables_at(record, metric, 1.0 - levels.alpha_to_fail);
        &strict
    };
    let deciding = Deciding { findings, baseline, to_fail, levels };
    let cases: Vec<Case> =
        spots.iter().flat_map(|spot| variants.iter().map(|variant| deciding.case(spot, variant))).collect();
    let outcome = cases.iter().map(|case| case.decision.outcome()).max().unwrap_or(Outcome::Undecided);
    let known = study.metric(metric);
    Ok(Gate {
        format: FORMAT,
        outcome,
        study: study.study.clone(),
        plan: study.plan.clone(),
        baseline: baseline.to_owned(),
        metric: metric.clone(),
        unit: known.as_ref().map(|metric| metric.unit),
        better: known.map(|metric| metric.better).unwrap_or_default(),
        confidence: findings.method.confidence,
        confidence_to_fail: 1.0 - levels.alpha_to_fail,
        more_blocks: blocks_for_all(&cases),
        blocks: [findings.blocks_finished, findings.blocks_total],
        cases,
    })
}

/// The tables of one metric at another confidence.
fn tables_at(record: &Record, metric: &str, confidence: f64) -> Vec<Table> {
    let mut record = record.clone();
    record.study.decide.metrics = vec![metric.to_owned()];
    record.study.decide.confidence = confidence;
    bakeoff_judge::judge(&record).tables
}

/// The variants that are asked about: without names all but the baseline, those included that were never run.
fn variants(findings: &Findings, baseline: &str, names: &[String]) -> Result<Vec<String>, NoGate> {
    let executed = findings.variants.iter().chain(findings.shared.iter().map(|one| &one.variant));
    // Of what cannot be made, as the study itself says, only those who name it want to know.
    let failed = findings.besides.unmade.iter().filter(|unmade| !unmade.is_foreseen || !names.is_empty());
    let mut known: Vec<String> = vec![];
    for name in executed.map(|variant| &variant.name).chain(failed.map(|unmade| &unmade.variant)) {
        if name != baseline && !known.contains(name) {
            known.push(name.clone());
        }
    }
    if names.is_empty() {
        return if known.is_empty() { Err(NoGate::NoVariant) } else { Ok(known) };
    }
    for name in names {
        if name == baseline {
            return Err(NoGate::Baseline { name: name.clone(), known });
        }
        if !known.contains(name) {
            return Err(NoGate::UnknownVariant { name: name.clone(), known });
        }
    }
    known.retain(|name| names.contains(name));
    Ok(known)
}

/// Blocks that decide all of the undecided cases; none if that is unknown of one.
fn blocks_for_all(cases: &[Case]) -> Option<u32> {
    let undecided = cases.iter().filter_map(|case| match &case.decision {
        Decision::Undecided(Open::Interval { more_blocks }) => Some(*more_blocks),
        Decision::Undecided(_) => Some(None),
        _ => None,
    });
    undecided.collect::<Option<Vec<u32>>>()?.into_iter().max()
}

impl Deciding<'_> {
    fn case(&self, spot: &Spot<'_>, variant: &str) -> Case {
        let (decision, seen) = self.decided(spot, variant);
        let here = |outputs: &&bakeoff_judge::findings::Outputs| {
            outputs.workload == spot.workload && outputs.condition == spot.condition
        };
        let noted = self.findings.outputs.iter().filter(here).filter(|outputs| outputs.output == OutputUse::Noted);
        Case {
            variant: variant.to_owned(),
            workload: spot.workload.to_owned(),
            condition: spot.condition.to_owned(),
            limit: spot.limit,
            seen,
            decision,
            prints_otherwise: noted.flat_map(|outputs| &outputs.others).any(|other| other.variant == variant),
        }
    }

    fn decided(&self, spot: &Spot<'_>, variant: &str) -> (Decision, Option<JudgedSlowdown>) {
        if let Some(broken) = self.broken(spot, variant) {
            return (Decision::Broken(broken), None);
        }
        if let Some(shared) = self.findings.shared.iter().find(|one| one.variant.name == variant) {
            let passed = match shared.same_in {
                SameIn::Files => Passed::SameProgram,
                SameIn::Code => Passed::SameCode,
            };
            return match shared.with == self.baseline {
                true => (Decision::Passes(passed), None),
                false => self.decided(spot, &shared.with),
            };
        }
        let comparison = |tables: &[Table]| {
            let table = self.table(tables, spot)?;
            let row = table.rows.iter().find(|row| row.variant == variant)?;
            let baseline = table.rows.first().and_then(|row| row.summary.as_ref()).map(|summary| summary.median);
            Some((row.comparison.clone()?, table.better, baseline))
        };
        let shown = comparison(&self.findings.tables);
        let is_one = |comparison: &Comparison| self.baseline == BASELINE && is_same_program(comparison);
        if shown.as_ref().is_some_and(|(comparison, ..)| is_one(comparison)) {
            return (Decision::Passes(Passed::SameProgram), None);
        }
        if self.findings.blocks_finished < self.findings.blocks_total {
            return (Decision::Undecided(Open::Unfinished), None);
        }
        match (shown, comparison(self.to_fail)) {
            (Some((comparison, better, baseline)), Some((to_fail, ..))) => {
                self.compared(&comparison, &to_fail, spot.limit, better, baseline)
            }
            _ => (Decision::Undecided(Open::NotMeasured), None),
        }
    }

    fn table<'t>(&self, tables: &'t [Table], spot: &Spot<'_>) -> Option<&'t Table> {
        let metric = &self.findings.method.deciding_metric;
        tables.iter().find(|t| t.metric == *metric && t.workload == spot.workload && t.condition == spot.condition)
    }

    /// What makes a variant no candidate at all.
    fn broken(&self, spot: &Spot<'_>, variant: &str) -> Option<Broken> {
        let findings = self.findings;
        let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
        if findings.besides.is_unmade(variant) {
            return Some(Broken::NotBuilt);
        }
        // A word of both does not tell them apart.
        let mut idle = findings.besides.alarms.iter().filter_map(|alarm| alarm.idle.as_ref());
        if let Some(idle) = idle.find(|idle| has(&idle.variants, variant) != has(&idle.variants, self.baseline)) {
            return Some(Broken::FlagWithoutEffect { flag: idle.word.clone() });
        }
        // The twin runs what the baseline does.
        let is_part = |name: &str| [variant, self.baseline, TWIN].contains(&name);
        let here = findings.failures.iter().filter(|f| f.workload == spot.workload && f.condition == spot.condition);
        let failures = here.filter(|f| f.failed > 0 && is_part(&f.variant)).max_by_key(|f| f.variant == variant)?;
        let name = if failures.variant == TWIN { self.baseline } else { &failures.variant };
        Some(Broken::TrialsFailed { variant: name.to_owned(), failed: failures.failed, of: failures.of })
    }

    /// Of a comparison and the same one at the confidence at which cases fail.
    fn compared(
        &self,
        comparison: &Comparison,
        to_fail: &Comparison,
        limit: f64,
        better: Direction,
        baseline: Option<f64>,
    ) -> (Decision, Option<JudgedSlowdown>) {
        if comparison.verdict == Verdict::Withheld {
            return (Decision::Broken(Broken::OtherOutput), None);
        }
        let Some(slowdown) = Slowdown::new(comparison, better, baseline) else {
            return (Decision::Undecided(Open::NoPercentage), None);
        };
        let exceeds = |end: f64| end > limit + ARITHMETIC_NOISE;
        let estimate = slowdown.of(comparison.estimate);
        let seen = |interval: Option<[f64; 2]>, confidence: f64| {
            // What can vary and did not has none.
            let interval = interval.filter(|[low, high]| low < high);
            Some(JudgedSlowdown { slowdown: estimate, interval, confidence, blocks: comparison.blocks })
        };
        let passes = Decision::Passes(Passed::Interval);
        match comparison.inferred {
            Inferred::TooCoarse => {
                return (Decision::Undecided(Open::ClockTooCoarse), seen(None, comparison.confidence));
            }
            Inferred::Exact if exceeds(estimate) => return (Decision::Fails, seen(None, 1.0)),
            Inferred::Exact if sees_too_little(comparison) => {
                return (Decision::Undecided(Open::UnseenTime), seen(None, 1.0));
            }
            Inferred::Exact => return (passes, seen(None, 1.0)),
            Inferred::TooFew | Inferred::Tested(_) => {}
        }
        let intervals = [comparison.shown_interval(), to_fail.interval()];
        let [shown, wide] = intervals.map(|interval| interval.map(|interval| slowdown.ends(interval)));
        let [of_shown, of_wide] =
            [seen(shown, comparison.shown_confidence()), seen(wide, 1.0 - self.levels.alpha_to_fail)];
        if wide.is_some_and(|[low, _]| exceeds(low)) {
            return (Decision::Fails, of_wide);
        }
        if shown.is_some_and(|[_, high]| !exceeds(high)) {
            if sees_too_little(comparison) {
                return (Decision::Undecided(Open::UnseenTime), of_shown);
            }
            // What both need may be less than what was seen; only a variant that was seen to need less does so for certain.
            return match is_at_floor(comparison) && comparison.verdict != Verdict::Faster {
                true => (Decision::Undecided(Open::MemoryFloor), of_shown),
                false => (passes, of_shown),
            };
        }
        let open = Open::Interval { more_blocks: more_blocks(comparison, &slowdown, limit, self.levels) };
        // It would fail if it were the only case.
        let is_beyond = shown.is_some_and(|[low, _]| exceeds(low));
        (Decision::Undecided(open), if is_beyond { of_wide } else { of_shown })
    }
}

fn is_at_floor(comparison: &Comparison) -> bool {
    comparison.scale == Scale::Ratio && comparison.caveats.iter().any(|c| matches!(c, Caveat::MemoryFloor { .. }))
}

fn sees_too_little(comparison: &Comparison) -> bool {
    comparison.caveats.iter().any(|caveat| matches!(caveat, Caveat::UnseenTime { .. }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]
mod tests;
