//! Which decided differences the evidence may explain: every variant that differs from the baseline in one factor, on
//! the deciding metric. What differs in several factors has several reasons, and nothing is said of it. Verdicts come
//! from the tables as they are.

use super::pieces::Pieces;
use super::rules::{Amount, CALL_S, RULES, Rule, Scope, VariantEvidence, is_substantial};
use crate::evidence::Traced;
use crate::findings::{Cause, Ceiling, Diagnosis, FileTable, Isolation, TraceTable};
use bakeoff_judge::findings::{Claim, Comparison, EffectKind, Effects, Findings, Subject, Table, Verdict};
use bakeoff_model::metric::{self, Direction, Unit};
use bakeoff_model::record::VariantLine;
use std::collections::BTreeMap;

/// Of what a cause is about, the most that are named.
const ABOUT_MAX: usize = 3;

/// What may be less than this part of a difference is not worth a word.
const SHARE_MIN: f64 = 0.05;

/// A variant that differs from the baseline in one factor.
struct Single<'a> {
    variant: &'a VariantLine,
    factor: &'a str,
}

/// One for each decided difference of which there is evidence.
pub(super) fn diagnoses(
    pieces: &Pieces<'_>,
    findings: &Findings,
    files: &[FileTable],
    traces: &[TraceTable],
) -> Vec<Diagnosis> {
    let Some((&baseline, others)) = pieces.variants.split_first() else { return vec![] };
    let singles: Vec<Single<'_>> = others
        .iter()
        .filter_map(|variant| Some(Single { variant, factor: single_factor(baseline, variant)? }))
        .collect();
    let deciding = |table: &&Table| table.metric == findings.method.deciding_metric && is_time(table);
    let mut diagnoses = vec![];
    for table in findings.tables.iter().filter(deciding) {
        let place = PlaceContext { pieces, findings, files, traces, table, baseline, singles: &singles };
        diagnoses.extend(singles.iter().filter_map(|single| place.diagnosis(single)));
    }
    diagnoses
}

/// The only factor in which two variants differ, if there is but one.
fn single_factor<'a>(one: &'a VariantLine, other: &VariantLine) -> Option<&'a str> {
    let mut differing = one.levels.iter().filter(|(factor, level)| other.levels.get(*factor) != Some(*level));
    let factor = differing.next()?.0;
    differing.next().is_none().then_some(factor.as_str())
}

/// Whether a metric is of time that was spent: only such metrics have known causes.
fn is_time(table: &Table) -> bool {
    let is_waiting = table.metric == "run_delay" || table.metric.starts_with("pressure_");
    let kind = (table.unit, table.better);
    !is_waiting && matches!(kind, (Unit::Seconds, Direction::Less) | (Unit::PerSecond, Direction::More))
}

/// Whether a rule may tell of a metric: time in the kernel is not spent in the program, nor the other way round; and
/// what is counted over a whole trial says nothing of one of its phases.
fn tells_of(rule: &Rule, metric: &str) -> bool {
    let of = metric.rsplit('.').next().unwrap_or(metric);
    let is_in_scope = match rule.scope {
        Scope::Whole => of == metric,
        Scope::Op => metric == "op.mean",
        Scope::Anything => true,
    };
    if !is_in_scope {
        return false;
    }
    match of {
        "sys" | "cgroup_sys" => rule.tells_of[0],
        "user" | "cgroup_user" => rule.tells_of[1],
        _ => true,
    }
}

/// One workload under one condition.
struct PlaceContext<'a> {
    pieces: &'a Pieces<'a>,
    findings: &'a Findings,
    files: &'a [FileTable],
    traces: &'a [TraceTable],
    table: &'a Table,
    baseline: &'a VariantLine,
    singles: &'a [Single<'a>],
}

impl<'a> PlaceContext<'a> {
    /// None if the study asks for files and this variant's could not be read. Traces are left out unless both sides of a
    /// comparison have one.
    fn seen(&self, variant: &VariantLine, with_trace: bool) -> Option<VariantEvidence<'a>> {
        let (facts, trace) = (self.pieces.facts(variant), self.trace(variant).filter(|_| with_trace));
        let has_facts = facts.is_some() || !self.pieces.asks_for(None);
        (has_facts && (facts.is_some() || trace.is_some())).then_some(VariantEvidence { facts, trace })
    }

    fn trace(&self, variant: &VariantLine) -> Option<&'a Traced> {
        self.pieces.trace(&variant.name, &self.table.workload)
    }

    fn comparison(&self, variant: &str) -> Option<&'a Comparison> {
        self.table.rows.iter().find(|row| row.variant == variant)?.comparison.as_ref()
    }

    /// None unless a difference was decided and evidence was gathered of both.
    fn diagnosis(&self, single: &Single<'a>) -> Option<Diagnosis> {
        let name = &single.variant.name;
        let comparison = self.comparison(name)?;
        if !matches!(comparison.verdict, Verdict::Faster | Verdict::Slower) {
            return None;
        }
        let with_trace = self.trace(self.baseline).is_some() && self.trace(single.variant).is_some();
        let (before, after) = (self.seen(self.baseline, with_trace)?, self.seen(single.variant, with_trace)?);
        let is_same = self.is_same(name);
        let causes = if is_same { vec![] } else { self.causes(single, comparison, before, after) };
        let Table { workload, condition, metric, unit, better, .. } = self.table.clone();
        let comparison = Comparison { caveats: vec![], ..comparison.clone() };
        Some(Diagnosis {
            variant: name.clone(),
            against: self.baseline.name.clone(),
            factor: single.factor.to_owned(),
            claim: Claim { workload, condition, metric, unit, better, comparison },
            causes,
            is_same,
        })
    }

    /// Whether all that was gathered of a variant is as in the baseline.
    fn is_same(&self, name: &str) -> bool {
        let together = |variants: &[String]| {
            variants.contains(&self.baseline.name) == variants.iter().any(|variant| variant == name)
        };
        let same_trace = |trace: &TraceTable| {
            trace.profiles.iter().all(|profile| together(&profile.variants))
                && trace.executed.iter().all(|executed| together(&executed.variants))
                && trace.paths.iter().all(|path| together(&path.found_by) && together(&path.missed_by))
        };
        let mut traces = self.traces.iter().filter(|trace| trace.workload == self.table.workload);
        let files = self.files.iter();
        files.flat_map(|file| file.rows.iter().map(|row| &row.variants).chain([&file.absent])).all(|all| together(all))
            && traces.all(same_trace)
    }

    /// What is consistent with the difference: there is more of it in the slower one, and the difference is not larger
    /// than it could make it. What a pair of variants contradicts is none.
    fn causes(
        &self,
        single: &Single<'a>,
        comparison: &Comparison,
        before: VariantEvidence<'_>,
        after: VariantEvidence<'_>,
    ) -> Vec<Cause> {
        let name = &single.variant.name;
        let mut causes = vec![];
        for rule in RULES.iter().filter(|rule| tells_of(rule, &self.table.metric)) {
            let Some((one, other)) = (rule.amount)(before).zip((rule.amount)(after)) else { continue };
            let is_more = other.number > one.number;
            let fits = is_more == (comparison.verdict == Verdict::Slower) && is_substantial(one.number, other.number);
            let Some(share) = self.most_of_it(&one, &other, name).filter(|_| fits) else { continue };
            // The trace has all of an op; of a whole trial it may have only a part.
            let least = if rule.scope == Scope::Op { SHARE_MIN } else { 1.0 };
            if share < least {
                continue;
            }
            let isolated = self.isolated(single, rule, [one.number, other.number]);
            // Without it there is the same difference, or a larger one: then it is no cause.
            let as_before = if is_more { Verdict::Slower } else { Verdict::Faster };
            let is_none = |pair: &Isolation| {
                [as_before, Verdict::Equivalent, Verdict::Negligible].contains(&pair.comparison.verdict)
            };
            if isolated.iter().any(is_none) {
                continue;
            }
            let (numbers, about) = ([one.number, other.number], about(&one.parts, &other.parts));
            let most_of_it = (share < 1.0).then_some(Ceiling { share, each_s: CALL_S });
            causes.push(Cause { kind: rule.kind, numbers, most_of_it, about, isolated });
            break;
        }
        causes
    }

    /// How much of the difference so much more of it could take at most; 1, if all of it or if nothing is known of that,
    /// and none if the difference is not known in seconds.
    fn most_of_it(&self, one: &Amount, other: &Amount, variant: &str) -> Option<f64> {
        let Some((before_s, after_s)) = one.most_s.zip(other.most_s) else { return Some(1.0) };
        let difference_s = self.difference_s(variant)?;
        Some(if difference_s > 0.0 { ((after_s - before_s).abs() / difference_s).min(1.0) } else { 1.0 })
    }

    /// The difference in seconds of one trial: of the medians of the deciding metric, or of wall time.
    fn difference_s(&self, variant: &str) -> Option<f64> {
        let here = |table: &&Table| {
            (&table.workload, &table.condition) == (&self.table.workload, &self.table.condition)
                && table.metric == metric::WALL
        };
        let table =
            if self.table.unit == Unit::Seconds { self.table } else { self.findings.tables.iter().find(here)? };
        let median = |name: &str| Some(table.rows.iter().find(|row| row.variant == name)?.summary.as_ref()?.median);
        Some((median(variant)? - median(&self.baseline.name)?).abs())
    }

    /// The variants that differ from this one in the same factor only, and that are as the baseline in this evidence:
    /// what they do beside this one is what the evidence does, if it does anything.
    fn isolated(&self, single: &Single<'a>, rule: &Rule, [without, with]: [u64; 2]) -> Vec<Isolation> {
        let mut isolated = vec![];
        let siblings =
            self.singles.iter().filter(|s| s.factor == single.factor && s.variant.name != single.variant.name);
        for sibling in siblings {
            let Some(amount) = self.seen(sibling.variant, true).and_then(|seen| (rule.amount)(seen)) else { continue };
            if is_substantial(with.abs_diff(amount.number), with.abs_diff(without)) {
                continue;
            }
            let Some(comparison) = self.pair(&sibling.variant.name, &single.variant.name) else { continue };
            isolated.push(Isolation { variant: sibling.variant.name.clone(), number: amount.number, comparison });
        }
        isolated
    }

    /// How a variant compares with another one of the same factor.
    fn pair(&self, variant: &str, against: &str) -> Option<Comparison> {
        let here = |family: &&Effects| {
            family.kind == EffectKind::Levels
                && family.metric == self.table.metric
                && family.workload.as_deref() == Some(&self.table.workload)
                && family.condition.as_deref() == Some(&self.table.condition)
        };
        let family = self.findings.effects.iter().find(here)?;
        let of = |variant: &str, against: &str| {
            let subject = Subject::Variant { variant: variant.to_owned(), against: against.to_owned() };
            family.effects.iter().find(|effect| effect.subject == subject)
        };
        let comparison = match of(variant, against) {
            Some(effect) => effect.comparison.clone(),
            None => of(against, variant)?.comparison.as_ref().map(Comparison::turned),
        };
        comparison.map(|comparison| Comparison { caveats: vec![], ..comparison })
    }
}

/// The parts that differ most, by name: of files the name only, because their folders may differ.
fn about(one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>) -> Vec<String> {
    let mut sums: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, parts) in [one, other].into_iter().enumerate() {
        for (path, number) in parts {
            sums.entry(path.rsplit('/').next().unwrap_or(path)).or_default()[side] += number;
        }
    }
    let mut names: Vec<(u64, &str)> =
        sums.into_iter().map(|(name, [one, other])| (one.abs_diff(other), name)).collect();
    names.retain(|(distance, _)| *distance > 0);
    names.sort_by_key(|(distance, _)| std::cmp::Reverse(*distance));
    names.into_iter().take(ABOUT_MAX).map(|(_, name)| name.to_owned()).collect()
}
