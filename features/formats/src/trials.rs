//! Trials as CSV: a line for each, in the order in which they ended, with all that was measured, in base units and unrounded.
//! Trials that failed or are void are there as well, with the reason. Nothing is left out and nothing is judged.

use crate::cells::{Lines, number, text};
use bakeoff_command::{CommandError, Concluded};
use bakeoff_model::metric::METRICS;
use bakeoff_model::record::{Outcome, Record, Trial};
use bakeoff_report::failure_in_full;
use std::collections::BTreeSet;

/// The whole file.
pub(crate) fn csv(concluded: &Concluded<'_>) -> Result<String, CommandError> {
    let (record, findings) = (concluded.record, concluded.findings);
    // Benchmarks of a suite have lines behind those of its trials.
    let parted = record.in_parts();
    let benchmarks =
        || parted.trials.iter().filter(|trial| record.suites.is_empty() && parted.suites.contains_key(&trial.workload));
    // Of a record a part may be asked for.
    let mut left_out: BTreeSet<&str> = record.study.variants.iter().map(|variant| variant.name.as_str()).collect();
    left_out.retain(|name| findings.variants.iter().all(|variant| variant.name != *name));
    let trials = || record.trials.iter().chain(benchmarks()).filter(|trial| !left_out.contains(trial.variant.as_str()));
    let metrics = metrics(record, trials());
    let mut titles = place(record, &Trial::default()).map(|(title, _)| title.to_owned()).to_vec();
    titles.extend(metrics.iter().map(|metric| text(metric)));
    let mut lines = Lines::new(&titles)?;
    for trial in trials() {
        let mut cells = place(record, trial).map(|(_, cell)| cell).to_vec();
        cells.extend(metrics.iter().map(|metric| number(trial.value(metric))));
        lines.push(&cells)?;
    }
    lines.finish()
}

/// All metrics that some trial has: those of the table in its order, then the study's own, then others by name.
fn metrics<'a>(record: &'a Record, trials: impl Iterator<Item = &'a Trial> + Clone) -> Vec<&'a str> {
    let mut names: Vec<&str> = METRICS.iter().map(|metric| &*metric.name).collect();
    let own = record.study.metrics.iter().map(|metric| &*metric.name);
    let measured: BTreeSet<&str> = trials.clone().flat_map(|trial| trial.measurements.keys()).collect();
    for name in own.chain(measured) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.retain(|name| trials.clone().any(|trial| trial.value(name).is_some()));
    names
}

/// The cells of a trial but for its metrics, each with its title.
fn place(record: &Record, trial: &Trial) -> [(&'static str, String); 13] {
    let (outcome, reason) = match &trial.outcome {
        Outcome::Ok => ("ok", String::new()),
        Outcome::Failed(failure) => ("failed", failure_in_full(failure)),
        Outcome::Void(why) => ("void", why.clone()),
    };
    [
        ("study", text(&record.study.study)),
        ("plan", text(&record.study.plan)),
        ("workload", text(&trial.workload)),
        ("condition", text(&trial.condition)),
        ("block", trial.block.to_string()),
        ("position", trial.position.to_string()),
        ("attempt", trial.attempt.to_string()),
        ("variant", text(&trial.variant)),
        ("session", trial.session.to_string()),
        ("started_unix_s", trial.started_unix_s.to_string()),
        ("outcome", outcome.to_owned()),
        ("reason", text(&reason)),
        ("leftovers", trial.leftovers.to_string()),
    ]
}
