//! `bakeoff power`: how many blocks it takes, from a pilot or from a spread. It runs nothing.

use crate::page;
use bakeoff_command::arguments::{confidence, margin};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{Registry, journals, screen, state};
use bakeoff_judge::planning::{Aim, PILOT_MIN, Planning, from_pilot, from_sd};
use std::path::PathBuf;

/// How many blocks does it take to see a difference of 1 %? Computed from a pilot, or from a spread
///
/// A pilot is any journal with 6 blocks or more, finished or not: its spread from block to block shows how many blocks
/// it takes to see a difference, and how many to show that there is none beyond the margin. The command also says what
/// the existing blocks could have seen.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A study, whose latest journal is used; or a journal (.jsonl)
    #[arg(required_unless_present = "sd", conflicts_with = "sd")]
    study: Option<PathBuf>,
    /// Differences to see, in percent, separated by commas
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = ["0.5%", "1%", "2%", "5%"].map(String::from))]
    see: Vec<String>,
    /// The probability of seeing them
    #[arg(long, value_name = "PERCENT", default_value = "80%", value_parser = margin)]
    power: f64,
    /// Without a pilot: the standard deviation of the ratio to the baseline, from block to block
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    sd: Option<f64>,
    /// Half-width of the zone of equivalence [default: the study's own, or 1%]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    margin: Option<f64>,
    /// Confidence of verdicts [default: the study's own, or 0.95]
    #[arg(long, value_name = "C", value_parser = confidence)]
    confidence: Option<f64>,
    /// Print the numbers as JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let see = args.see.iter().map(|text| margin(text.trim())).collect::<Result<Vec<f64>, String>>();
    let see = see.map_err(|why| CommandError::usage(format!("--see: {why}")))?;
    let planning = match (&args.study, args.sd) {
        (None, Some(sd)) => {
            let (margin, confidence) = (args.margin.unwrap_or(0.01), args.confidence.unwrap_or(0.95));
            from_sd(Aim { see, power: args.power, margin, confidence, family: 1 }, sd)
        }
        (study, _) => pilot(args, study.as_deref().unwrap_or(".".as_ref()), &see, features)?,
    };
    let text = match args.json {
        true => bakeoff_report::pretty_json(&planning)?,
        false => page::power(&planning, screen::style()),
    };
    screen::page(&text, args.json);
    Ok(Code::Done)
}

fn pilot(args: &Args, study: &std::path::Path, see: &[f64], features: &Registry) -> Result<Planning, CommandError> {
    let mut record = journals::read(&state::journal_of(study)?, features)?;
    let decide = &mut record.study.decide;
    decide.margin = args.margin.unwrap_or(decide.margin);
    decide.confidence = args.confidence.unwrap_or(decide.confidence);
    let planning = from_pilot(&record, see, args.power);
    let most = planning.rows.iter().map(|row| row.pilot_blocks).max().unwrap_or(0);
    if most < PILOT_MIN {
        let error = format!("a pilot has at least {PILOT_MIN} blocks, and this one has {most} that count");
        return Err(
            CommandError::usage(error).hint("execute more of it, or say what is expected: bakeoff power --sd 2%")
        );
    }
    Ok(planning)
}
