//! `bakeoff stat`: samples that somebody else measured, judged. It reads files, hands them on, and prints what comes
//! back.

mod ministat;

use crate::error::{Code, CommandError};
use std::ffi::OsString;

/// Judge numbers that were measured elsewhere
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files; `-`, or none at all, is standard input
    #[arg(value_name = "FILE")]
    files: Vec<OsString>,
    /// The column of numbers to take, from 1
    #[arg(short = 'C', long = "column", value_name = "N", allow_hyphen_values = true)]
    columns: Vec<OsString>,
    /// The characters that separate columns; blank and tab if not given
    #[arg(short = 'd', long, value_name = "CHARS", allow_hyphen_values = true)]
    delimiters: Vec<OsString>,
    /// Confidence of intervals and verdicts, as a fraction or in percent; ministat knows 80, 90, 95, 98, 99 and 99.5
    #[arg(short = 'c', long, value_name = "C", allow_hyphen_values = true)]
    confidence: Vec<OsString>,
    /// Print what ministat prints, byte for byte: Debian's of 2015, or FreeBSD's of today
    #[arg(long, value_name = "EDITION", require_equals = true, num_args = 0..=1, default_missing_value = "legacy")]
    ministat: Option<Edition>,
    /// ministat: without the plot
    #[arg(short = 'A', requires = "ministat")]
    no_plot: bool,
    /// ministat: only describe, without plot and comparisons
    #[arg(short = 'n', requires = "ministat")]
    raw: bool,
    /// ministat: bars on separate lines
    #[arg(short = 's', requires = "ministat")]
    separate: bool,
    /// ministat: without names and heading (FreeBSD's only)
    #[arg(short = 'q', requires = "ministat")]
    quiet: bool,
    /// ministat: width of the plot
    #[arg(short = 'w', requires = "ministat", value_name = "COLUMNS", allow_hyphen_values = true)]
    width: Vec<OsString>,
}

/// Which ministat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Edition {
    Legacy,
    Freebsd,
}

impl Edition {
    fn arithmetic(self) -> bakeoff_analysis::stats::ministat::Edition {
        match self {
            Self::Legacy => bakeoff_analysis::stats::ministat::Edition::Legacy,
            Self::Freebsd => bakeoff_analysis::stats::ministat::Edition::FreeBsd,
        }
    }
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    match args.ministat {
        Some(edition) => ministat::execute(args, edition),
        None => Err(CommandError::usage("not yet")),
    }
}
