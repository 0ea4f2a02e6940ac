//! `bakeoff calibrate --real`: a real command against itself, through the launcher that executes every trial. Two designs
//! share the machine trial by trial; what they say is judged in [`crate::calibration::real`].

use super::args::Args;
use super::meter::Meter;
use super::varying_load::VaryingLoad;
use crate::calibration::real::{Executed, Trials, judge, turns};
use crate::page;
use bakeoff_command::alone::alone;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::screen;
use bakeoff_lab::local::{Local, Setup};
use bakeoff_lab::{Execution, Executor, Task};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Block, Failure, Outcome};
use bakeoff_model::study::{Condition, Workload};
use std::path::Path;

/// Studies, if it is not said how many.
const STUDIES: u32 = 400;
/// A few milliseconds of work for any shell.
const COMMAND: &str = "i=0; while test $i -lt 2500; do i=$((i+1)); done";
/// The only variant.
const NAME: &str = "command";
/// What is beside its trials.
const CONDITION: &str = "load";

pub(super) fn execute(args: &Args) -> Result<Code, CommandError> {
    let wanted = args.studies.unwrap_or(STUDIES);
    let folder = Scratch::new("bakeoff-calibrate-", &std::env::temp_dir()).map_err(|error| {
        CommandError::new(Code::Internal, error).hint("TMPDIR names the folder for temporary files")
    })?;
    let command = args.of_real.command.clone().unwrap_or_else(|| COMMAND.to_owned());
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processes = args.of_real.load.unwrap_or(processors as u32);
    let _held = alone(args.quiet)?;
    let mut place = place(&command, folder.path())?;
    let mut load = (processes > 0).then(|| VaryingLoad::start(processes, folder.path())).transpose()?;
    let meter = Meter::new(args.quiet);
    let mut studies = vec![];
    for number in 0..wanted {
        let Some(trials) = study(&mut place, args, number)? else { break };
        studies.push(trials);
        if let Some(load) = &mut load
            && let Some(end) = load.ended()?
            && bakeoff_host::interrupt::count() == 0
        {
            return Err(CommandError::new(Code::Internal, format!("the load ended before the trials did: {end:?}")));
        }
        meter.show(studies.len() as f64 / f64::from(wanted));
    }
    drop(load);
    meter.clear();
    let done = studies.len() as u32;
    if done == 0 {
        screen::err("stopped before the first study was complete\n");
        return Ok(Code::Interrupted);
    }
    let (blocks, seed) = (args.of_real.blocks, args.seed);
    let real = judge(Executed { command, blocks, load: processes, seed, studies });
    let text = if args.json { page::calibration_json(&real)? } else { page::real(&real, screen::style()) };
    screen::page(&text, args.json);
    if done < wanted {
        screen::err(&format!("stopped after {done} of {wanted} studies\n"));
        return Ok(Code::Interrupted);
    }
    Ok(if real.randomised.is_refuted() { Code::GateFailed } else { Code::Done })
}

/// This host, with one command in this folder and this environment.
fn place(command: &str, scratch: &Path) -> Result<Local<'static>, CommandError> {
    let dir = std::env::current_dir().map_err(|error| CommandError::new(Code::Internal, error))?;
    let setup = Setup {
        dir,
        scratch: scratch.to_owned(),
        environment: std::env::vars_os()
            .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
            .collect(),
        ..Setup::default()
    };
    // Its blocks are not this plan's: both designs are made elsewhere.
    let plan = Plan {
        variants: vec![Variant { name: NAME.to_owned(), ..Variant::default() }],
        workloads: vec![Workload { name: NAME.to_owned(), run: command.to_owned(), ..Workload::default() }],
        conditions: vec![Condition { name: CONDITION.to_owned(), ..Condition::default() }],
        ..Plan::default()
    };
    Ok(Local::new(&plan, setup, None)?)
}

/// Executes one study, in both designs; none if it was interrupted. A trial that fails leaves its study incomplete, but
/// one in the first study says that the command is no good.
fn study(place: &mut Local<'_>, args: &Args, number: u32) -> Result<Option<Trials>, CommandError> {
    let mut trials = Trials::default();
    let order = vec![NAME.to_owned()];
    let block =
        Block { block: 1, workload: NAME.to_owned(), condition: CONDITION.to_owned(), order, padding: 0, layout: None };
    for turn in turns(args.of_real.blocks as usize, args.seed, number) {
        if bakeoff_host::interrupt::count() > 0 {
            return Ok(None);
        }
        let executed = place.execute(Task { block: &block, position: 1, variant: NAME, attempt: 0 })?;
        let Some(Execution { outcome, measurements, .. }) = executed else { return Ok(None) };
        match (outcome, measurements.get("wall")) {
            (Outcome::Ok, Some(wall_s)) => trials.push(turn.order, *wall_s),
            (Outcome::Failed(failure), _) if number == 0 => return Err(failed(&failure)),
            _ => {}
        }
    }
    Ok(Some(trials))
}

fn failed(failure: &Failure) -> CommandError {
    let how = bakeoff_report::failure(failure);
    CommandError::new(Code::VariantFailed, format!("the command fails: {how}"))
        .hint("a command that is to be compared with itself must succeed every time")
}
