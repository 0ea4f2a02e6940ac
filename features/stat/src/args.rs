//! The options of `bakeoff stat`; the slice `ministat` adds those of ministat.

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
    pub(crate) files: Vec<OsString>,
    /// A name for a file; once for each, in their order
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The sample to compare with, instead of the first
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Each line is a block: its values were measured together, in a random order
    #[arg(long)]
    pub(crate) paired: bool,
    /// The column of numbers to take, from 1
    #[arg(short = 'C', long = "column", value_name = "N", allow_hyphen_values = true)]
    pub(crate) columns: Vec<OsString>,
    /// The characters that separate columns; blank and tab if not given
    #[arg(short = 'd', long, value_name = "CHARS", allow_hyphen_values = true)]
    pub(crate) delimiters: Vec<OsString>,
    /// The format of the files, if it is not recognised
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Named>,
    /// What may not differ between values that are compared: keys with commas between, of .name, .fullname, .unit, .file,
    /// /PART of a name, KEY of a line `KEY: value`, and .config, all such lines; .config if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) table: Option<String>,
    /// Keys that separate tables; .fullname if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) row: Option<String>,
    /// What tells the samples of a table apart; .file if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) col: Option<String>,
    /// What may differ: keys that tell nothing apart
    #[arg(long, value_name = "KEYS")]
    pub(crate) ignore: Option<String>,
    /// Only these values: `KEY:VALUE`, `KEY:(A OR B)`, `-X`, `X Y`, `X OR Y`, `(X)`
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Half-width of the zone of equivalence, in percent
    #[arg(long, value_name = "PERCENT", default_value = MARGIN, value_parser = bakeoff_command::arguments::margin)]
    pub(crate) margin: f64,
    /// Confidence of intervals and verdicts, as a fraction or in percent; 0.95 if not given. ministat knows 80, 90, 95,
    /// 98, 99 and 99.5
    #[arg(short = 'c', long, value_name = "C", allow_hyphen_values = true)]
    pub(crate) confidence: Vec<OsString>,
    /// Print all findings as JSON instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 3 unless every comparison got a verdict
    #[arg(long)]
    pub(crate) require_verdict: bool,
}

/// The formats by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Named {
    Columns,
    Go,
    Json,
}
