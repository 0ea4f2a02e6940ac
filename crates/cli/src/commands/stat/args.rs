//! The options of `bakeoff stat`, those of ministat among them. Whether ministat would take what they say is not known here.

use std::ffi::OsString;

/// The margin of `bakeoff compare`.
const MARGIN: &str = "1%";

/// Judge numbers that were measured elsewhere: ministat and benchstat, with verdicts
///
/// Each file is a sample: numbers, one a line, with # before comments; or what Go's testing, hyperfine (--export-json),
/// pyperf (-o), JMH (-rf json) or pytest-benchmark (--benchmark-json) wrote, which is recognised, also where gzip packed
/// it. The first sample is the baseline. The order in which samples were measured is unknown here: if time can be seen in
/// one of them, there is no verdict on what time could explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files; `-`, or none at all, is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<OsString>,
    /// A name for a file; once for each, in their order
    #[arg(long = "name", value_name = "NAME", conflicts_with = "ministat")]
    pub(super) names: Vec<String>,
    /// The sample to compare with, instead of the first
    #[arg(long, value_name = "NAME", conflicts_with = "ministat")]
    pub(super) baseline: Option<String>,
    /// Each line is a block: its values were measured together, in a random order
    #[arg(long, conflicts_with = "ministat")]
    pub(super) paired: bool,
    /// The column of numbers to take, from 1
    #[arg(short = 'C', long = "column", value_name = "N", allow_hyphen_values = true)]
    pub(super) columns: Vec<OsString>,
    /// The characters that separate columns; blank and tab if not given
    #[arg(short = 'd', long, value_name = "CHARS", allow_hyphen_values = true)]
    pub(super) delimiters: Vec<OsString>,
    /// The format of the files, if it is not recognised
    #[arg(long, value_name = "FORMAT", conflicts_with = "ministat")]
    pub(super) format: Option<Named>,
    /// What may not differ between values that are compared: keys with commas between, of .name, .fullname, .unit, .file,
    /// /PART of a name, KEY of a line `KEY: value`, and .config, all such lines; .config if not given
    #[arg(long, value_name = "KEYS", conflicts_with = "ministat")]
    pub(super) table: Option<String>,
    /// What tells tables apart, besides; .fullname if not given
    #[arg(long, value_name = "KEYS", conflicts_with = "ministat")]
    pub(super) row: Option<String>,
    /// What tells the samples of a table apart; .file if not given
    #[arg(long, value_name = "KEYS", conflicts_with = "ministat")]
    pub(super) col: Option<String>,
    /// What may differ: keys that tell nothing apart
    #[arg(long, value_name = "KEYS", conflicts_with = "ministat")]
    pub(super) ignore: Option<String>,
    /// Only these values: `KEY:VALUE`, `KEY:(A OR B)`, `-X`, `X Y`, `X OR Y`, `(X)`
    #[arg(long, value_name = "FILTER", conflicts_with = "ministat", allow_hyphen_values = true)]
    pub(super) filter: Option<String>,
    /// Half-width of the zone of equivalence, in percent
    #[arg(long, value_name = "PERCENT", default_value = MARGIN, value_parser = crate::commands::compare::margin)]
    pub(super) margin: f64,
    /// Confidence of intervals and verdicts, as a fraction or in percent; 0.95 if not given. ministat knows 80, 90, 95,
    /// 98, 99 and 99.5
    #[arg(short = 'c', long, value_name = "C", allow_hyphen_values = true)]
    pub(super) confidence: Vec<OsString>,
    /// Print all findings as JSON instead of a report
    #[arg(long, conflicts_with = "ministat")]
    pub(super) json: bool,
    /// Exit with 3 unless every comparison got a verdict
    #[arg(long, conflicts_with = "ministat")]
    pub(super) require_verdict: bool,
    /// Print what ministat prints, byte for byte: Debian's of 2015, or FreeBSD's of today
    #[arg(long, value_name = "EDITION", require_equals = true, num_args = 0..=1, default_missing_value = "legacy")]
    pub(super) ministat: Option<Edition>,
    /// ministat: without the plot
    #[arg(short = 'A', requires = "ministat")]
    pub(super) no_plot: bool,
    /// ministat: only describe, without plot and comparisons
    #[arg(short = 'n', requires = "ministat")]
    pub(super) raw: bool,
    /// ministat: bars on separate lines
    #[arg(short = 's', requires = "ministat")]
    pub(super) separate: bool,
    /// ministat: without names and heading (FreeBSD's only)
    #[arg(short = 'q', requires = "ministat")]
    pub(super) quiet: bool,
    /// ministat: width of the plot
    #[arg(short = 'w', requires = "ministat", value_name = "COLUMNS", allow_hyphen_values = true)]
    pub(super) width: Vec<OsString>,
}

/// The formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Named {
    Columns,
    Go,
    Json,
}

/// Which ministat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Edition {
    Legacy,
    Freebsd,
}

impl Edition {
    pub(super) fn arithmetic(self) -> bakeoff_stats::ministat::Edition {
        match self {
            Self::Legacy => bakeoff_stats::ministat::Edition::Legacy,
            Self::Freebsd => bakeoff_stats::ministat::Edition::FreeBsd,
        }
    }
}
