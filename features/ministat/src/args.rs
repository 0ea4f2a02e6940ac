//! The options that ministat adds to `bakeoff stat`, and those of `stat` that it reads too.

use crate::arithmetic::Edition;
use clap::ArgMatches;
use std::ffi::OsString;

// Its own; they stand behind those of `stat`. A documentation comment would become the help of `stat`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "As ministat")]
pub(crate) struct Own {
    /// Print what ministat prints, byte for byte: `legacy` is Debian's ministat from 2015 (the default); `freebsd` is
    /// FreeBSD's current one
    #[arg(long, value_name = "EDITION", require_equals = true, num_args = 0..=1, default_missing_value = "legacy",
        conflicts_with_all = ["names", "baseline", "paired", "format", "table", "row", "col", "ignore", "filter", "json", "require_verdict"])]
    pub(crate) ministat: Option<Edition>,
    /// With --ministat: omit the plot
    #[arg(short = 'A', requires = "ministat")]
    pub(crate) no_plot: bool,
    /// With --ministat: print only the summary statistics, without the plot and comparisons
    #[arg(short = 'n', requires = "ministat")]
    pub(crate) raw: bool,
    /// With --ministat: draw the bars on separate lines
    #[arg(short = 's', requires = "ministat")]
    pub(crate) separate: bool,
    /// With --ministat=freebsd: omit names and headings
    #[arg(short = 'q', requires = "ministat")]
    pub(crate) quiet: bool,
    /// With --ministat: the width of the plot
    #[arg(short = 'w', requires = "ministat", value_name = "COLUMNS", allow_hyphen_values = true)]
    pub(crate) width: Vec<OsString>,
}

/// All that ministat is asked with.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) own: Own,
    pub(crate) files: Vec<OsString>,
    pub(crate) columns: Vec<OsString>,
    pub(crate) delimiters: Vec<OsString>,
    pub(crate) confidence: Vec<OsString>,
}

impl Args {
    /// The options of `stat` are read by their names.
    pub(crate) fn of(own: Own, matches: &ArgMatches) -> Self {
        let all = |name: &str| matches.get_many::<OsString>(name).unwrap_or_default().cloned().collect();
        let [files, columns, delimiters, confidence] = ["files", "columns", "delimiters", "confidence"].map(all);
        Self { own, files, columns, delimiters, confidence }
    }
}
