//! The options of `bakeoff calibrate`.

/// Does Bakeoff keep its own promises? Tested on thousands of simulated studies whose truth is known
///
/// It simulates studies under seven kinds of noise ("worlds"), and judges them with the code that judges real ones. It
/// prints how often a difference is found where there is none, how often an interval covers the truth, and how small a
/// difference is seen. It exits with 1 if a promise does not hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many studies to simulate in each world; each rate that is printed is the share of these studies in which
    /// something happened, so more of them make it more certain [default: 10000; 250 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    pub(super) studies: Option<u32>,
    /// The short form: with so few studies, a promise is broken only where chance cannot explain the rate
    #[arg(long)]
    pub(super) quick: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 178)]
    pub(super) seed: u64,
    /// Threads that simulate [default: one for each processor]
    #[arg(long, short = 'j', visible_alias = "jobs", value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Print everything as JSON instead of tables
    #[arg(long)]
    pub(super) json: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// It is here so that an error can name the remedy, with all that follows it.
    #[arg(long, hide = true, num_args = 0.., allow_hyphen_values = true)]
    pub(super) real: Option<Vec<String>>,
}
