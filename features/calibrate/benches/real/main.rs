//! A real command against itself, through the launcher that runs every trial: `cargo bench -p bakeoff-calibrate --bench
//! real`. Every difference that is found is false. Two designs share the machine trial by trial, under a load that
//! varies; what they say is judged in [`judged`]. It exits with 1 if the promise does not hold, and with 130 after an
//! interrupt.
//!
//! `STUDIES`, `BLOCKS` and `SEED` change what is run, `COMMAND` the command, `LOAD` the number of load processes (0 for
//! none); `BAKEOFF_BENCH_QUICK=1` makes it small, to see whether it works.

#![allow(unused_imports, reason = "unit tests are executed by tests/benches.rs")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it ends where something is not as it should be")]

mod judged;
mod varying_load;

use bakeoff_command::alone::alone;
use bakeoff_lab::local::{Local, Setup};
use bakeoff_lab::{Execution, Executor as _, Task};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::{Block, Outcome};
use bakeoff_model::study::{Condition, Workload};
use bakeoff_report::draw::grid::{Flush, Grid};
use bakeoff_report::draw::paint::{Ink, Page, Piece};
use bakeoff_report::draw::text::clean;
use bakeoff_report::format::{count, duration, fixed, percent};
use judged::{Executed, GOAL, Real, Trials, Wrong, judge, turns};
use std::path::Path;
use varying_load::VaryingLoad;

/// A few milliseconds of work for any shell.
const COMMAND: &str = "i=0; while test $i -lt 2500; do i=$((i+1)); done";
/// The only variant.
const NAME: &str = "command";
/// What its trials share the machine with.
const CONDITION: &str = "load";

/// A number from the environment.
fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) fn main() {
    let is_quick = std::env::var("BAKEOFF_BENCH_QUICK").is_ok_and(|word| word == "1");
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
    let mut executed = Executed {
        command: std::env::var("COMMAND").unwrap_or_else(|_| COMMAND.to_owned()),
        blocks: number("BLOCKS").unwrap_or(10),
        load: number("LOAD").unwrap_or(processors),
        seed: number("SEED").unwrap_or(178).into(),
        studies: vec![],
    };
    let studies = number("STUDIES").unwrap_or(if is_quick { 20 } else { 400 });
    bakeoff_host::interrupt::install().unwrap();
    let was_stopped = execute(&mut executed, studies);
    let real = judge(executed);
    print!("{}", page(&real));
    if was_stopped {
        std::process::exit(130);
    } else if real.randomised.is_refuted() {
        std::process::exit(1);
    }
}

/// Runs studies; true if an interrupt left any of them out.
fn execute(executed: &mut Executed, studies: u32) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let Ok(_held) = alone(false) else { return true };
    let mut place = place(&executed.command, folder.path());
    let mut load = (executed.load > 0).then(|| VaryingLoad::start(executed.load, folder.path()).unwrap());
    for number in 0..studies {
        let Some(trials) = study(&mut place, executed, number) else { return true };
        executed.studies.push(trials);
        let end = load.as_mut().and_then(|load| load.ended().unwrap());
        if bakeoff_host::interrupt::count() == 0 {
            assert!(end.is_none(), "the load ended before the trials did: {end:?}");
        }
    }
    false
}

/// This host, with one command in this folder and this environment.
fn place(command: &str, scratch: &Path) -> Local<'static> {
    let setup = Setup {
        dir: std::env::current_dir().unwrap(),
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
    Local::new(&plan, setup, None).unwrap()
}

/// Runs one study, in both designs; none if it was interrupted. A trial that fails leaves its study incomplete; in the
/// first study, the command is of no use.
fn study(place: &mut Local<'_>, of: &Executed, number: u32) -> Option<Trials> {
    let mut trials = Trials::default();
    let (workload, condition, order) = (NAME.to_owned(), CONDITION.to_owned(), vec![NAME.to_owned()]);
    let block = Block { block: 1, workload, condition, order, ..Block::default() };
    for turn in turns(of.blocks as usize, of.seed, number) {
        if bakeoff_host::interrupt::count() > 0 {
            return None;
        }
        let task = Task { block: &block, position: 1, variant: NAME, attempt: 0 };
        let Execution { outcome, measurements, .. } = place.execute(task).unwrap()?;
        match (outcome, measurements.get("wall")) {
            (Outcome::Ok, Some(wall_s)) => trials.push(turn.order, *wall_s),
            (Outcome::Failed(failure), _) if number == 0 => {
                panic!("the command fails: {}", bakeoff_report::failure(&failure))
            }
            _ => {}
        }
    }
    Some(trials)
}

fn rate(value: f64) -> String {
    format!("{} %", fixed(100.0 * value, 2))
}

fn page(real: &Real) -> String {
    const WIDTH: usize = 100;
    let mut page = Page::default();
    let ours = &real.randomised;
    let holds = match (ours.holds, ours.is_refuted()) {
        (true, _) => "The promise holds",
        (false, false) => "The rate is above the goal, but so few studies may show that by chance",
        (false, true) => "The promise does NOT hold",
    };
    let heading = format!(
        "{holds}: of {} real studies of a command against itself, {} ({}) found a difference; the goal is at most {}.",
        count(ours.studies.into()),
        ours.wrong,
        rate(ours.rate),
        percent(GOAL)
    );
    page.paragraph(&heading, WIDTH, 0, Ink::Heading);
    page.gap();
    let titles = [("false differences", Flush::Left), ("studies", Flush::Right), ("wrong", Flush::Right)];
    let mut grid = Grid::new(titles.into_iter().chain([("rate", Flush::Right), ("95 % interval", Flush::Right)]));
    let mut row = |name: &str, wrong: &Wrong| {
        let ends = |[low, high]: [f64; 2]| format!("{} to {}", fixed(100.0 * low, 2), rate(high));
        let interval = wrong.interval.map_or("–".to_owned(), ends);
        let numbers = [count(wrong.studies.into()), count(wrong.wrong.into()), rate(wrong.rate), interval];
        grid.row(std::iter::once(name.to_owned()).chain(numbers).map(Piece::plain).collect());
    };
    row("ours: randomised blocks", &real.randomised);
    row("AAAA BBBB, pooled t", &real.sequential);
    row("our blocks, pooled t", &real.randomised_pooled_t);
    grid.print(&mut page, WIDTH);
    page.gap();
    let about = format!(
        "All at 5 %; the pooled t is ministat's. Each study executed the command {} times in each of the two orders, trial by          trial in turn so that both met the same machine, with {} processes of ours whose load varies. A trial took {}          (median of its elapsed time). Seed {}. Command: {}",
        2 * real.blocks,
        real.load,
        duration(real.typical_s),
        real.seed,
        clean(&real.command)
    );
    page.paragraph(&about, WIDTH, 0, Ink::Plain);
    if real.incomplete > 0 {
        let text = format!("{} studies are left out: a trial of them failed.", count(real.incomplete.into()));
        page.paragraph(&text, WIDTH, 0, Ink::Plain);
    }
    page.print(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten studies of a command that takes longer in every trial: the sequence is wrong every time.
    #[test]
    fn real_studies_say_how_often_each_design_was_wrong() {
        let study = |number: u32| {
            let mut trials = Trials::default();
            for (position, turn) in (0u32..).zip(turns(6, 1, number)) {
                trials.push(turn.order, 0.004 * f64::from(100 + position));
            }
            trials
        };
        let executed = Executed {
            command: "true\u{1b}".to_owned(),
            blocks: 6,
            load: 2,
            seed: 1,
            studies: (0..10).map(study).collect(),
        };
        let page = page(&judge(executed));
        assert!(page.contains("AAAA BBBB, pooled t           10     10  100.00 %"), "{page}");
        assert!(page.contains("2 processes of ours") && page.contains("Command: true?"), "{page}");
    }
}
