//! The options of `bakeoff calibrate`, in both forms. What they mean is known where the form is executed.

/// Does Bakeoff keep its own promises? Tested on thousands of simulated studies whose truth is known, or on real ones
///
/// It simulates studies under seven kinds of noise ("worlds"), and judges them with the code that judges real ones. It
/// prints how often a difference is found where there is none, how often an interval covers the truth, how small a
/// difference is seen, and what the methods of other tools say about the same data. With --real, it compares a real
/// command with itself on this machine, in randomised blocks and in the order AAAA BBBB, under a load that varies. It
/// exits with 1 if a promise does not hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many studies to simulate in each world, or to execute with --real; each rate that is printed is the share of
    /// these studies in which something happened, so more of them make it more certain [default: 10000; 250 with --quick
    /// or --real]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    pub(super) studies: Option<u32>,
    /// The short form: with so few studies, a promise is broken only where chance cannot explain the rate
    #[arg(long, conflicts_with = "real")]
    pub(super) quick: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 178)]
    pub(super) seed: u64,
    /// Threads that simulate [default: one for each processor]
    #[arg(long, short = 'j', visible_alias = "jobs", value_name = "N", conflicts_with = "real",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Print everything as JSON instead of tables
    #[arg(long)]
    pub(super) json: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    pub(super) quiet: bool,
    /// Execute a real command against itself on this machine
    #[arg(long)]
    pub(super) real: bool,
    #[command(flatten)]
    pub(super) of_real: OfReal,
}

/// What only `--real` needs.
#[derive(Debug, clap::Args)]
#[group(id = "calibrate-real")]
pub(crate) struct OfReal {
    /// With --real: blocks of each study
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(6..=36))]
    pub(super) blocks: u32,
    /// With --real: the command; by default a loop of some milliseconds
    #[arg(long, value_name = "COMMAND", requires = "real")]
    pub(super) command: Option<String>,
    /// With --real: processes of load during the trials, which work and rest in turn [default: one for each processor]
    #[arg(long, value_name = "N", requires = "real", value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub(super) load: Option<u32>,
}
