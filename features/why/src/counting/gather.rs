//! Counting when all trials are over: each variant runs a workload once at each of its lengths, and at the longest once more,
//! to see how far counts differ. What the journal holds already is not counted again.

use super::probe::Counting;
use super::tool::{Ready, Tool};
use crate::accounts::differs;
use crate::counts::{Counted, CountsLine, LINE};
use crate::diagnosis::in_one_factor;
use crate::gather::spec;
use crate::probing;
use crate::spec::EvidenceSpec;
use bakeoff_command::{CommandError, Finished, screen};
use bakeoff_judge::judge;
use bakeoff_lab::{Diagnosed, Ending, Executor, Subject};
use bakeoff_model::metric;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Variant;
use bakeoff_model::record::{Failure, FeatureLine, Record};
use bakeoff_model::study::Workload;
use bakeoff_report::format::duration;
use bakeoff_report::words::counted;
use bakeoff_stats::describe::median;

/// How many times as long cachegrind takes as our tool.
const CACHEGRIND_SLOWER: f64 = 2.4;

/// A variant and the number of a workload of the plan.
type Missing = (String, usize);

/// What the study asks for and the journal does not hold, the baseline's first. What could not be counted is tried again, for
/// what kept it may be gone.
fn missing(study: &dyn Finished) -> Vec<Missing> {
    let (plan, wanted) = (study.plan(), spec(study).count);
    let mut known = CountsLine::of(study.record());
    // Our tool tells more, once it can be made.
    if known.iter().any(|line| line.cachegrind.is_some()) && matches!(Tool::ready(), Ok(Ready::Tool(_))) {
        known.retain(|line| line.cachegrind.is_none());
    }
    let of = wanted_variants(study);
    let workloads = plan.workloads.iter().enumerate().filter(|(_, workload)| wanted.contains(&workload.name));
    let all = workloads.flat_map(|(number, workload)| {
        let is_missing = |name: &str| !is_held(&known, name, workload);
        let variants = plan.variants.iter().filter(|variant| of(&variant.name) && is_missing(&variant.name));
        variants.map(move |variant| (variant.name.clone(), number)).collect::<Vec<_>>()
    });
    all.collect()
}

/// At other lengths it is counted again.
fn is_held(known: &[CountsLine], variant: &str, workload: &Workload) -> bool {
    let line = known.iter().find(|line| line.variant == variant && line.workload == workload.name);
    line.is_some_and(|line| {
        line.missing.is_none() && line.counted.iter().map(|counted| counted.length.clone()).eq(lengths(workload))
    })
}

/// Which variants are to be counted, and watched: all, those that were named, or the baseline and those that differ from it;
/// with siblings, those too that differ in one factor from one of them that is not the baseline.
pub(crate) fn wanted_variants(study: &dyn Finished) -> impl Fn(&str) -> bool + use<> {
    let EvidenceSpec { of, with_siblings, .. } = spec(study);
    let plan = study.plan();
    let of = of.map(|names| {
        let mut names = names;
        if names.is_empty() {
            let findings = judge(study.record());
            let variants = plan.variants.iter().filter(|variant| differs(&findings, &variant.name));
            names.extend(variants.map(|variant| variant.name.clone()));
            names.extend((!names.is_empty()).then(|| plan.baseline().name.clone()));
        }
        if with_siblings {
            let explained: Vec<&Variant> = plan
                .variants
                .iter()
                .filter(|variant| names.contains(&variant.name) && variant.name != plan.baseline().name)
                .collect();
            let is_sibling = |one: &&Variant| explained.iter().any(|other| in_one_factor(&one.levels, &other.levels));
            names.extend(plan.variants.iter().filter(is_sibling).map(|variant| variant.name.clone()));
        }
        names
    });
    move |name: &str| of.as_ref().is_none_or(|names| names.iter().any(|known| known == name))
}

/// Whether there is something to count.
pub(crate) fn are_missing(study: &dyn Finished) -> bool {
    !missing(study).is_empty()
}

/// Counts what is missing, one variant after the other.
pub(crate) fn counts(study: &mut dyn Finished, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
    let all = missing(study);
    if all.is_empty() {
        return Ok(Ending::Complete);
    }
    let workloads = study.plan().workloads.clone();
    // Counts by cachegrind are not compared with others.
    let has_ours =
        CountsLine::of(study.record()).iter().any(|line| line.cachegrind.is_none() && line.missing.is_none());
    let tool = if has_ours { Tool::ready()? } else { Tool::or_cachegrind()? };
    if !study.quiet() {
        let slower = if tool.is_cachegrind() { CACHEGRIND_SLOWER } else { 1.0 };
        let seconds: f64 =
            all.iter().map(|(variant, workload)| takes_s(study.record(), variant, &workloads[*workload])).sum();
        let (times, number) = (duration(slower * seconds), counted(all.len() as u32, "variant"));
        screen::err(&format!("counting the instructions of {number} takes about {times}\n"));
    }
    for (number, (variant, workload)) in (1..).zip(&all) {
        if study.is_interrupted() {
            return Ok(Ending::Stopped);
        }
        let workload = &workloads[*workload];
        if !study.quiet() {
            let what = clean(&format!("{} of {variant}", workload.name));
            screen::draw(&format!("counting instructions: {what}, {number} of {}", all.len()));
        }
        let attempt = match &tool {
            Ready::Tool(tool) => at_all_lengths(tool, variant, workload, executor),
            Ready::Missing(why) => Ok(Attempt::Missing(why.clone())),
        };
        if !study.quiet() {
            screen::erase();
        }
        let seen = match attempt? {
            Attempt::Counted(seen) => seen,
            Attempt::Missing(why) => CountsLine { missing: Some(why), ..CountsLine::default() },
            Attempt::Interrupted => return Ok(Ending::Stopped),
        };
        let (variant, workload) = (variant.clone(), workload.name.clone());
        let line = CountsLine { session: study.session()?, variant, workload, ..seen };
        study.keep(FeatureLine::new(LINE, &line)?)?;
    }
    Ok(Ending::Complete)
}

/// How long it takes to count a variant, by its trials: about ten times as long, and four tenths of a second for a process.
fn takes_s(record: &Record, variant: &str, workload: &Workload) -> f64 {
    const TIMES: f64 = 12.0;
    const START_S: f64 = 0.4;
    let length = |text: &String| text.parse::<f64>().unwrap_or(1.0);
    let shorter = match workload.lengths.as_slice() {
        [first, .., last] => length(first) / length(last),
        _ => 0.0,
    };
    (2.0 + shorter) * TIMES * wall_s(record, variant, &workload.name) + 3.0 * START_S
}

/// How long a trial takes.
pub(crate) fn wall_s(record: &Record, variant: &str, workload: &str) -> f64 {
    let of_it = record.trials.iter().filter(|trial| trial.variant == variant && trial.workload == workload);
    let walls: Vec<f64> = of_it.filter_map(|trial| trial.value(metric::WALL)).collect();
    median(&walls).unwrap_or(0.0)
}

/// What came of counting.
enum Attempt {
    /// Of no variant yet.
    Counted(CountsLine),
    Missing(String),
    Interrupted,
}

/// The shortest and the longest length; one that is none, without lengths.
fn lengths(workload: &Workload) -> Vec<Option<String>> {
    match workload.lengths.as_slice() {
        [first, .., last] => vec![Some(first.clone()), Some(last.clone())],
        [only] => vec![Some(only.clone())],
        [] => vec![None],
    }
}

fn at_all_lengths(
    tool: &Tool,
    variant: &str,
    workload: &Workload,
    executor: &mut dyn Executor,
) -> Result<Attempt, CommandError> {
    let subject = Subject { variant, workload: &workload.name };
    let lengths = lengths(workload);
    let mut all = CountsLine { cachegrind: tool.instead.clone(), ..CountsLine::default() };
    let mut counting = Counting::with(tool);
    for (number, length) in lengths.iter().chain(lengths.last()).enumerate() {
        counting.length.clone_from(length);
        match once(subject, number + 1 >= lengths.len(), &mut counting, executor)? {
            Attempt::Counted(seen) => {
                all.counted.extend(seen.counted);
                for (service, counted) in seen.services {
                    all.services.entry(service).or_default().extend(counted);
                }
                all.services_unseen.extend(seen.services_unseen);
            }
            Attempt::Missing(why) => {
                let reasons = tool.instead.iter().map(|instead| format!("{instead}; by cachegrind: {why}")).next();
                return Ok(Attempt::Missing(reasons.unwrap_or(why)));
            }
            Attempt::Interrupted => return Ok(Attempt::Interrupted),
        }
    }
    take_second_count(&mut all.counted);
    all.services.values_mut().for_each(take_second_count);
    // What could not be counted each time is not counted.
    all.services
        .retain(|service, counted| counted.len() == lengths.len() && !all.services_unseen.contains_key(service));
    Ok(Attempt::Counted(all))
}

/// The last one says only how far a second count differs.
fn take_second_count(counted: &mut Vec<Counted>) {
    let again = counted.pop().map(|counted| counted.instructions());
    if let Some(last) = counted.last_mut() {
        last.again = again;
    }
}

fn once(
    subject: Subject<'_>,
    is_as_measured: bool,
    counting: &mut Counting,
    executor: &mut dyn Executor,
) -> Result<Attempt, CommandError> {
    let at = counting.length.as_ref().map_or(String::new(), |length| format!(" at length {}", clean(length)));
    let failed = |failure: &Failure| {
        Attempt::Missing(format!("the workload fails under valgrind{at}: {}", bakeoff_report::failure(failure)))
    };
    Ok(match executor.diagnose(subject, counting)? {
        None => Attempt::Interrupted,
        Some(Diagnosed::Missing { why }) => Attempt::Missing(why),
        // Some services do not start under valgrind: then the command is counted without them.
        Some(Diagnosed::Failed(failure @ Failure::Surroundings { .. })) if counting.without_services.is_none() => {
            counting.without_services = Some(bakeoff_report::failure(&failure));
            return once(subject, is_as_measured, counting, executor);
        }
        Some(Diagnosed::Failed(failure)) => failed(&failure),
        // With less work it prints and marks something else.
        Some(Diagnosed::Executed { failure: Some(failure), .. })
            if is_as_measured || !matches!(failure, Failure::WrongOutput { .. } | Failure::BadMarks { .. }) =>
        {
            failed(&failure)
        }
        Some(Diagnosed::Executed { ops, .. }) => {
            let of = |seen: Counted| vec![Counted { workload: subject.workload.to_owned(), ops, ..seen }];
            let (services, services_unseen) = probing::told(std::mem::take(&mut counting.seen_of_services));
            let services = services.into_iter().map(|(service, seen)| (service, of(seen))).collect();
            let counted = of(std::mem::take(&mut counting.seen));
            Attempt::Counted(CountsLine { counted, services, services_unseen, ..CountsLine::default() })
        }
    })
}
