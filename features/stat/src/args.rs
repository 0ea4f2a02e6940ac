//! The options of `bakeoff stat`; the slice `ministat` adds those of ministat.

use std::ffi::OsString;

/// The margin of `bakeoff compare`.
const MARGIN: &str = "1%";

/// Judge numbers that were measured elsewhere: as ministat and benchstat do, but with verdicts
///
/// Each file is a sample: numbers, one a line, with # before comments; or the output of Go's testing, hyperfine
/// (--export-json), pyperf (-o), JMH (-rf json) or pytest-benchmark (--benchmark-json), which is recognised, even if it
/// is packed with gzip. A journal of Bakeoff's is read too: each variant is a sample, paired by block. The first sample is the baseline. Bakeoff does not know in which order the samples were
/// measured: if one of them changes over time, there is no verdict on a difference that time could explain.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files; `-`, or none at all, is standard input
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<OsString>,
    /// A name for a file; repeat the option for each file, in order
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// The sample to compare with, instead of the first
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Each line is a block: its values were measured together, in a random order
    #[arg(long)]
    pub(crate) paired: bool,
    /// The column that holds the numbers, counted from 1
    #[arg(short = 'C', long = "column", value_name = "N", allow_hyphen_values = true)]
    pub(crate) columns: Vec<OsString>,
    /// The characters that separate columns; blank and tab if not given
    #[arg(short = 'd', long, value_name = "CHARS", allow_hyphen_values = true)]
    pub(crate) delimiters: Vec<OsString>,
    /// The format of the files, if it is not recognised
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Named>,
    /// Keys that must be equal where values are compared, separated by commas: .name, .fullname, .unit, .file, /PART of
    /// a name, the KEY of a line `KEY: value`, or .config, which is all such lines; .config if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) table: Option<String>,
    /// Keys that separate tables; .fullname if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) row: Option<String>,
    /// Keys that separate the samples of a table; .file if not given
    #[arg(long, value_name = "KEYS")]
    pub(crate) col: Option<String>,
    /// Keys that separate nothing: these may differ
    #[arg(long, value_name = "KEYS")]
    pub(crate) ignore: Option<String>,
    /// Use only these values: `KEY:VALUE`, `KEY:(A OR B)`, `-X`, `X Y`, `X OR Y`, `(X)`
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
