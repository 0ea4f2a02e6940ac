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

/// Check Bakeoff's statistical promises on thousands of simulated studies
///
/// Calibrate simulates studies with known true values under seven kinds of noise ("worlds"), and judges them with the
/// code that judges real studies. It prints how often it finds a difference where there is none, how often an interval
/// contains the true value, and how small a difference it detects. It exits with 1 if a promise does not hold. `bakeoff
/// help promises` lists the promises.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of studies to simulate in each world; each printed rate is a share of these studies, so more studies make
    /// the rates more precise [default: 10000; 250 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    studies: Option<u32>,
    /// Simulate fewer studies, and report a promise as broken only if chance cannot explain the rate
    #[arg(long)]
    quick: bool,
    /// Seed for the random numbers
    #[arg(long, value_name = "SEED", default_value_t = 178)]
    seed: u64,
    /// Number of threads [default: one for each processor]
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
        screen::err("interrupted: no partial results were kept; run the same command again to start over\n");
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
