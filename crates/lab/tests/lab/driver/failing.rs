//! A variant that fails in each of its first blocks stops, whatever interrupts the study, and goes on where that is asked for.

use super::{empty_record, never, read, session};
use bakeoff_lab::simulated::{Simulated, Truth};
use bakeoff_lab::{Ending, Error, Execution, Executor, Standing, Task};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Failure, Outcome, Record};
use std::cell::Cell;

/// Three variants, two workloads, five blocks.
fn plan(keep_going: bool) -> Plan {
    let study =
        super::STUDY.replace("clang = {", "tcc = { CC = \"tcc\" }\nclang = {").replace("blocks = 4", "blocks = 5");
    let study = read(&study);
    Plan { keep_going, ..Plan::of(&study, "default").unwrap() }
}

/// Some trials fail.
struct Fails<'a> {
    inside: Simulated,
    which: &'a dyn Fn(Task<'_>) -> bool,
}

impl Executor for Fails<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        let mut execution = self.inside.execute(task)?;
        if (self.which)(task) {
            let failure = Failure::Exit { code: 1, stderr: vec![] };
            execution.iter_mut().for_each(|execution| execution.outcome = Outcome::Failed(failure.clone()));
        }
        Ok(execution)
    }
}

fn execute(plan: &Plan, record: &mut Record, which: &dyn Fn(Task<'_>) -> bool, stop: &dyn Fn() -> bool) -> Ending {
    let mut executor = Fails { inside: Simulated::new(Truth::default(), plan), which };
    session(plan, record, &mut executor, stop)
}

fn trials(record: &Record, variant: &str, workload: &str) -> usize {
    record.trials.iter().filter(|trial| trial.variant == variant && trial.workload == workload).count()
}

#[track_caller]
fn is_done(plan: &Plan, record: &Record) {
    let standing = Standing::of(plan, record);
    assert_eq!((standing.trials_done, standing.blocks_done), (standing.trials, standing.blocks));
    assert_eq!(standing.trials as usize, record.trials.len());
}

#[test]
fn it_stops_where_it_fails_and_nowhere_else() {
    let plan = plan(false);
    let fails = |task: Task<'_>| task.variant == "cc=clang" && task.block.workload == "small";
    let mut whole = empty_record(&plan);
    assert_eq!(execute(&plan, &mut whole, &fails, &never), Ending::Complete);
    assert_eq!((trials(&whole, "cc=clang", "small"), trials(&whole, "cc=clang", "large")), (3, 5));
    assert_eq!(trials(&whole, "cc=tcc", "small"), 5);
    is_done(&plan, &whole);
    for stop_after in 0..=whole.trials.len() {
        let mut record = empty_record(&plan);
        let asked = Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= stop_after;
        execute(&plan, &mut record, &fails, &stop);
        assert_eq!(execute(&plan, &mut record, &fails, &never), Ending::Complete);
        assert_eq!((&record.blocks, &record.stopped), (&whole.blocks, &whole.stopped), "stopped after {stop_after}");
        is_done(&plan, &record);
    }
}

#[test]
fn a_variant_that_has_done_well_once_does_not_stop() {
    let plan = plan(false);
    let fails = |task: Task<'_>| task.variant == "cc=clang" && task.block.block != 3;
    let mut record = empty_record(&plan);
    execute(&plan, &mut record, &fails, &never);
    assert_eq!((trials(&record, "cc=clang", "small"), record.stopped.len()), (5, 0));
}

#[test]
fn without_the_baseline_or_without_all_others_nobody_goes_on() {
    let plan = plan(false);
    for others in [false, true] {
        let fails = |task: Task<'_>| task.block.workload == "small" && task.variant.starts_with("cc=") == others;
        let mut record = empty_record(&plan);
        assert_eq!(execute(&plan, &mut record, &fails, &never), Ending::Complete);
        let small = record.blocks.iter().filter(|block| block.workload == "small").count();
        assert_eq!((small, record.blocks.len()), (3, 8), "others: {others}");
        is_done(&plan, &record);
    }
}

#[test]
fn it_takes_part_again_where_that_is_asked_for() {
    let fails = |task: Task<'_>| task.variant == "cc=clang";
    let mut record = empty_record(&plan(false));
    execute(&plan(false), &mut record, &fails, &never);
    assert_eq!((record.trials.len(), record.stopped.len()), (2 * (3 * 4 + 2 * 3), 2));
    let mut prolonged = plan(true);
    prolonged.blocks = 6;
    assert_eq!(execute(&prolonged, &mut record, &fails, &never), Ending::Complete);
    assert_eq!((trials(&record, "cc=clang", "small"), record.stopped.len()), (4, 0));
}
