//! Watching when all is counted: each counted variant runs a workload once more, as it was measured, watched by the kernel.
//! What the journal holds already is not watched again; where nothing may be watched, the reason is kept and nothing runs.

use super::probe::Watching;
use super::{KernelLine, LINE, times};
use crate::counting::gather::wanted_variants;
use crate::counts::CountsLine;
use crate::gather::spec;
use crate::probing;
use bakeoff_command::{CommandError, Finished, screen};
use bakeoff_host::census::{Detail, Report, Roots, Watch};
use bakeoff_lab::{Diagnosed, Ending, Executor, Subject};
use bakeoff_model::plain::clean;
use bakeoff_model::record::FeatureLine;
use std::collections::BTreeMap;

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

/// Whether trying again would lead to nothing else.
fn is_final(line: &KernelLine) -> bool {
    line.report.is_some() || line.missing.is_some() && line.missing == refusal()
}

/// Why nothing may be watched here, if so: we try to watch ourselves.
fn refusal() -> Option<String> {
    Watch::start(&Roots::Launched(std::process::id()), Detail::Times).err().map(|refused| refused.to_string())
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
    let (refusal, tracer, number_of) = (refusal(), bakeoff_command::tracer(), all.len());
    for (number, line) in (1..).zip(all) {
        if study.is_interrupted() {
            return Ok(Ending::Stopped);
        }
        let is_shown = !study.quiet() && refusal.is_none();
        if is_shown {
            let what = clean(&format!("{} of {}", line.workload, line.variant));
            screen::draw(&format!("watching the kernel: {what}, {number} of {number_of}"));
        }
        let subject = Subject { variant: &line.variant, workload: &line.workload };
        let attempt = match &refusal {
            Some(why) => Ok(Some(Err(why.clone()))),
            None => until_whole(subject, &tracer, executor),
        };
        if is_shown {
            screen::erase();
        }
        let Some(seen) = attempt? else { return Ok(Ending::Stopped) };
        let session = study.session()?;
        let line = match seen {
            Ok(Seen { command, services }) => {
                let (services, services_unseen) = probing::told(services);
                KernelLine { session, report: Some(command), services, services_unseen, ..line }
            }
            Err(why) => KernelLine { session, missing: Some(why), ..line },
        };
        study.keep(FeatureLine::new(LINE, &line)?)?;
    }
    Ok(Ending::Complete)
}

/// What one execution showed.
struct Seen {
    command: Report,
    services: BTreeMap<String, Result<Report, String>>,
}

/// What was seen, or why nothing was; none if it was interrupted.
type Attempt = Option<Result<Seen, String>>;

/// The first execution whose time is accounted for; the last one if there is none.
fn until_whole(subject: Subject<'_>, tracer: &[String], executor: &mut dyn Executor) -> Result<Attempt, CommandError> {
    let mut attempt = once(subject, tracer, executor)?;
    for _ in 0..MOST_REPEATS {
        match &attempt {
            Some(Ok(seen)) if times(&seen.command).is_none() => attempt = once(subject, tracer, executor)?,
            _ => break,
        }
    }
    Ok(attempt)
}

fn once(subject: Subject<'_>, tracer: &[String], executor: &mut dyn Executor) -> Result<Attempt, CommandError> {
    let mut watching = Watching::with(tracer);
    Ok(match executor.diagnose(subject, &mut watching)? {
        None => None,
        Some(Diagnosed::Missing { why }) => Some(Err(why)),
        Some(Diagnosed::Failed(failure) | Diagnosed::Executed { failure: Some(failure), .. }) => {
            let why = bakeoff_report::failure(&failure);
            Some(Err(format!("the workload fails while it is watched: {why}")))
        }
        Some(Diagnosed::Executed { failure: None, .. }) => {
            Some(Ok(Seen { command: watching.seen, services: watching.seen_of_services }))
        }
    })
}
