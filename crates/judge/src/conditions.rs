//! What the record tells of the conditions: whether each part of a condition was as it was asked for, what was measured
//! of load and throughput, and whether the load was the same for all variants. What conditions do to a metric is in
//! [`super::effects`].

use super::conclude::conclude_effect;
use super::contrasts::Contrasts;
use super::executed::sessions;
use super::ids::{Place, VariantId};
use super::infer;
use super::metric_spec::MetricSpec;
use super::rule::DecisionRule;
use super::study::variants;
use super::trials::{Trials, value_that_counts};
use crate::findings::{
    BusySeen, Caveat, ConditionParts, LoadSeen, Part, Scale, Summary, Verdict, Watched, WatchedVariant,
};
use bakeoff_model::metric::{self, Direction, Metric, Unit};
use bakeoff_model::record::{Held, Outcome, Record, StudyLine, Trial};
use bakeoff_stats::describe::mean;

/// Where the variants' medians differ by more than this factor, the report lists each.
const APART: f64 = 1.05;

/// Other programs' share of all processors' time from which on a trial counts as disturbed. A trial that would use all
/// processors takes up to 1 ÷ (1 − 0.1) as long then, ten times the default margin; idle machines show one to three percent.
const DISTURBED_FROM: f64 = 0.1;
/// And their time from which on: /proc/stat counts in ticks of 10 ms, so that less than two of them may be none at all.
const DISTURBED_FROM_S: f64 = 0.02;
/// Disturbed trials are no doubt below this share of them: centres and tests are robust against some.
const MANY: f64 = 0.25;
/// Trials of which other programs' share is known speak for the others from this number on, if they are this part of them.
const KNOWN: usize = 5;
const KNOWN_PART: f64 = 0.25;
/// Where they are fewer, this load for each processor besides our own processes is too much.
const WAITING_FROM: f64 = 0.5;

/// Every condition of which the record tells anything.
pub(super) fn conditions(record: &Record, trials: &Trials<'_>, rule: DecisionRule) -> Vec<ConditionParts> {
    let study = &record.study;
    let of = |condition: &String| {
        let parts = parts(record, trials, condition, rule);
        let watched = study
            .workloads
            .iter()
            .flat_map(|workload| watched(study, trials, trials.ids.place(workload, condition), rule));
        ConditionParts { condition: condition.clone(), parts, watched: watched.collect() }
    };
    let mut conditions: Vec<ConditionParts> = study.conditions.iter().map(of).collect();
    conditions.retain(|condition| !(condition.parts.is_empty() && condition.watched.is_empty()));
    conditions
}

/// The parts that sessions with trials recorded; a state that only some of them found has its number of sessions.
fn parts(record: &Record, trials: &Trials<'_>, condition: &str, rule: DecisionRule) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![];
    for session in sessions(record) {
        for found in session.surroundings.iter().filter(|found| found.condition == condition) {
            match parts.iter_mut().find(|part| part.what == found.what && part.state == found.state) {
                Some(part) => part.sessions += 1,
                None => {
                    let (what, state) = (found.what.clone(), found.state.clone());
                    let observed = match &state {
                        Held::Observed(metric) => {
                            let here = record
                                .study
                                .workloads
                                .iter()
                                .flat_map(|w| trials.blocks(trials.ids.place(w, condition)));
                            let all = here.flat_map(|block| block.values());
                            let values: Vec<f64> = all.filter_map(|trial| value_that_counts(trial, metric)).collect();
                            Summary::new(&values, rule.alpha)
                        }
                        Held::Held | Held::Unavailable(_) => None,
                    };
                    parts.push(Part { what, state, sessions: 1, of: 0, observed });
                }
            }
        }
    }
    let of: Vec<u32> =
        parts.iter().map(|part| parts.iter().filter(|p| p.what == part.what).map(|p| p.sessions).sum()).collect();
    parts.iter_mut().zip(of).for_each(|(part, of)| part.of = of);
    // Both words on one part stand next to each other.
    let first: Vec<String> = parts.iter().map(|part| part.what.clone()).collect();
    parts.sort_by_key(|part| first.iter().position(|what| *what == part.what));
    parts
}

/// The load's rate and cost, and the throughput where several processes run at once.
fn watched(study: &StudyLine, trials: &Trials<'_>, place: Place, rule: DecisionRule) -> Vec<Watched> {
    let several = trials.blocks(place).any(|block| block.values().any(|t| t.processes.len() > 1));
    let known = |name: &str| study.metric(name);
    let mut watched: Vec<Option<Watched>> = ["load_rate", "load_cpu"]
        .into_iter()
        .map(|name| watch(study, trials, place, &known(name)?, rule, &|trial| value_that_counts(trial, name)))
        .collect();
    if several {
        let total = Metric { what: "total of all processes".into(), ..known("throughput").unwrap_or_else(each) };
        watched.push(watch(study, trials, place, &total, rule, &|trial| value_that_counts(trial, "throughput")));
        watched.push(watch(study, trials, place, &each(), rule, &of_each));
    }
    watched.into_iter().flatten().collect()
}

/// It is made here of the processes' own measurements, and no study can decide on it.
fn each() -> Metric {
    Metric {
        name: "throughput of each".into(),
        unit: Unit::PerSecond,
        better: Direction::More,
        what: "mean of a trial's processes".into(),
        source: "count ÷ wall of each process".into(),
        exact: false,
        counted: false,
    }
}

/// The mean throughput of a trial's processes, each over its own time; of ops, each process has marked an equal part.
fn of_each(trial: &Trial) -> Option<f64> {
    let count = match trial.marks.ops_count() {
        0 => 1.0,
        ops => ops as f64 / trial.processes.len() as f64,
    };
    let rate = |process: &metric::Measurements| Some(count / process.get("wall").filter(|wall_s| **wall_s > 0.0)?);
    let rates: Option<Vec<f64>> = trial.processes.iter().map(rate).collect();
    rates.filter(|rates| trial.outcome == Outcome::Ok && rates.len() > 1).map(|rates| mean(&rates))
}

fn watch(
    study: &StudyLine,
    trials: &Trials<'_>,
    place: Place,
    metric: &Metric,
    rule: DecisionRule,
    value: &dyn Fn(&Trial) -> Option<f64>,
) -> Option<Watched> {
    let of = |wanted: &dyn Fn(VariantId) -> bool| {
        let all = trials.blocks(place).flat_map(|block| block.iter());
        let values: Vec<f64> = all.filter(|(id, _)| wanted(**id)).filter_map(|(_, trial)| value(trial)).collect();
        Summary::new(&values, rule.alpha)
    };
    let all = of(&|_| true)?;
    let each = variants(study).filter_map(|variant| {
        let id = trials.ids.variant(&variant.name);
        Some(WatchedVariant { variant: variant.name.clone(), summary: of(&|other| other == id)? })
    });
    let mut each: Vec<WatchedVariant> = each.collect();
    let medians = || each.iter().map(|one| one.summary.median);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    if most <= APART * least {
        each.clear();
    }
    let Metric { name, unit, better, what, .. } = metric;
    let (metric, what) = (name.to_string(), what.to_string());
    let workload = trials.ids.names(place).0.to_owned();
    Some(Watched { workload, metric, what, unit: *unit, better: *better, all, variants: each })
}

/// Whether the load ended more often during some variants' trials than during the baseline's: by the pairs' own test, and
/// by more than the margin. A load that starts again as soon as it ends is faster while a program that needs less runs.
pub(super) fn unequal_load(study: &StudyLine, trials: &Trials<'_>, rule: DecisionRule) -> Option<Caveat> {
    let mut seen = vec![];
    let mut variants = variants(study).map(|variant| variant.name.as_str());
    let baseline = variants.next()?;
    let others: Vec<&str> = variants.collect();
    for place in trials.ids.places(study) {
        let (workload, condition) = trials.ids.names(place);
        let values = trials.values(place, "load_rate");
        let unit = Some(Unit::PerSecond);
        let spec = MetricSpec::measured(unit, Direction::More, false);
        let pairs = |variant: &str| values.pairs(trials.ids.variant(baseline), trials.ids.variant(variant));
        let of = |variant: &&str| Contrasts::of_pairs(&pairs(variant), spec, rule.margin);
        let inferences = infer::infer_family(&others.iter().map(of).collect::<Vec<_>>(), 0, rule);
        for (variant, inference) in others.iter().zip(inferences) {
            let Some(inference) = inference else { continue };
            let load = conclude_effect(&inference, spec, rule);
            if !matches!(load.verdict, Verdict::Faster | Verdict::Slower) {
                continue;
            }
            seen.push(LoadSeen {
                variant: (*variant).to_owned(),
                workload: workload.to_owned(),
                condition: condition.to_owned(),
                verdict: load.verdict,
                ratio: (load.scale == Scale::Ratio).then_some(load.estimate),
            });
        }
    }
    (!seen.is_empty()).then_some(Caveat::UnequalLoad { seen })
}

/// Whether other programs used much of the processors during many of the trials that count, under which conditions; also
/// if it is so of one variant only: then it may have left its work to a program that was there before.
pub(super) fn busy_machine(record: &Record, trials: &Trials<'_>) -> Option<Caveat> {
    let of_condition = |condition: &String| match disturbed(record, trials, condition, None) {
        Some(all) => vec![all],
        None => variants(&record.study).filter_map(|v| disturbed(record, trials, condition, Some(&v.name))).collect(),
    };
    let seen: Vec<BusySeen> = record.study.conditions.iter().flat_map(of_condition).collect();
    (!seen.is_empty()).then_some(Caveat::BusyMachine { seen, from: DISTURBED_FROM })
}

/// The trials of a condition, or of a variant under it, that others disturbed; none if these are not many.
fn disturbed(record: &Record, trials: &Trials<'_>, condition: &str, variant: Option<&str>) -> Option<BusySeen> {
    let wanted = variant.map(|name| trials.ids.variant(name));
    let (mut disturbed, mut known, mut all) = (0, 0, 0);
    for workload in &record.study.workloads {
        let here = trials.blocks(trials.ids.place(workload, condition)).flat_map(|block| block.iter());
        for (_, trial) in here.filter(|(id, _)| wanted.is_none_or(|wanted| **id == wanted)) {
            let share = value_that_counts(trial, "foreign_cpu");
            all += 1;
            known += usize::from(share.is_some());
            disturbed += usize::from(share.is_some_and(|share| is_disturbed(record, trial, share)));
        }
    }
    // A trial too short to have a share counts as undisturbed, or a single long one would speak for all.
    let speaks = known >= KNOWN && known as f64 >= KNOWN_PART * all as f64;
    let of = if speaks { known } else { all };
    let (variant, condition) = (variant.map(str::to_owned), condition.to_owned());
    let is_many = disturbed > 0 && disturbed as f64 >= MANY * of as f64;
    is_many.then_some(BusySeen { variant, condition, disturbed, of, all })
}

fn is_disturbed(record: &Record, trial: &Trial, share: f64) -> bool {
    let session = record.sessions.iter().find(|session| session.session == trial.session);
    let cpus = session.map_or(1, |session| session.place.cpus.max(1));
    let foreign_s = share * f64::from(cpus) * trial.value("wall").unwrap_or(0.0);
    share > DISTURBED_FROM && foreign_s > DISTURBED_FROM_S
}

/// Whether others waited for processors, where trials are too short to tell what they used, and there is no load.
pub(super) fn high_load(record: &Record, trials: &Trials<'_>) -> Option<Caveat> {
    let cpus = record.sessions.iter().map(|session| session.place.cpus.max(1)).max()?;
    for condition in &record.study.conditions {
        let places = record.study.workloads.iter().map(|workload| trials.ids.place(workload, condition));
        let all: Vec<&Trial> =
            places.flat_map(|place| trials.blocks(place)).flat_map(|b| b.values().copied()).collect();
        let has = |trial: &&&Trial, name: &str| value_that_counts(trial, name).is_some();
        let known = all.iter().filter(|trial| has(trial, "foreign_cpu")).count();
        let has_load = all.iter().any(|trial| has(&trial, "load_rate"));
        if has_load || (known >= KNOWN && known as f64 >= KNOWN_PART * all.len() as f64) {
            continue;
        }
        let besides = |trial: &&Trial| Some(value_that_counts(trial, "load")? - trial.processes.len().max(1) as f64);
        let mut loads: Vec<f64> = all.iter().filter_map(besides).collect();
        loads.sort_by(f64::total_cmp);
        let Some(&load) = loads.get(loads.len() / 2) else { continue };
        if load > WAITING_FROM * f64::from(cpus) {
            return Some(Caveat::HighLoad { condition: condition.clone(), load, cpus });
        }
    }
    None
}
