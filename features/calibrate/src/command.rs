//! `bakeoff calibrate`: the scale, tested on itself by simulated studies. It keeps no journal.

mod meter;

use crate::calibration::{Options, calibrate};
use crate::page;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use meter::Meter;

/// Studies in each world, in the full form and in the short form.
const STUDIES: u32 = 10_000;
const QUICK_STUDIES: u32 = 250;

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
    studies: Option<u32>,
    /// The short form: with so few studies, a promise is broken only where chance cannot explain the rate
    #[arg(long)]
    quick: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 178)]
    seed: u64,
    /// Threads that simulate [default: one for each processor]
    #[arg(long, short = 'j', visible_alias = "jobs", value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print everything as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    bakeoff_host::interrupt::install()?;
    let studies = args.studies.unwrap_or(if args.quick { QUICK_STUDIES } else { STUDIES });
    let options = Options { studies, seed: args.seed, short: args.quick };
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| CommandError::new(Code::Internal, error))?;
    let meter = Meter::new(args.quiet);
    let watch = |part: f64| {
        meter.show(part);
        bakeoff_host::interrupt::count() == 0
    };
    let calibration = pool.install(|| calibrate(options, &watch));
    meter.clear();
    let Some(calibration) = calibration else {
        screen::err("stopped: a simulation is all or nothing; the same command begins again\n");
        return Ok(Code::Interrupted);
    };
    let text = if args.json {
        bakeoff_report::pretty_json(&calibration)?
    } else {
        page::calibration(&calibration, screen::style())
    };
    screen::page(&text, args.json);
    Ok(if calibration.holds() { Code::Done } else { Code::GateFailed })
}
