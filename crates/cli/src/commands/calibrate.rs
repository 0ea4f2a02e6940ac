//! `bakeoff calibrate`: the scale, tested on itself. Simulated studies by default; with `--real` a real command against
//! itself ([`real`]). It keeps no journal.

mod real;

use crate::error::{Code, CommandError};
use crate::screen;
use bakeoff_analysis::calibration::{Options, calibrate};
use bakeoff_report::format::waiting_time;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Studies in each world, in the full form, in the short form, and of a real command.
const STUDIES: u32 = 10_000;
const QUICK_STUDIES: u32 = 250;
const REAL_STUDIES: u32 = 400;

/// Does Bakeoff keep its own promises? Thousands of simulated studies whose truth is known, or real ones
///
/// Studies are simulated in seven worlds of noise and judged by the code that judges real ones: how often a difference is
/// found where there is none, how often an interval covers the truth, how small a difference is seen, and what the methods
/// of other tools say of the same data. With --real, a real command is compared with itself on this machine, in randomised
/// blocks and in the order AAAA BBBB, under a load that varies. Exits with 1 if a promise does not hold.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Studies in each world [default: 10000; 250 with --quick or --real]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    studies: Option<u32>,
    /// The short form: fewer studies, and goals widened by the error of the simulation
    #[arg(long, conflicts_with = "real")]
    quick: bool,
    /// Seed of all chance
    #[arg(long, value_name = "SEED", default_value_t = 178)]
    seed: u64,
    /// Threads that simulate [default: one for each processor]
    #[arg(long, short = 'j', visible_alias = "jobs", value_name = "N", conflicts_with = "real",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print everything as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
    /// Execute a real command against itself on this machine
    #[arg(long)]
    real: bool,
    #[command(flatten)]
    of_real: real::Args,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    bakeoff_host::interrupt::install()?;
    if args.real { real::execute(args) } else { simulate(args) }
}

fn simulate(args: &Args) -> Result<Code, CommandError> {
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
        screen::err("stopped: a simulation is all or nothing; the same command begins anew\n");
        return Ok(Code::Interrupted);
    };
    let text = if args.json {
        bakeoff_report::calibration_json(&calibration)?
    } else {
        bakeoff_report::calibration(&calibration, screen::style())
    };
    screen::page(&text, args.json);
    Ok(if calibration.holds() { Code::Done } else { Code::GateFailed })
}

/// The part that is done, and the time that is left, on standard error.
struct Meter {
    quiet: bool,
    began: Instant,
    /// When it was last drawn.
    drawn: Mutex<Instant>,
}

impl Meter {
    fn new(quiet: bool) -> Self {
        Self { quiet, began: Instant::now(), drawn: Mutex::new(Instant::now()) }
    }

    /// Draws, unless it was drawn a moment ago or somebody else is drawing.
    fn show(&self, part: f64) {
        let terminal = screen::err_is_terminal();
        let pause = Duration::from_secs(if terminal { 1 } else { 10 });
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        if self.quiet || drawn.elapsed() < pause {
            return;
        }
        *drawn = Instant::now();
        let left = self.began.elapsed().as_secs_f64() * (1.0 - part) / part.max(1e-6);
        let line = format!("{:.0} % done, about {} left", (100.0 * part).floor(), waiting_time(left));
        screen::draw(&line);
    }

    fn clear(&self) {
        if !self.quiet {
            screen::erase();
        }
    }
}
