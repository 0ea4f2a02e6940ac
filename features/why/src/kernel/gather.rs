//! Watching when all is counted: each counted variant runs a workload once more, as it was measured, watched by the kernel. Where
//! that is refused, the tracer counts its system calls, and the reason is kept. What the journal holds already is not watched again.

use super::probe::Watching;
use super::{KernelLine, LINE, times};
use crate::census::{Detail, Watch};
use crate::counting::gather::wanted_variants;
use crate::counts::CountsLine;
use crate::gather::spec;
use crate::probing;
use crate::watcher::WATCH_TRIAL;
use bakeoff_command::{CommandError, Finished, TRACE_TRIAL, own_command, screen};
use bakeoff_lab::{Diagnosed, Ending, Error, Executor, Subject};
use bakeoff_model::plain::clean;
use bakeoff_model::record::FeatureLine;

/// How often an execution is repeated if its time is not accounted for.
const MOST_REPEATS: u32 = 3;

/// A line that the study asks for and the journal does not hold: of which session, and what was seen, is not known yet.
fn missing(study: &dyn Finished) -> Vec<KernelLine> {
    let (plan, wanted, of) = (study.plan(), spec(study).count, wanted_variants(study));
    let known = KernelLine::of(study.record());
    let mut all = vec![];
    for workload in plan.workloads.iter().filter(|workload| wanted.contains(&workload.name)) {
        for variant in plan.variants.iter().filter(|variant| of(&variant.name)) {
            let length = workload.lengths.last().cloned();
            let is_held = known
                .iter()
                .any(|line| line.is_of(&variant.name, &workload.name) && line.length == length && is_final(line));
            let (variant, workload) = (variant.name.clone(), workload.name.clone());
            if !is_held {
                all.push(KernelLine { variant, workload, length, ..KernelLine::default() });
            }
        }
    }
    all
}

/// Whether trying again would lead to nothing else: what was only counted is watched when that is allowed.
fn is_final(line: &KernelLine) -> bool {
    line.report.is_some() && (line.tracer.is_none() || refusal().is_some())
}

/// Why nothing may be watched here, if so: we try to watch ourselves.
fn refusal() -> Option<String> {
    Watch::start(std::process::id(), Detail::Times).err().map(|refused| refused.to_string())
}

/// Whether there is something to watch.
pub(crate) fn are_missing(study: &dyn Finished) -> bool {
    !missing(study).is_empty()
}

/// Watches what is missing, one variant after the other. What could not be counted has no account, and is left out.
pub(crate) fn watch(study: &mut dyn Finished, executor: &mut dyn Executor) -> Result<Ending, CommandError> {
    let mut all = missing(study);
    let counts = CountsLine::of(study.record());
    let is_counted = |line: &KernelLine| {
        let of_it = |counts: &&CountsLine| line.is_of(&counts.variant, &counts.workload);
        counts.iter().find(of_it).is_some_and(|counts| counts.missing.is_none())
    };
    all.retain(is_counted);
    if all.is_empty() {
        return Ok(Ending::Complete);
    }
    let (refusal, number_of) = (refusal(), all.len());
    let tracer = own_command(if refusal.is_some() { TRACE_TRIAL } else { WATCH_TRIAL });
    let doing = if refusal.is_some() { "counting system calls" } else { "watching the kernel" };
    for (number, line) in (1..).zip(all) {
        if study.is_interrupted() {
            return Ok(Ending::Stopped);
        }
        if !study.quiet() {
            let what = clean(&format!("{} of {}", line.workload, line.variant));
            screen::draw(&format!("{doing}: {what}, {number} of {number_of}"));
        }
        let subject = Subject { variant: &line.variant, workload: &line.workload };
        let seen = until_whole(subject, &tracer, refusal.as_deref(), executor);
        if !study.quiet() {
            screen::erase();
        }
        let Some(seen) = seen? else { return Ok(Ending::Stopped) };
        let line = KernelLine { session: study.session()?, length: line.length, ..seen };
        study.keep(FeatureLine::new(LINE, &line)?)?;
    }
    Ok(Ending::Complete)
}

/// The first execution whose time is accounted for; the last one if there is none. Counts have no time.
fn until_whole(
    subject: Subject<'_>,
    tracer: &[String],
    refusal: Option<&str>,
    executor: &mut dyn Executor,
) -> Result<Option<KernelLine>, Error> {
    let mut line = execute(subject, tracer, refusal, executor)?;
    for _ in 0..MOST_REPEATS {
        match line.as_ref().and_then(|line| line.report.as_ref()) {
            Some(report) if report.has_times() && times(report).is_none() => {
                line = execute(subject, tracer, refusal, executor)?;
            }
            _ => break,
        }
    }
    Ok(line)
}

/// Runs a workload once while the kernel is watched; with a reason why that is refused, under the tracer. `tracer` are the words
/// that start what does either. None if it was interrupted.
///
/// # Errors
/// If nothing can be run any more.
pub fn execute(
    subject: Subject<'_>,
    tracer: &[String],
    refusal: Option<&str>,
    executor: &mut dyn Executor,
) -> Result<Option<KernelLine>, Error> {
    let mut watching = Watching::with(tracer, refusal.is_some());
    let (variant, workload) = (subject.variant.to_owned(), subject.workload.to_owned());
    let line = KernelLine { variant, workload, tracer: refusal.map(str::to_owned), ..KernelLine::default() };
    let why = match executor.diagnose(subject, &mut watching)? {
        None => return Ok(None),
        Some(Diagnosed::Executed { failure: None, .. }) => {
            let (services, services_unseen) = probing::told(watching.seen_of_services);
            return Ok(Some(KernelLine { report: Some(watching.seen), services, services_unseen, ..line }));
        }
        Some(Diagnosed::Missing { why }) => why,
        Some(Diagnosed::Failed(failure) | Diagnosed::Executed { failure: Some(failure), .. }) => {
            format!("the workload fails while it is watched: {}", bakeoff_report::failure(&failure))
        }
    };
    let why = match refusal {
        Some(refusal) => format!("{refusal}; under the tracer: {why}"),
        None => why,
    };
    Ok(Some(KernelLine { missing: Some(why), ..line }))
}
