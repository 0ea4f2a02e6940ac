//! All findings of a record without building: trials, tables, effects, outputs and doubts, in the order of their needs.

use super::interim_view::InterimView;
use super::lost::Attempts;
use super::pairs::EffectInputs;
use super::rule::DecisionRule;
use super::stopping_rule::{fulfilled, is_looked_at};
use super::tables::{rank, tables};
use super::trials::Trials;
use super::{by_place, conditions, diagnostics, doubts, effects, executed, latencies, outputs, provided, study};
use crate::findings::{Caveat, FORMAT, Findings, Method, Table};
use bakeoff_model::record::{Record, StudyLine, VariantLine};

pub(super) fn judge_workloads(record: &Record, levels: bool) -> Findings {
    let study = &record.study;
    let mut view = InterimView::of(record);
    let rule = DecisionRule::of(study, view.mode);
    let variants: Vec<VariantLine> = study::variants(study).cloned().collect();
    let (trials, attempts) = (Trials::of(record), Attempts::of(record));
    let seen = Trials::until(record, view.last_pass);
    let [unavailable, missing] = provided::unavailable(record);
    let mut tables = tables(record, &seen, &variants, rule, &study.decide.metrics);
    let outputs = outputs::outputs(record, &trials);
    outputs::withhold(&mut tables, &outputs, &trials.ids);
    tables.retain(|table| !provided::is_unmeasured(table, &unavailable, &seen));
    if let Some(stopping) = &mut view.stopping {
        stopping.enough = is_looked_at(record) && is_fulfilled(study, &tables);
    }
    // More blocks would not take back what a machine contradicts.
    let places = by_place::judged(record, &seen, &mut tables, rule);
    let pairs = rank(&mut tables, record, &seen, rule);
    let alike = seen.clone().without(|ids, cell| outputs::is_withheld(&outputs, ids, cell));
    let sessions = executed::sessions(record);
    let is_enough = view.stopping.as_ref().is_some_and(|stopping| stopping.enough);
    let blocks_wanted = executed::blocks_wanted(record, is_enough);
    let deciding = study.decide.metrics.first().map_or("", String::as_str);
    let known =
        EffectInputs { tables: &tables, pairs: &pairs, deciding, outputs: &outputs, seen: seen.least_seen(study) };
    let mut effects = effects::families(record, &alike, known, rule);
    effects.extend(effects::levels(record, &alike, known, rule, levels));
    by_place::limit_effects(&places.rows, &mut effects);
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
            family: rule.family * record.most_benchmarks() as u32,
            stopping: view.stopping,
        },
        places: executed::places(&sessions),
        sessions: sessions.len() as u32,
        blocks_wanted,
        blocks_finished: trials.finished(&record.blocks),
        blocks_total: executed::blocks_total(record, blocks_wanted),
        started_unix_s: record.sessions.first().map_or(0.0, |session| session.started_unix_s),
        outputs,
        failures: attempts.lost(study),
        metrics: provided::metrics(study, &tables, &trials),
        latencies: latencies::tables(study, &seen, rule),
        conditions: conditions::conditions(record, &seen, rule),
        unavailable,
        missing,
        is_one_program: record.trials.is_empty() && !study.shared.is_empty() && variants.len() == 1,
        variants,
        excluded: study.excluded.clone(),
        shared: study.shared.clone(),
        tables,
        by_place: places.rows,
        run_again: record.run_again.len() as u32,
        effects,
        ..Findings::default()
    };
    findings.caveats = all_doubts(&findings, record, &trials, &attempts, rule, places.doubts);
    findings
}

/// All doubts: those of the study, those that the data themselves raise, and those about machines.
fn all_doubts(
    findings: &Findings,
    record: &Record,
    trials: &Trials<'_>,
    attempts: &Attempts<'_>,
    rule: DecisionRule,
    of_places: Vec<Caveat>,
) -> Vec<Caveat> {
    let (of_study, of_data) = rayon::join(
        || doubts::about(findings, record, trials, rule),
        || diagnostics::about(findings, trials, attempts, rule),
    );
    of_study.into_iter().chain(of_data).chain(of_places).collect()
}

/// Whether the rule for stopping is fulfilled by the tables of the deciding metric.
fn is_fulfilled(study: &StudyLine, tables: &[Table]) -> bool {
    let deciding = |table: &&Table| study.decide.metrics.first() == Some(&table.metric);
    fulfilled(study.until, tables.iter().filter(deciding))
}

/// The tables of the deciding metric alone: what a stopping rule asks for, after every pass.
pub(crate) fn deciding_tables(record: &Record) -> Vec<Table> {
    let view = InterimView::of(record);
    let rule = DecisionRule::of(&record.study, view.mode);
    let variants: Vec<VariantLine> = study::variants(&record.study).cloned().collect();
    let metrics = record.study.decide.metrics.get(..1).unwrap_or_default();
    let seen = Trials::until(record, view.last_pass);
    let mut tables = tables(record, &seen, &variants, rule, metrics);
    let trials = Trials::of(record);
    outputs::withhold(&mut tables, &outputs::outputs(record, &trials), &trials.ids);
    tables
}
