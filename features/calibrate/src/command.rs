//! `bakeoff calibrate`: the scale, tested on itself by simulated studies. It keeps no journal.

mod meter;

use crate::calibration::{Options, calibrate};
use crate::page;
use crate::searches::{self, PARTS, Part, measure};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use bakeoff_report::draw::Style;
use meter::Meter;
use serde::Serialize;

/// Studies in each world, in the full form and in the short form.
const STUDIES: u32 = 10_000;
const QUICK_STUDIES: u32 = 250;
/// The same of searches; fewer do not tell a ratio that is reached from one that is not.
const SEARCHES: u32 = 1_000;
const QUICK_SEARCHES: u32 = 20;
/// All parts of the goals of searching.
const ALL: &str = "all";

/// Check Bakeoff's statistical promises on thousands of simulated studies
///
/// Calibrate simulates studies with known true values under seven kinds of noise ("worlds"), and judges them with the
/// code that judges real studies. It prints how often it finds a difference where there is none, how often an interval
/// contains the true value, and how small a difference it detects. With --searches, it simulates searches by `tune` and
/// `bisect` instead, and prints how often they are wrong and what they cost. It exits with 1 if a promise does not hold.
/// `bakeoff help promises` lists the promises.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of studies to simulate in each world; each printed rate is a share of these studies, so more studies make
    /// the rates more precise [default: 10000; 250 with --quick; with --searches, 1000 and 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000_000))]
    studies: Option<u32>,
    /// Check the promises of `tune` and `bisect` by simulated searches; all of them, or those of races, layouts, spaces or
    /// bisections
    #[arg(long, value_name = "PART", num_args = 0..=1, default_missing_value = ALL,
          value_parser = [ALL, "races", "layouts", "spaces", "bisections"])]
    searches: Option<String>,
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
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| CommandError::new(Code::Internal, error))?;
    let meter = Meter::new(args.quiet);
    let watch = |part: f64| {
        meter.show(part);
        bakeoff_host::interrupt::count() == 0
    };
    let found = pool.install(|| match &args.searches {
        Some(part) => args.search(part, &watch),
        None => args.calibrate(&watch),
    });
    meter.clear();
    let Some((text, holds)) = found.transpose()? else {
        screen::err("interrupted: no partial results were kept; run the same command again to start over\n");
        return Ok(Code::Interrupted);
    };
    screen::page(&text, args.json);
    Ok(if holds { Code::Done } else { Code::GateFailed })
}

/// A page, and whether what is promised holds; none if it was interrupted.
type Found = Option<Result<(String, bool), CommandError>>;

impl Args {
    fn calibrate(&self, watch: &(dyn Fn(f64) -> bool + Sync)) -> Found {
        let studies = self.studies.unwrap_or(if self.quick { QUICK_STUDIES } else { STUDIES });
        let found = calibrate(Options { studies, seed: self.seed, short: self.quick }, watch)?;
        let text = self.text(&found, page::calibration);
        Some(text.map(|text| (text, found.holds())))
    }

    fn search(&self, part: &str, watch: &(dyn Fn(f64) -> bool + Sync)) -> Found {
        let parts: Vec<Part> = PARTS.into_iter().filter(|own| part == ALL || own.name() == part).collect();
        let runs = self.studies.unwrap_or(if self.quick { QUICK_SEARCHES } else { SEARCHES });
        let found = measure(&parts, searches::Options { runs, seed: self.seed, short: self.quick }, watch)?;
        let text = self.text(&found, searches::page);
        Some(text.map(|text| (text, found.hold())))
    }

    fn text<T: Serialize>(&self, found: &T, page: fn(&T, Style) -> String) -> Result<String, CommandError> {
        if self.json { Ok(bakeoff_report::pretty_json(found)?) } else { Ok(page(found, screen::style())) }
    }
}
