//! Doubts about a study as a whole. Those about one comparison are in [`super::conclude`].

use super::rule::DecisionRule;
use super::trials::Trials;
use super::{conditions, provided};
use crate::findings::{Caveat, ControlSeen, Findings, SeenTime, Spot, Spots, Verdict};
use bakeoff_model::metric;
use bakeoff_model::record::{Outcome, Record, StudyLine};
use bakeoff_model::until::Until;
use std::borrow::Cow;

/// All doubts that apply, the gravest first. `findings` is complete but for these.
pub(super) fn about(findings: &Findings, record: &Record, trials: &Trials<'_>, rule: DecisionRule) -> Vec<Caveat> {
    // A trial of a suite is one trial, however many benchmarks it has.
    let once = record.once();
    let of_once = matches!(once, Cow::Owned(_)).then(|| Trials::of(&once));
    let (record, trials) = (&*once, of_once.as_ref().unwrap_or(trials));
    let doubts = [
        findings.simulated.clone().map(|truth| Caveat::Simulated { truth }),
        twin_differs(findings),
        control_differs(findings, &record.study),
        (!record.study.clock.is_of_seconds()).then_some(Caveat::Emulated),
        counted(record, trials),
        unfinished(findings),
        several_places(findings, record),
        interrupted_blocks(trials),
        prolonged(record),
        after_the_look(findings, record),
        leftovers(record),
        clock_set(record),
        conditions::unequal_load(&record.study, trials, rule),
        conditions::busy_machine(record, trials).or_else(|| conditions::high_load(record, trials)),
        fixed_time(findings, record),
        provided::two_kinds_of_peak(&findings.tables, trials),
        provided::blind_rules(&record.study, &findings.missing),
        unknown_metrics(&record.study),
    ];
    doubts.into_iter().flatten().collect()
}

/// A timer never fires early, and rarely this much late, in seconds.
const LATE_S: f64 = 0.05;
/// Durations that people choose are multiples of this, in seconds.
const CHOSEN_S: f64 = 0.5;
/// A load generator may need so much longer than whole seconds to start and to end, and always about the same, in seconds.
const OVERHEAD_S: [f64; 2] = [0.15, 0.02];

/// A load generator or `timeout` takes as long as its options say, whatever it is run on.
fn fixed_time(findings: &Findings, record: &Record) -> Option<Caveat> {
    if findings.method.deciding_metric != "wall" || record.study.variants.len() < 2 {
        return None;
    }
    record.study.workloads.iter().find_map(|workload| {
        let of_it = record.trials.iter().filter(|trial| trial.workload == *workload && trial.outcome == Outcome::Ok);
        let walls: Vec<f64> = of_it.filter_map(|trial| trial.value("wall")).collect();
        let seconds = (walls.first()? / CHOSEN_S).floor() * CHOSEN_S;
        let ends = [f64::min, f64::max].map(|end| walls.iter().copied().reduce(end).unwrap_or_default());
        let is_steady = seconds.fract() == 0.0 && ends[1] - ends[0] <= OVERHEAD_S[1];
        let late_s = if is_steady { OVERHEAD_S[0] } else { LATE_S };
        let is_fixed = seconds > 0.0 && ends[0] >= seconds && ends[1] <= seconds + late_s;
        is_fixed.then(|| Caveat::FixedTime { workload: workload.clone(), seconds })
    })
}

fn twin_differs(findings: &Findings) -> Option<Caveat> {
    let verdicts: Vec<Verdict> = findings
        .tables
        .iter()
        .filter_map(|table| table.noise_floor.as_ref()?.comparison.as_ref())
        .chain(findings.effects.iter().filter_map(|family| family.twin.as_ref()))
        .map(|comparison| comparison.verdict)
        .collect();
    let differ = verdicts.iter().filter(|v| matches!(v, Verdict::Faster | Verdict::Slower)).count();
    (differ > 0).then_some(Caveat::TwinDiffers { differ, of: verdicts.len() })
}

/// Of each control the largest difference that is shown: no difference of that size in another metric is credible.
fn control_differs(findings: &Findings, study: &StudyLine) -> Option<Caveat> {
    let mut seen: Vec<Spot<ControlSeen>> = vec![];
    for name in &study.decide.control {
        let tables = findings.tables.iter().filter(|table| table.metric == *name);
        let spots = tables.flat_map(|table| {
            table.rows.iter().filter_map(move |row| {
                let comparison = row.comparison.as_ref().filter(|comparison| comparison.differs())?;
                let what = ControlSeen { ratio: comparison.estimate, is_within: comparison.is_within() };
                Some(Spot::of(table, &row.variant, what))
            })
        });
        seen.extend(spots.max_by(|a, b| a.what.ratio.ln().abs().total_cmp(&b.what.ratio.ln().abs())));
    }
    (!seen.is_empty()).then_some(Caveat::ControlDiffers(Spots { seen, cells: findings.tables.len() }))
}

/// What is counted in the place of a measurement, and how much of each variant's time that can see.
fn counted(record: &Record, trials: &Trials<'_>) -> Option<Caveat> {
    let study = &record.study;
    let counted = study.decide.metrics.first().and_then(|name| study.metric(name)).filter(|metric| metric.counted)?;
    let seen = study.variants.iter().map(|variant| {
        let share = trials.seen(trials.ids.variant(&variant.name)).unwrap_or(0.0);
        SeenTime { variant: variant.name.clone(), share }
    });
    Some(Caveat::Counted { what: counted.what.into_owned(), seen: seen.collect() })
}

fn unfinished(findings: &Findings) -> Option<Caveat> {
    let (finished, total) = (findings.blocks_finished, findings.blocks_total);
    let at_most = findings.method.stopping.is_some();
    (finished < total).then_some(Caveat::Unfinished { finished, total, at_most })
}

/// Where each block has its machine, [`super::by_place`] says more.
fn several_places(findings: &Findings, record: &Record) -> Option<Caveat> {
    let places = findings.places.len();
    (places > 1 && record.away.is_empty()).then_some(Caveat::SeveralPlaces { places })
}

fn interrupted_blocks(trials: &Trials<'_>) -> Option<Caveat> {
    let interrupted = trials.all_blocks().filter(|block| {
        let mut sessions = block.values().map(|trial| trial.session);
        let first = sessions.next();
        sessions.any(|session| Some(session) != first)
    });
    let blocks = interrupted.count();
    (blocks > 0).then_some(Caveat::InterruptedBlocks { blocks })
}

/// Stopping when one likes what one sees is a stopping rule without an error rate.
fn prolonged(record: &Record) -> Option<Caveat> {
    // A stopping rule may be given more room: it would have gone on all the same, whatever the difference.
    if record.study.until != Until::Blocks {
        return None;
    }
    let mut wanted: Vec<u32> = record.sessions.iter().map(|session| session.blocks).collect();
    wanted.dedup();
    let times = wanted.windows(2).filter(|pair| pair[1] > pair[0]).count();
    (times > 0).then_some(Caveat::Prolonged { times })
}

/// Looking between the looks would be one look more than the error rates allow for.
fn after_the_look(findings: &Findings, record: &Record) -> Option<Caveat> {
    let stopping = findings.method.stopping.as_ref().filter(|stopping| !stopping.looks.is_empty())?;
    let (passes, judged_blocks) =
        (record.blocks.iter().map(|block| block.block).max().unwrap_or(0), stopping.judged_blocks);
    let looked = stopping.looks.contains(&judged_blocks);
    (looked && passes > judged_blocks).then_some(Caveat::AfterTheLook { judged_blocks })
}

fn leftovers(record: &Record) -> Option<Caveat> {
    let trials = record.trials.iter().filter(|trial| trial.leftovers > 0);
    let mut variants: Vec<String> = trials.map(|trial| trial.variant.clone()).collect();
    let trials = variants.len();
    variants.sort_unstable();
    variants.dedup();
    (trials > 0).then_some(Caveat::Leftovers { trials, variants })
}

fn clock_set(record: &Record) -> Option<Caveat> {
    let steps = &record.clock_set;
    let most_s = steps.iter().map(|step| step.by_s).max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    Some(Caveat::ClockSet { times: steps.len(), most_s })
}

fn unknown_metrics(study: &StudyLine) -> Option<Caveat> {
    let mut metrics = study.decide.metrics.clone();
    metrics.retain(|name| metric::by_name(name, &study.metrics).is_none());
    (!metrics.is_empty()).then_some(Caveat::UnknownMetric { metrics })
}
