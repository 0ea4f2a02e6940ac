//! Chooses an instrument for a plan: if this machine cannot measure the deciding metric, and a feature has something that
//! counts it.

use bakeoff_command::error::CommandError;
use bakeoff_command::{Registry, screen};
use bakeoff_lab::Counter;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::study::{Condition, Part};

/// What counts the deciding metric; none if the machine measures it, or no feature has an instrument for it.
///
/// # Errors
/// The plan has something that cannot be counted, or the instrument is missing.
pub(crate) fn choose(
    plan: &mut Plan,
    features: &Registry,
    quiet: bool,
) -> Result<Option<Box<dyn Counter>>, CommandError> {
    let deciding = plan.decide.metrics.first().map_or("", String::as_str);
    let Some(instrument) = features.instruments.iter().find(|one| one.metric == deciding) else { return Ok(None) };
    let Some(why_not) = why_not(instrument.metric) else { return Ok(None) };
    if let Some(what) = not_countable(plan) {
        let error = format!("{why_not}, and {deciding} of {what} cannot be counted without them");
        return Err(CommandError::usage(error).hint("choose another deciding metric"));
    }
    let (metric, counter) = (instrument.open)()?;
    if !quiet {
        let services = if plan.services.is_empty() { "" } else { ", and services are not counted" };
        screen::err(&format!("note: {why_not}: {}; times are not measured{services}\n", metric.what));
    }
    plan.count(metric);
    Ok(Some(counter))
}

/// Why the machine cannot measure a metric; none if it can.
fn why_not(metric: &str) -> Option<String> {
    let mut of_machine = bakeoff_host::counters(true).into_iter();
    of_machine.find(|(name, _)| *name == metric).and_then(|(_, opened)| opened.err())
}

/// What of a plan cannot be counted: one command is, alone on this machine as it is.
fn not_countable(plan: &Plan) -> Option<String> {
    let of_condition = |condition: &Condition| {
        let parts = condition.parts().into_iter();
        parts.filter(|(part, _)| *part != Part::Environment).map(|(_, words)| words).next()
    };
    let harness = plan.workloads.iter().find(|workload| workload.harness.is_some());
    match plan.conditions.iter().find_map(of_condition) {
        _ if plan.boots() => Some("booted kernels".to_owned()),
        _ if plan.building.is_some() => Some("builds (`rebuild`)".to_owned()),
        _ if harness.is_some() => harness.map(|workload| format!("benchmarks (workload {})", clean(&workload.name))),
        _ if plan.conditions.len() > 1 => Some("several conditions".to_owned()),
        part => part.map(|words| format!("a condition ({})", clean(&words))),
    }
}
