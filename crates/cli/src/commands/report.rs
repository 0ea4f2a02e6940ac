//! `bakeoff report`: judges a journal again and prints the report, or where a trial comes from, or two journals side by
//! side. It executes nothing.

use super::options::Showing;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::journals::{read, redaction, tell_removed};
use bakeoff_command::{Against, Registry, saved, screen, state};
use bakeoff_judge::Question;
use bakeoff_judge::side_by_side::{SideBySide, side_by_side};
use bakeoff_model::plain::clean;
use bakeoff_model::record::{MadeLine, Record, Trial};
use bakeoff_report::{Describe, Sheet};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Print the report of a study or a journal
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A study (Bakeoff uses its latest journal) or a journal (.jsonl)
    #[arg(default_value = ".")]
    study: PathBuf,
    /// Report the last comparison that `bakeoff compare` ran without --journal
    #[arg(long, conflicts_with_all = ["study", "plan"])]
    last: bool,
    /// Instead of the report, print the provenance: builds with their digests, steps, logs, sources and tools, and
    /// sessions with their machines
    #[arg(long, conflicts_with_all = ["json", "trial", "against"])]
    provenance: bool,
    /// Instead of the report, print one trial: its measurements, block, session, machine, variant and build
    #[arg(long, value_name = "WORKLOAD/CONDITION/BLOCK/VARIANT", conflicts_with_all = ["json", "against"])]
    trial: Option<String>,
    /// Instead of the report, print each comparison next to the same comparison in another journal
    ///
    /// `imported` is the journal that came with an imported study.
    #[arg(long, value_name = "JOURNAL", conflicts_with = "require_verdict")]
    against: Option<PathBuf>,
    /// Remove names of hosts, users and folders from all output, so that you can share it
    #[arg(long)]
    redact: bool,
    /// Use the latest journal of this plan instead of the latest of all plans
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    showing: Showing,
}

/// Another question about the same trials; nothing runs
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ask again")]
struct QuestionArgs {
    /// Use this variant as the baseline
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    /// Base the verdicts on this metric
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    /// Report only this workload
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Report only this condition
    #[arg(long, value_name = "CONDITION")]
    condition: Option<String>,
    /// Confidence level of intervals and verdicts
    #[arg(long, value_name = "C", value_parser = bakeoff_command::arguments::confidence)]
    confidence: Option<f64>,
    /// Show only these variants and the baseline; the correction for multiple comparisons still covers all variants
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    only: Vec<String>,
}

impl QuestionArgs {
    fn question(&self) -> Question {
        let Self { baseline, metric, workload, condition, confidence, .. } = self;
        Question {
            baseline: baseline.clone(),
            metric: metric.clone(),
            workload: workload.clone(),
            condition: condition.clone(),
            confidence: *confidence,
        }
    }

    /// What is asked, in the words of the command line.
    fn parts(&self) -> Vec<String> {
        let named = |what: &str, value: &Option<String>| value.as_ref().map(|value| format!("{what} {value}"));
        let parts = [
            named("baseline", &self.baseline),
            named("metric", &self.metric),
            named("workload", &self.workload),
            named("condition", &self.condition),
            self.confidence.map(|confidence| format!("confidence {confidence}")),
        ];
        parts.into_iter().flatten().collect()
    }
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    args.showing.check(features)?;
    let path = match &args.plan {
        _ if args.last => saved::last()?,
        Some(plan) => state::journal_of_plan(&args.study, plan)?,
        None => state::journal_of(&args.study)?,
    };
    let record = args.question.question().of(record_of(&path, args, features)?).map_err(|unasked| {
        let known: Vec<String> = unasked.known.iter().map(|name| clean(name)).collect();
        CommandError::usage(clean(&unasked.to_string())).hint(format!("there are: {}", known.join(", ")))
    })?;
    let nothing = |_: &MadeLine, _: &mut Sheet| {};
    let describe = features.makers.first().map_or(nothing as Describe, |making| making.describe);
    if args.provenance {
        screen::out(&bakeoff_report::provenance(&record, describe, screen::style()));
        return Ok(Code::Done);
    }
    if let Some(name) = &args.trial {
        screen::out(&bakeoff_report::trace(&record, &attempts(&record, name)?, describe, screen::style()));
        return Ok(Code::Done);
    }
    match &args.against {
        Some(other) => against(args, &path, &record, other, features),
        None => {
            let study = match &args.study {
                _ if args.last => "--last".to_owned(),
                // Not even its name: it may be a client's.
                _ if args.redact => "STUDY".to_owned(),
                study => study.display().to_string(),
            };
            let more = format!("bakeoff report {}", clean(&study));
            args.showing.show(&record, &more, args.question.parts(), &args.question.only, features)
        }
    }
}

/// The record of a journal, without what only its owner should know, if that is asked for; then it says what that was.
fn record_of(journal: &Path, args: &Args, features: &Registry) -> Result<Record, CommandError> {
    let record = read(journal, features)?;
    if !args.redact {
        return Ok(record);
    }
    let mut redaction = redaction(&record, features)?;
    let record = redaction.record(&record)?;
    tell_removed(&redaction.removed());
    Ok(record)
}

fn against(args: &Args, path: &Path, here: &Record, other: &Path, features: &Registry) -> Result<Code, CommandError> {
    let other = match other == Path::new("imported") && !other.exists() {
        true => state::imported_journal(if args.last { path } else { &args.study })?,
        false => state::journal_of(other)?,
    };
    if std::fs::canonicalize(&other).ok() == std::fs::canonicalize(path).ok() {
        let error = format!("{} cannot be compared with itself", clean(&other.display().to_string()));
        return Err(
            CommandError::usage(error).hint("run the study here first with `bakeoff run`, or name another journal")
        );
    }
    let there = record_of(&other, args, features)?;
    let [here, there] = [here, &there].map(|record| features.judge(record));
    let pairs: SideBySide = side_by_side(&here, &there);
    let concluded = Against { pairs: &pairs, here: &here, there: &there };
    if !features.take_output(&args.showing.asked) {
        let text = match args.showing.json {
            true => serde_json::to_string_pretty(&pairs)? + "\n",
            false => bakeoff_report::side_by_side(&pairs, &here, &there, screen::style()),
        };
        screen::page(&text, args.showing.json);
    }
    features.conclude_against(&args.showing.asked, &concluded)?;
    Ok(Code::Done)
}

/// The attempts at the trial of that name, in the order in which they were executed.
fn attempts<'a>(record: &'a Record, name: &str) -> Result<Vec<&'a Trial>, CommandError> {
    let parts: Vec<&str> = name.splitn(4, '/').collect();
    let is_meant = |trial: &&Trial| match parts[..] {
        [workload, condition, block, variant] => {
            (trial.workload.as_str(), trial.condition.as_str(), trial.variant.as_str())
                == (workload, condition, variant)
                && block.parse() == Ok(trial.block)
        }
        _ => false,
    };
    let found: Vec<&Trial> = record.trials.iter().filter(is_meant).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if record.trials.is_empty() {
        return Err(CommandError::usage("the journal has no trials").hint("omit --trial to print the report"));
    }
    let names = |of: fn(&Trial) -> &str| {
        let names: BTreeSet<String> = record.trials.iter().map(|trial| clean(of(trial))).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let blocks = record.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    let hint = format!(
        "use WORKLOAD/CONDITION/BLOCK/VARIANT; workloads: {}; conditions: {}; blocks: 1 to {blocks}; variants: {}",
        names(|trial| &trial.workload),
        names(|trial| &trial.condition),
        names(|trial| &trial.variant)
    );
    Err(CommandError::usage(format!("the journal has no trial `{}`", clean(name))).hint(hint))
}
