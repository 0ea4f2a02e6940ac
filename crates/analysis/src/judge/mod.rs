//! From a record to findings: which trials count, which are paired, what is inferred from the pairs, what is claimed,
//! and which doubts go with it. The arithmetic is [`crate::stats`]'; nothing here draws, and no number is rounded.
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
//! - The twin is compared like the others, but uncorrected and outside the family.

mod beside;
mod builds;
mod complete;
mod conclude;
mod contrasts;
mod diagnostics;
mod doubts;
mod effects;
mod factors;
mod fraction;
mod infer;
mod interim_view;
mod latencies;
mod lost;
mod metric_spec;
mod mode;
mod outputs;
mod pairs;
pub mod planning;
mod provided;
mod ranking;
mod rule;
mod samples;
mod stopping_rule;
mod study;
mod surroundings;
mod trials;

pub use builds::{doubts as doubts_about_builds, same_files};
pub(crate) use mode::InferenceMode;
pub use samples::judge_samples;
pub(crate) use stopping_rule::{fulfilled, is_looked_at};

use crate::findings::{Comparison, Effects, FORMAT, Findings, Layouts, Method, Outputs, Row, Summary, Table, Verdict};
use bakeoff_model::metric::{self, Metric};
use bakeoff_model::record::{Block, BuildLine, BuildOutcome, Place, Record, Session, TWIN, VariantLine};
use bakeoff_model::study::Vary;
use contrasts::Contrasts;
use infer::Inference;
use interim_view::InterimView;
use lost::Attempts;
use metric_spec::MetricSpec;
use pairs::Known;
use rule::DecisionRule;
use std::collections::{BTreeMap, BTreeSet};
use trials::{Pairs, Trials, Values};

/// Judges a record, finished or not. It never fails: what cannot be said is absent, and a caveat says why.
pub fn judge(record: &Record) -> Findings {
    let of_workloads = record.without_building();
    let mut findings = judge_workloads(&of_workloads);
    findings.evidence = crate::diagnosis::gathered(&of_workloads, &findings).map(Box::new);
    findings.layouts = layouts(record);
    if let Some(building) = record.of_building() {
        let judged = judge_workloads(&building);
        findings.built_and_executed = beside::built_and_executed(&building, &judged, &findings);
        findings.building = Some(Box::new(judged));
    }
    findings
}

/// How many passes were linked anew, and of how many; none if the order of linking is not varied.
fn layouts(record: &Record) -> Option<Layouts> {
    if !record.study.vary.contains(&Vary::LinkOrder) {
        return None;
    }
    let record = record.without_building();
    let executed: BTreeSet<u32> = record.trials.iter().map(|trial| trial.block).collect();
    let passes = |takes: fn(&Block) -> bool| -> BTreeSet<u32> {
        let blocks = record.blocks.iter().filter(|block| takes(block) && executed.contains(&block.block));
        blocks.map(|block| block.block).collect()
    };
    let (anew, all) = (passes(|block| block.layout.is_some()), passes(|_| true));
    Some(Layouts { passes: anew.len() as u32, of: all.len() as u32 })
}

/// The same of a record without building.
fn judge_workloads(record: &Record) -> Findings {
    let study = &record.study;
    let mut view = InterimView::of(record);
    let rule = DecisionRule::of(study, view.mode);
    let variants: Vec<VariantLine> = study::variants(study).cloned().collect();
    let (trials, attempts) = (Trials::of(record), Attempts::of(record));
    let seen = Trials::until(record, view.last_pass);
    let [unavailable, missing] = provided::unavailable(record);
    let mut tables = tables(record, &seen, &variants, rule, &study.decide.metrics);
    let outputs = outputs::outputs(record, &trials);
    outputs::withhold(&mut tables, &outputs);
    let pairs = rank(&mut tables, record, &seen, rule);
    tables.retain(|table| !provided::is_unmeasured(table, &unavailable, &seen));
    if let Some(stopping) = &mut view.stopping {
        let deciding = |table: &&Table| study.decide.metrics.first() == Some(&table.metric);
        let fulfilled = fulfilled(study.until, tables.iter().filter(deciding));
        stopping.enough = is_looked_at(record) && fulfilled;
    }
    let is_withheld = |w: &str, c: &str, variant: &str| outputs::is_withheld(&outputs, (w, c), variant);
    let alike = Trials::until(record, view.last_pass).without(is_withheld);
    let sessions = sessions(record);
    let mut builds = latest(&record.builds);
    builds.sort_by_key(|build| variants.iter().position(|v| build.variants.contains(&v.name)).unwrap_or(usize::MAX));
    let is_enough = view.stopping.as_ref().is_some_and(|stopping| stopping.enough);
    let blocks_wanted = blocks_wanted(record, is_enough);
    let effects = all_effects(record, &alike, &tables, &pairs, &outputs, rule);
    let mut findings = Findings {
        format: FORMAT,
        study: study.study.clone(),
        question: study.question.clone(),
        plan: study.plan.clone(),
        seed: study.seed,
        simulated: study.simulated.clone(),
        method: Method {
            deciding_metric: study.decide.metrics.first().cloned().unwrap_or_default(),
            confidence: study.decide.confidence,
            margin: study.decide.margin,
            family: rule.family,
            stopping: view.stopping,
        },
        places: places(&sessions),
        sessions: sessions.len() as u32,
        blocks_wanted,
        blocks_finished: trials.finished(&record.blocks),
        blocks_total: blocks_wanted * (study.workloads.len() * study.conditions.len()) as u32,
        started_unix_s: record.sessions.first().map_or(0.0, |session| session.started_unix_s),
        outputs: vec![],
        failures: attempts.lost(study),
        metrics: provided::metrics(study, &tables, &trials),
        latencies: latencies::tables(study, &seen, rule),
        conditions: surroundings::conditions(record, &seen, rule),
        unavailable,
        missing,
        variants,
        excluded: study.excluded.clone(),
        shared: study.shared.clone(),
        tables,
        effects,
        build_doubts: builds::doubts(study, &builds),
        builds,
        building: None,
        built_and_executed: vec![],
        layouts: None,
        evidence: None,
        caveats: vec![],
    };
    findings.outputs = outputs;
    builds::warn(&mut findings, study);
    findings.caveats = doubts::about(&findings, record, &trials, rule);
    findings.caveats.extend(diagnostics::about(&findings, &trials, &attempts, rule));
    findings
}

/// All effects, with the reason why one is missing where outputs differ. A contrast that is a pair is known from the tables.
fn all_effects(
    record: &Record,
    trials: &Trials<'_>,
    tables: &[Table],
    pairs: &BTreeMap<(String, String), pairs::Pairs>,
    outputs: &[Outputs],
    rule: DecisionRule,
) -> Vec<Effects> {
    let deciding = record.study.decide.metrics.first().map_or("", String::as_str);
    let known = Known { tables, pairs, deciding };
    let mut effects = effects::effects(record, trials, known, rule);
    effects.extend(effects::levels(record, trials, known, rule));
    outputs::explain(&mut effects, outputs);
    effects
}

/// Where the sessions were, each place once.
fn places(sessions: &[&Session]) -> Vec<Place> {
    let mut places: Vec<Place> = vec![];
    for session in sessions {
        if !places.contains(&session.place) {
            places.push(session.place.clone());
        }
    }
    places
}

/// Blocks that each workload and condition is to have. Fewer may be asked for than there already are.
fn blocks_wanted(record: &Record, is_enough: bool) -> u32 {
    let passes = record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
    let most = record.sessions.last().map_or(0, |session| session.blocks);
    if is_enough { passes } else { most.max(passes) }
}

/// Without builds that failed and succeeded later, for the same variants.
fn latest(builds: &[BuildLine]) -> Vec<BuildLine> {
    let is_built =
        |later: &BuildLine, variant: &String| later.outcome == BuildOutcome::Built && later.variants.contains(variant);
    let is_superseded = |at: usize, build: &BuildLine| {
        build.outcome != BuildOutcome::Built
            && build.variants.iter().all(|variant| builds[at + 1..].iter().any(|later| is_built(later, variant)))
    };
    let kept = builds.iter().enumerate().filter(|(at, build)| !is_superseded(*at, build));
    kept.map(|(_, build)| build.clone()).collect()
}

/// The tables of the deciding metric alone: what a stopping rule asks for, after every pass.
pub(crate) fn deciding_tables(record: &Record) -> Vec<Table> {
    let view = InterimView::of(record);
    let rule = DecisionRule::of(&record.study, view.mode);
    let variants: Vec<VariantLine> = study::variants(&record.study).cloned().collect();
    let metrics = record.study.decide.metrics.get(..1).unwrap_or_default();
    let seen = Trials::until(record, view.last_pass);
    let mut tables = tables(record, &seen, &variants, rule, metrics);
    outputs::withhold(&mut tables, &outputs::outputs(record, &Trials::of(record)));
    tables
}

/// Ranks the variants of the deciding metric's tables, and returns what is known of their pairs, by workload and condition.
/// A variant without a verdict, because it printed something else, is not among them.
fn rank(
    tables: &mut [Table],
    record: &Record,
    trials: &Trials<'_>,
    rule: DecisionRule,
) -> BTreeMap<(String, String), pairs::Pairs> {
    let study = &record.study;
    let mut known = BTreeMap::new();
    let deciding = study.decide.metrics.first();
    for table in tables.iter_mut().filter(|table| deciding == Some(&table.metric)) {
        let Some(metric) = metric::by_name(&table.metric, &study.metrics) else { continue };
        let values = trials.values(&table.workload, &table.condition, &table.metric);
        let is_withheld = |row: &Row| row.comparison.as_ref().is_some_and(|c| c.verdict == Verdict::Withheld);
        let rows: Vec<Row> = table.rows.iter().filter(|row| !is_withheld(row)).cloned().collect();
        let spec = spec_of(metric, &values, record, trials);
        let Some(pairs) = pairs::Pairs::of(&values, &rows, spec, rule) else { continue };
        table.ranking = ranking::ranking(&pairs, &rows, metric.better);
        known.insert((table.workload.clone(), table.condition.clone()), pairs);
    }
    known
}

/// The sessions that executed trials; one that found nothing to do, or could not begin, was nowhere.
fn sessions(record: &Record) -> Vec<&Session> {
    let has_trials = |session: &&Session| record.trials.iter().any(|trial| trial.session == session.session);
    record.sessions.iter().filter(has_trials).collect()
}

/// How a metric is measured in the table that these are all values of.
fn spec_of(metric: &Metric, values: &Values<'_>, record: &Record, trials: &Trials<'_>) -> MetricSpec {
    let floor = floor_bytes(&metric.name, record, trials);
    MetricSpec { floor, ..MetricSpec::of(metric) }.on_grid_of(&values.all())
}

/// Peak memory that any trial shows, because its launcher needed as much; 0 if that was not told, or is not what the
/// metric shows.
fn floor_bytes(metric: &str, record: &Record, trials: &Trials<'_>) -> f64 {
    let is_inherited = match metric {
        "maxrss" => true,
        "peak" => provided::peak_sources(trials)[1] > 0,
        _ => false,
    };
    if !is_inherited {
        return 0.0;
    }
    record.sessions.iter().filter_map(|session| session.memory_floor_bytes).fold(0.0, f64::max)
}

/// Every workload × condition × metric. A metric that this version does not know has no table; [`doubts`] says so.
fn tables(
    record: &Record,
    trials: &Trials<'_>,
    variants: &[VariantLine],
    rule: DecisionRule,
    metrics: &[String],
) -> Vec<Table> {
    let study = &record.study;
    let has_twin = study.variants.iter().any(|v| v.name == TWIN) || record.trials.iter().any(|t| t.variant == TWIN);
    let mut tables = vec![];
    for workload in &study.workloads {
        for condition in &study.conditions {
            for known in metrics.iter().filter_map(|name| metric::by_name(name, &study.metrics)) {
                let values = trials.values(workload, condition, &known.name);
                let spec = spec_of(known, &values, record, trials);
                let (rows, noise_floor) = rows(&values, variants, has_twin, spec, rule);
                let (workload, condition, metric) = (workload.clone(), condition.clone(), known.name.to_string());
                let (unit, better) = (known.unit, known.better);
                tables.push(Table { workload, condition, metric, unit, better, rows, noise_floor, ranking: None });
            }
        }
    }
    tables
}

/// The rows of one table, and the twin's.
fn rows(
    values: &Values<'_>,
    variants: &[VariantLine],
    has_twin: bool,
    spec: MetricSpec,
    rule: DecisionRule,
) -> (Vec<Row>, Option<Row>) {
    let Some((baseline, others)) = variants.split_first() else { return (vec![], None) };
    let pairs = |name: &str| values.pairs(&baseline.name, name);
    let contrasts = |pairs: &Pairs| Contrasts::of_pairs(pairs, spec, rule.margin);
    let row = |name: &str, comparison: Option<Comparison>| {
        let summary = Summary::new(&values.of(name), rule.alpha);
        Row { variant: name.to_owned(), summary, comparison }
    };

    let compare = |names: &[&str], rule: DecisionRule| -> Vec<Row> {
        let pairs: Vec<Pairs> = names.iter().map(|name| pairs(name)).collect();
        let inferences = infer::family(&pairs.iter().map(contrasts).collect::<Vec<_>>(), rule);
        let conclude = |(pairs, inference): (&Pairs, Option<Inference>)| {
            inference.map(|inference| conclude::conclude(pairs, &inference, spec, rule))
        };
        let comparisons = pairs.iter().zip(inferences).map(conclude);
        names.iter().zip(comparisons).map(|(name, comparison)| row(name, comparison)).collect()
    };

    let names: Vec<&str> = others.iter().map(|variant| variant.name.as_str()).collect();
    let mut rows = vec![row(&baseline.name, None)];
    rows.extend(compare(&names, rule));
    let noise_floor = has_twin.then(|| compare(&[TWIN], DecisionRule { family: 1, ..rule }).pop()).flatten();
    (rows, noise_floor)
}
