//! `bakeoff calibrate`: the scale, tested on itself by simulated studies. It keeps no journal.

mod args;
mod meter;

pub(crate) use args::Args;

use crate::calibration::{Options, calibrate};
use crate::page;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::screen;
use meter::Meter;

/// Studies in each world, in the full form and in the short form.
const STUDIES: u32 = 10_000;
const QUICK_STUDIES: u32 = 250;

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    if args.real.is_some() {
        let error = CommandError::usage("--real: `calibrate` only simulates");
        return Err(error.hint("`bakeoff compare 'COMMAND' 'COMMAND'` compares a command with itself on this machine"));
    }
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
