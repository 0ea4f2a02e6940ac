//! `bakeoff gate`: a journal held against limits. It executes nothing.

use crate::decide::{Wanted, gate};
use crate::options::{no_gate, write_junit};
use crate::page::paragraph;
use crate::spec::{self, Limits};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::target::Target;
use bakeoff_command::{Code, CommandError, Registry, journals, screen, state};
use bakeoff_judge::Question;
use bakeoff_model::plain::clean;
use bakeoff_model::record::Record;
use std::path::PathBuf;

/// For CI: check that no variant is slower than allowed, and exit with 0 only if a slowdown beyond the limit is
/// excluded
///
/// The command exits with 1 only if a slowdown beyond the limit is shown. It exits with 3 (undecided) if such a
/// slowdown is neither shown nor excluded. It exits with 4 if a variant failed, could not be built or is not the
/// program that the study describes. It prints one paragraph with the reason. It runs no trials; to run them and then
/// check, use `bakeoff run --gate 2%`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A study (Bakeoff uses its latest journal) or a journal (.jsonl)
    study: PathBuf,
    /// The largest slowdown allowed on each workload [default: the limits in [gate] of the study file]
    #[arg(long, value_name = "PERCENT", value_parser = bakeoff_command::arguments::slowdown)]
    max_slowdown: Option<f64>,
    /// Write the result to this file, as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Check only this variant; repeat the option for several. The correction for multiple comparisons still covers all
    /// variants [default: all but the baseline]
    #[arg(long, help_heading = "What to check", value_name = "VARIANT")]
    variant: Vec<String>,
    /// Check only this workload
    #[arg(long, help_heading = "What to check", value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Check only this condition
    #[arg(long, help_heading = "What to check", value_name = "CONDITION")]
    condition: Option<String>,
    /// Check this metric [default: the study's deciding metric]
    #[arg(long, help_heading = "What to check", value_name = "METRIC")]
    metric: Option<String>,
    /// Compare with this variant [default: the study's baseline]
    #[arg(long, help_heading = "What to check", value_name = "VARIANT")]
    baseline: Option<String>,
    /// Confidence level of the intervals [default: the study's]
    #[arg(long, help_heading = "What to check", value_name = "C", value_parser = bakeoff_command::arguments::confidence)]
    confidence: Option<f64>,
    /// Use the latest journal of this plan [default: the latest journal of all plans]
    #[arg(long, help_heading = "What to check", value_name = "NAME")]
    plan: Option<String>,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    args.junit.as_deref().map_or(Ok(()), |path| Target::of(path).map(drop))?;
    let path = match &args.plan {
        Some(plan) => state::journal_of_plan(&args.study, plan)?,
        None => state::journal_of(&args.study)?,
    };
    let record = journals::read(&path, features)?;
    let limits = limits(args, &record, features)?;
    let question = Question {
        baseline: args.baseline.clone(),
        metric: args.metric.clone(),
        workload: args.workload.clone(),
        condition: args.condition.clone(),
        confidence: args.confidence,
    };
    let record = question.of(record).map_err(|unasked| {
        let known: Vec<String> = unasked.known.iter().map(|name| clean(name)).collect();
        CommandError::usage(clean(&unasked.to_string())).hint(format!("available: {}", known.join(", ")))
    })?;
    let findings = features.judge(&record);
    let wanted = Wanted { limits, variants: args.variant.clone() };
    let gate = gate(&record, &findings, &wanted).map_err(no_gate)?;
    if args.json {
        screen::json(&bakeoff_report::pretty_json(&gate)?);
    } else {
        let is_taken = args.junit.as_deref().is_some_and(Target::is_output);
        let say = if is_taken { screen::err } else { screen::out };
        say(&paragraph(&gate, screen::style().width));
    }
    args.junit.as_deref().map_or(Ok(()), |path| write_junit(&gate, path))?;
    Ok(gate.outcome.code())
}

/// Those of the command line; or of the study file as it is now; or, of a journal without its study, those that the
/// study had when it was executed.
fn limits(args: &Args, record: &Record, features: &Registry) -> Result<Limits, CommandError> {
    if let Some(limit) = args.max_slowdown {
        return Ok(Limits::of_all(limit));
    }
    let is_study = args.study.is_dir() || args.study.file_name().is_some_and(|name| name == "study.toml");
    let limits = match is_study {
        true => Limits::of_section(StudyFolder::open(&args.study, features)?.study.sections.get(spec::NAME)),
        false => Limits::of_record(record),
    };
    limits.ok_or_else(|| {
        CommandError::usage("no limit was given, and the study sets no limit")
            .hint("use --max-slowdown 2%, or add [gate] with `max_slowdown = \"2%\"` to the study file")
    })
}
