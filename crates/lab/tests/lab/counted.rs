//! Trials that are counted, at a place that does not exist: what is kept of them, and what becomes of a count that fails.

use super::driver::{STUDY, read};
use bakeoff_host::{Command, End};
use bakeoff_lab::{Counted, Counter, Diagnosed, Error, Execution, Executor, IntrusiveProbe, Subject, Task, Unseen};
use bakeoff_model::metric::SEEN;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Failure, Outcome, TWIN};
use std::path::Path;

/// Counts a thousand.
struct Thousand;

impl Counter for Thousand {
    fn counted(&self) -> f64 {
        1000.0
    }
}

impl IntrusiveProbe for Thousand {
    fn times_slower(&self) -> f64 {
        1.0
    }

    fn begin(&mut self, _: &Path) -> Result<(), Error> {
        Ok(())
    }

    fn take_over(&mut self, _: &mut Command, _: Option<&str>) -> Result<(), Error> {
        Ok(())
    }

    fn trial_begins(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn trial_ended(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn see(&mut self, _: &End) -> Result<(), Unseen> {
        Ok(())
    }

    fn see_services(&mut self) {}

    fn forget(&mut self, _: &Path) {}
}

/// A place whose trials take ten seconds, eight of them in user mode and one without a processor.
struct Steady(Option<Diagnosed>, Outcome);

impl Executor for Steady {
    fn execute(&mut self, _: Task<'_>) -> Result<Option<Execution>, Error> {
        let measured = [("wall", 10.0), ("user", 8.0), ("run_delay", 1.0), ("maxrss", 1e6)];
        let measurements = measured.map(|(name, value)| (name.to_owned(), value)).into();
        Ok(Some(Execution { measurements, outcome: self.1.clone(), ..Execution::default() }))
    }

    fn diagnose(&mut self, subject: Subject<'_>, _: &mut dyn IntrusiveProbe) -> Result<Option<Diagnosed>, Error> {
        assert_eq!(subject.variant, "baseline", "the twin is the baseline");
        Ok(self.0.clone())
    }
}

fn execute(diagnosed: Option<Diagnosed>, outcome: Outcome) -> Option<Execution> {
    let mut plan = Plan::of(&read(STUDY), "default").unwrap();
    plan.decide.metrics = vec!["instructions".to_owned(), "wall".to_owned()];
    let mut counted = Counted::new(Box::new(Steady(diagnosed, outcome)), Box::new(Thousand), &plan);
    assert_eq!(counted.unavailable()[0].metrics[0], "wall");
    let block = &plan.pass(1)[0];
    counted.execute(Task { block, position: 1, variant: TWIN, attempt: 0 }).unwrap()
}

#[test]
fn a_count_and_the_share_of_the_time_are_all_that_is_kept() {
    let counted = execute(Some(Diagnosed::Executed { ops: 0, failure: None }), Outcome::Ok).unwrap();
    assert_eq!(counted.measurements.keys().collect::<Vec<_>>(), ["instructions", SEEN]);
    assert_eq!(counted.measurements["instructions"], 1000.0);
    // Eight of nine seconds; a tick less where the kernel samples.
    assert!((0.887..=8.0 / 9.0).contains(&counted.measurements[SEEN]), "{:?}", counted.measurements);
}

#[test]
fn what_cannot_be_counted_fails() {
    let failed = Failure::Exit { code: 1, stderr: vec![] };
    let why_not = |diagnosed: Diagnosed| execute(Some(diagnosed), Outcome::Ok).unwrap().outcome;
    assert_eq!(why_not(Diagnosed::Failed(failed.clone())), Outcome::Failed(failed.clone()));
    let missing = why_not(Diagnosed::missing("no valgrind"));
    assert!(matches!(missing, Outcome::Failed(Failure::Surroundings { part, .. }) if part == "counting instructions"));
    // Interrupted, or failed before it was counted.
    assert_eq!(execute(None, Outcome::Ok), None);
    assert_eq!(execute(None, Outcome::Failed(failed.clone())).unwrap().outcome, Outcome::Failed(failed));
}
