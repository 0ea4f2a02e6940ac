//! Looks at what trials run, between blocks: what a change makes void, what runs again, and how the session ends.

use super::{TRIALS, empty_record, never, plan, session, simulated};
use bakeoff_lab::simulated::Simulated;
use bakeoff_lab::{Ending, Error, Execution, Executor, Look, Task};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{MOST_REPEATS, Outcome, Record, Trial};
use std::cell::Cell;

/// A place whose looks find what stands here, and then nothing any more.
struct Looking {
    place: Simulated,
    looks: std::collections::VecDeque<Look>,
}

impl Looking {
    fn new(plan: &Plan, looks: impl IntoIterator<Item = Look>) -> Self {
        Self { place: simulated(plan), looks: looks.into_iter().collect() }
    }
}

impl Executor for Looking {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        self.place.execute(task)
    }

    fn look(&mut self) -> Result<Look, Error> {
        Ok(self.looks.pop_front().unwrap_or_else(good))
    }
}

fn good() -> Look {
    Look { files: "as ever".to_owned(), ..Look::default() }
}

fn touched() -> Look {
    Look { touched: vec!["bin/p".to_owned()], ..good() }
}

fn changed() -> Look {
    Look { changed: vec!["bin/p".to_owned()], ..good() }
}

fn count(record: &Record, counts: impl Fn(&Trial) -> bool) -> usize {
    record.trials.iter().filter(|trial| counts(trial)).count()
}

#[test]
fn a_block_in_which_a_program_was_changed_is_void_and_runs_again_in_the_next_session() {
    let plan = plan();
    let mut record = empty_record(&plan);
    // Before the first pass, after its two blocks, and after the first of the second pass.
    let looks = [good(), good(), good(), changed()];
    let ending = session(&plan, &mut record, &mut Looking::new(&plan, looks), &never);
    assert_eq!((ending, record.trials.len(), record.blocks.len()), (Ending::Changed, 9, 3));
    let why = |trial: &Trial| matches!(&trial.outcome, Outcome::Void(why) if why.starts_with("bin/p was changed"));
    assert_eq!((count(&record, why), record.unchecked().len()), (3, 0));
    assert!(record.trials[6..].iter().all(why));
    assert_eq!(session(&plan, &mut record, &mut Looking::new(&plan, []), &never), Ending::Complete);
    assert_eq!(record.blocks.len(), 8, "a block is announced once");
    assert_eq!(count(&record, |trial| trial.outcome == Outcome::Ok), TRIALS);
    assert_eq!(count(&record, |trial| trial.attempt == 1), 3);
}

#[test]
fn a_change_is_also_found_before_the_first_pass_at_a_stop_and_at_the_end() {
    let plan = plan();
    let mut record = empty_record(&plan);
    let ending = session(&plan, &mut record, &mut Looking::new(&plan, [changed()]), &never);
    assert_eq!((ending, record.trials.len()), (Ending::Changed, 0));
    let mut record = empty_record(&plan);
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) == 3;
    let ending = session(&plan, &mut record, &mut Looking::new(&plan, [good(), changed()]), &stop);
    assert_eq!(ending, Ending::Changed);
    assert_eq!(count(&record, |trial| trial.outcome == Outcome::Ok), 0);
    // A look before the first block and one after each, and then one at everything.
    let mut record = empty_record(&plan);
    let late = Look { whole_session: true, ..changed() };
    let looks = std::iter::repeat_n(good(), 9).chain([late]);
    let ending = session(&plan, &mut record, &mut Looking::new(&plan, looks), &never);
    assert_eq!((ending, record.trials.len()), (Ending::Changed, TRIALS));
    // These trials are of a session of another number.
    assert_eq!(count(&record, |trial| trial.outcome == Outcome::Ok), 0);
}

#[test]
fn a_block_in_which_a_file_was_put_back_runs_again_at_once_a_few_times_at_most() {
    let plan = plan();
    let mut record = empty_record(&plan);
    let looks = [good(), touched()];
    assert_eq!(session(&plan, &mut record, &mut Looking::new(&plan, looks), &never), Ending::Complete);
    assert_eq!(count(&record, |trial| trial.outcome == Outcome::Ok), TRIALS);
    assert_eq!(record.trials.len(), TRIALS + 3);
    assert_eq!(session(&plan, &mut record, &mut Looking::new(&plan, []), &never), Ending::Complete);
    assert_eq!(record.trials.len(), TRIALS + 3, "nothing is left to do");

    let mut record = empty_record(&plan);
    let looks = [good()].into_iter().chain(std::iter::repeat_n(touched(), 100));
    assert_eq!(session(&plan, &mut record, &mut Looking::new(&plan, looks), &never), Ending::Complete);
    assert_eq!(record.trials.iter().map(|trial| trial.attempt).max(), Some(MOST_REPEATS));
}
