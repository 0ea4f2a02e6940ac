//! `bakeoff power`: how many blocks it takes, from a pilot or from a spread. It runs nothing.

use crate::page;
use bakeoff_command::arguments::{confidence, margin};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::{Registry, journals, screen, state};
use bakeoff_judge::planning::{Aim, PILOT_MIN, Planning, from_pilot, from_sd, with_layouts};
use std::path::PathBuf;

/// Compute how many blocks you need to detect a given difference
///
/// The command uses a pilot: any journal, finished or not, with at least 6 valid blocks. From the spread between the
/// pilot's blocks, Bakeoff computes how many blocks you need to detect a difference, and how many you need to show
/// equivalence within the margin. It also shows which differences the existing blocks can detect. If you have no pilot,
/// give the spread with --sd.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A study (Bakeoff uses its latest journal) or a journal (.jsonl)
    #[arg(required_unless_present = "sd", conflicts_with = "sd")]
    study: Option<PathBuf>,
    /// The differences to detect, in percent, separated by commas
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', default_values_t = ["0.5%", "1%", "2%", "5%"].map(String::from))]
    see: Vec<String>,
    /// The probability of detecting each difference
    #[arg(long, value_name = "PERCENT", default_value = "80%", value_parser = margin)]
    power: f64,
    /// Without a pilot: the between-block standard deviation of the ratio to the baseline
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    sd: Option<f64>,
    /// With --sd: the standard deviation that comes from layouts alone, for programs compiled with different options
    ///
    /// Layouts of such programs do not match, so each block has the spread of both. 1.5 % is a first guess; a report of a
    /// study with layouts has the value (`--provenance`). Layouts of two commits match, so they add no spread.
    #[arg(long, value_name = "PERCENT", conflicts_with = "study", requires = "sd", value_parser = margin)]
    layouts: Option<f64>,
    /// The largest difference that does not matter [default: the study's margin, or 1%]
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    margin: Option<f64>,
    /// Confidence level of verdicts [default: the study's, or 0.95]
    #[arg(long, value_name = "C", value_parser = confidence)]
    confidence: Option<f64>,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let see = args.see.iter().map(|text| margin(text.trim())).collect::<Result<Vec<f64>, String>>();
    let see = see.map_err(|why| CommandError::usage(format!("--see: {why}")))?;
    let planning = match (&args.study, args.sd) {
        (None, Some(sd)) => {
            let (margin, confidence) = (args.margin.unwrap_or(0.01), args.confidence.unwrap_or(0.95));
            let sd = with_layouts(sd, args.layouts.unwrap_or(0.0));
            from_sd(Aim { see, power: args.power, margin, confidence, family: 1 }, sd)
        }
        (study, _) => pilot(args, study.as_deref().unwrap_or(".".as_ref()), &see, features)?,
    };
    let text = match args.json {
        true => bakeoff_report::pretty_json(&planning)?,
        false => page::power(&planning, args.layouts, screen::style()),
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
        let error = format!("a pilot needs at least {PILOT_MIN} valid blocks, but this one has only {most}");
        return Err(CommandError::usage(error)
            .hint("run more blocks, or give the spread that you expect: bakeoff power --sd 2%"));
    }
    Ok(planning)
}
