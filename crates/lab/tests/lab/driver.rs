//! The driver's order, told as stories over the simulated executor: every planned trial exactly once, whatever
//! interrupts it.

mod boots;
mod failing;
mod looks;

use bakeoff_lab::simulated::{Simulated, Truth};
use bakeoff_lab::{Ending, Error, Event, Execution, Executor, Linked, Pass, Standing, Task, drive};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Changed, Checked, Line, MOST_REPEATS, Outcome, Record, Trial};
use bakeoff_model::study::{Condition, Study, VoidRule};
use bakeoff_model::study_file::parse_with;
use std::cell::{Cell, RefCell};

pub(super) const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.cc]
gcc = { CC = "gcc" }
clang = { CC = "clang" }
[[build]]
name = "hello"
script = 'make CC=$CC'
[workloads.small]
run = 'small'
[workloads.large]
run = 'large'
[plan]
blocks = 4
seed = 178
layouts = "one"
[decide]
baseline = { cc = "gcc" }
"#;
/// 4 passes × 2 workloads × (2 variants + the twin).
const TRIALS: usize = 24;

pub(super) fn read(text: &str) -> Study {
    parse_with(text, &[], Some(&bakeoff_building::Building)).unwrap()
}

fn plan() -> Plan {
    Plan::of(&read(STUDY), "default").unwrap()
}

fn empty_record(plan: &Plan) -> Record {
    Record::new(plan.study_line(&[].into(), "", None))
}

/// One session: what it emitted goes into the record, as a journal would keep it.
fn session(plan: &Plan, record: &mut Record, executor: &mut dyn Executor, stop: &dyn Fn() -> bool) -> Ending {
    let mut lines = vec![];
    let mut emit = |event| -> Result<(), Error> {
        match event {
            Event::BlockBegins(block) => lines.push(Line::Block(block)),
            Event::TrialEnded(trial) => lines.push(Line::Trial(*trial)),
            Event::Stops(stopped) => lines.push(Line::Stopped(stopped)),
            Event::Checked(files) => lines.push(Line::Checked(Checked { session: 1, files })),
            Event::Changed { files, whole_session } => {
                lines.push(Line::Changed(Changed { session: 1, files, whole_session, from_unix_s: None }));
            }
            _ => {}
        }
        Ok(())
    };
    let ending = drive(plan, record, 1, executor, &mut emit, stop, &never).unwrap();
    lines.into_iter().for_each(|line| record.push(line));
    ending
}

fn simulated(plan: &Plan) -> Simulated {
    Simulated::new(Truth { noise: 0.02, drift: 0.1, ..Truth::default() }, plan)
}

fn never() -> bool {
    false
}

/// Without the time of day, which differs between two executions of the same trial.
fn timeless(trials: &[Trial]) -> Vec<Trial> {
    trials.iter().map(|t| Trial { started_unix_s: 0.0, ..t.clone() }).collect()
}

#[test]
fn every_planned_trial_is_executed_once_in_the_planned_order() {
    let plan = plan();
    let mut record = empty_record(&plan);
    assert_eq!(session(&plan, &mut record, &mut simulated(&plan), &never), Ending::Complete);
    let planned: Vec<_> = (1..=4).flat_map(|pass| plan.pass(pass)).collect();
    assert_eq!(record.blocks, planned);
    let order: Vec<_> =
        planned.iter().flat_map(|b| b.order.iter().map(move |v| (b.block, b.workload.as_str(), v.as_str()))).collect();
    let executed: Vec<_> = record.trials.iter().map(|t| (t.block, t.workload.as_str(), t.variant.as_str())).collect();
    assert_eq!(executed, order);
    assert_eq!(executed.len(), TRIALS);
}

#[test]
fn stopped_after_any_trial_and_taken_up_again_it_is_the_same_study() {
    let plan = plan();
    let mut whole = empty_record(&plan);
    session(&plan, &mut whole, &mut simulated(&plan), &never);
    for stop_after in 0..=TRIALS {
        let mut record = empty_record(&plan);
        let asked = Cell::new(0_usize);
        // `stop` is asked before every trial, and once more before a block begins.
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > stop_after
        };
        let ending = session(&plan, &mut record, &mut simulated(&plan), &stop);
        assert_eq!(ending == Ending::Complete, record.trials.len() == TRIALS);
        assert_eq!(session(&plan, &mut record, &mut simulated(&plan), &never), Ending::Complete);
        assert_eq!(record.blocks, whole.blocks, "stopped after {stop_after}");
        assert_eq!(timeless(&record.trials), timeless(&whole.trials), "stopped after {stop_after}");
    }
}

/// One session that ends when the record says that it is enough.
fn session_until(
    plan: &Plan,
    record: &mut Record,
    stop: &dyn Fn() -> bool,
    enough: &dyn Fn(&Record) -> bool,
) -> Ending {
    let so_far = RefCell::new(record.clone());
    let mut emit = |event| -> Result<(), Error> {
        match event {
            Event::BlockBegins(block) => so_far.borrow_mut().push(Line::Block(block)),
            Event::TrialEnded(trial) => so_far.borrow_mut().push(Line::Trial(*trial)),
            _ => {}
        }
        Ok(())
    };
    let enough = || enough(&so_far.borrow());
    let ending = drive(plan, record, 1, &mut simulated(plan), &mut emit, stop, &enough).unwrap();
    *record = so_far.into_inner();
    ending
}

#[test]
fn it_ends_after_the_pass_that_is_enough_whatever_interrupts_it() {
    let plan = plan();
    let asked = RefCell::new(vec![]);
    let enough = |record: &Record| {
        asked.borrow_mut().push(record.trials.len());
        record.trials.len() >= TRIALS / 2
    };
    let mut whole = empty_record(&plan);
    assert_eq!(session_until(&plan, &mut whole, &never, &enough), Ending::Complete);
    assert_eq!(whole.trials.len(), TRIALS / 2);
    assert_eq!(asked.take(), [TRIALS / 4, TRIALS / 2], "asked after each whole pass, and only then");
    for stop_after in 0..TRIALS {
        let mut record = empty_record(&plan);
        let questions = Cell::new(0);
        let stop = || {
            questions.set(questions.get() + 1);
            questions.get() > stop_after
        };
        session_until(&plan, &mut record, &stop, &enough);
        assert_eq!(session_until(&plan, &mut record, &never, &enough), Ending::Complete);
        assert_eq!(record.blocks, whole.blocks, "stopped after {stop_after}");
        assert_eq!(timeless(&record.trials), timeless(&whole.trials), "stopped after {stop_after}");
        assert_eq!(session_until(&plan, &mut record, &never, &enough), Ending::Complete);
        assert_eq!(record.trials.len(), TRIALS / 2, "it is complete, and stays so");
    }
}

/// Runs as the one inside does, but its n-th trial is interrupted in flight.
struct Interrupted<'a> {
    inside: &'a mut dyn Executor,
    left: usize,
}

impl Executor for Interrupted<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.inside.execute(task)
    }
}

#[test]
fn a_trial_that_was_interrupted_in_flight_is_executed_again_and_counted_once() {
    let plan = plan();
    let mut record = empty_record(&plan);
    for _ in 0..TRIALS {
        let executor = &mut Interrupted { inside: &mut simulated(&plan), left: 1 };
        session(&plan, &mut record, executor, &never);
    }
    assert_eq!(record.trials.len(), TRIALS);
    assert_eq!(record.blocks.len(), 8, "a block is announced once");
    assert_eq!(session(&plan, &mut record, &mut simulated(&plan), &never), Ending::Complete);
    assert_eq!(record.trials.len(), TRIALS, "nothing is left to do");
}

#[test]
fn more_blocks_prolong_a_study_and_change_nothing_before() {
    let mut plan = plan();
    let mut record = empty_record(&plan);
    session(&plan, &mut record, &mut simulated(&plan), &never);
    let before = record.clone();
    plan.blocks = 6;
    session(&plan, &mut record, &mut simulated(&plan), &never);
    assert_eq!(record.trials.len(), TRIALS / 4 * 6);
    assert_eq!(record.trials[..TRIALS], before.trials[..]);
}

#[test]
fn a_listener_that_fails_ends_the_session_before_the_next_trial() {
    let plan = plan();
    let record = empty_record(&plan);
    let mut executed = 0;
    let mut emit = |event| match event {
        Event::TrialEnded(_) => {
            executed += 1;
            Err(Error::Folder { path: "disk".into(), source: std::io::ErrorKind::StorageFull.into() })
        }
        _ => Ok(()),
    };
    let ending = drive(&plan, &record, 1, &mut simulated(&plan), &mut emit, &never, &never);
    assert!(matches!(ending, Err(Error::Folder { .. })));
    assert_eq!(executed, 1);
}

#[test]
fn a_planted_truth_is_read_and_what_is_wrong_in_it_is_named() {
    let mut plan = plan();
    let truth = Truth::parse("cc=clang:1.05, idle:1.5, noise:0.02,drift:0.1,pause:0,void:0", &plan).unwrap();
    assert!((truth.effects["cc=clang"] - 1.05).abs() < 1e-12);
    assert!((truth.conditions["idle"] - 1.5).abs() < 1e-12);
    assert!((truth.noise - 0.02).abs() < 1e-12);
    for (text, expect) in [
        ("cc=clng:1.05", "did you mean `cc=clang`?"),
        ("nois:1", "did you mean `noise`?"),
        ("idl:1.2", "did you mean `idle`?"),
        ("void:0.1", "needs a `void_if`"),
        ("noise", "must be NAME:NUMBER"),
        ("noise:much", "must be a non-negative number"),
        ("noise:-1", "must be a non-negative number"),
        ("failing:2", "at most 1"),
        ("pause:1e300", "at most 3600"),
        ("base:0", "must be above 0"),
        ("cc=clang:0", "must be above 0"),
    ] {
        let error = Truth::parse(text, &plan).unwrap_err().to_string();
        assert!(error.contains(expect), "{text}: {error}");
    }
    plan.void_if = vec![VoidRule { metric: "foreign_cpu".to_owned(), above: 0.2 }];
    assert!((Truth::parse("void:0.1", &plan).unwrap().void - 0.1).abs() < 1e-12);
}

/// The plan with a rule, and a place where it applies to that share of the trials.
fn with_void_trials(share: f64) -> (Plan, Simulated) {
    let mut plan = plan();
    plan.void_if = vec![VoidRule { metric: "foreign_cpu".to_owned(), above: 0.2 }];
    let place = Simulated::new(Truth { void: share, ..Truth::default() }, &plan);
    (plan, place)
}

/// Block, workload, variant, attempt, and whether it is void, of every trial.
fn attempts(record: &Record) -> Vec<(u32, &str, &str, u32, bool)> {
    let is_void = |t: &Trial| matches!(t.outcome, Outcome::Void(_));
    record.trials.iter().map(|t| (t.block, &*t.workload, &*t.variant, t.attempt, is_void(t))).collect()
}

#[test]
fn a_void_trial_is_repeated_at_once_until_it_counts() {
    let (plan, mut place) = with_void_trials(0.3);
    let mut record = empty_record(&plan);
    assert_eq!(session(&plan, &mut record, &mut place, &never), Ending::Complete);
    let attempts = attempts(&record);
    let repeated = attempts.iter().filter(|(.., is_void)| *is_void).count();
    assert!(repeated > 3, "{repeated}");
    assert_eq!(attempts.len(), TRIALS + repeated, "every void trial was repeated once, and nothing else was");
    for pair in attempts.windows(2) {
        let [(b, w, v, attempt, is_void), next] = pair else { panic!() };
        if *is_void {
            assert_eq!((*b, *w, *v, attempt + 1), (next.0, next.1, next.2, next.3), "the next one is its repetition");
        } else {
            assert_eq!(next.3, 0, "a trial that counts is not repeated");
        }
    }
    let why = record.trials.iter().find_map(|t| if let Outcome::Void(why) = &t.outcome { Some(why) } else { None });
    assert_eq!(why.unwrap(), "foreign_cpu 40 % > 20 %");
}

#[test]
fn a_trial_that_stays_void_is_left_after_five_repetitions() {
    let (plan, mut place) = with_void_trials(1.0);
    let mut record = empty_record(&plan);
    assert_eq!(session(&plan, &mut record, &mut place, &never), Ending::Complete);
    assert_eq!(record.trials.len(), TRIALS * 6);
    assert!(record.trials.iter().all(|t| t.is_final() == (t.attempt == MOST_REPEATS)));
    assert_eq!(session(&plan, &mut record, &mut place, &never), Ending::Complete);
    assert_eq!(record.trials.len(), TRIALS * 6, "nothing is left to do");
}

#[test]
fn stopped_between_attempts_and_taken_up_again_it_is_the_same_study() {
    let (plan, mut place) = with_void_trials(0.4);
    let mut whole = empty_record(&plan);
    session(&plan, &mut whole, &mut place, &never);
    for stop_after in 0..=whole.trials.len() {
        let mut record = empty_record(&plan);
        let executor = &mut Interrupted { inside: &mut place, left: stop_after };
        session(&plan, &mut record, executor, &never);
        assert_eq!(record.trials.len(), stop_after);
        assert_eq!(session(&plan, &mut record, &mut place, &never), Ending::Complete);
        assert_eq!(record.blocks, whole.blocks, "stopped after {stop_after}");
        assert_eq!(timeless(&record.trials), timeless(&whole.trials), "stopped after {stop_after}");
    }
}

/// Tells the order of what it is asked, and fails the n-th trial.
struct Witness {
    told: Vec<String>,
    fails_at: usize,
}

impl Executor for Witness {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        self.told.push(format!("{}{}", &task.block.workload[..1], task.block.block));
        if self.told.iter().filter(|told| *told != "end").count() == self.fails_at {
            return Err(Error::Folder { path: "disk".into(), source: std::io::ErrorKind::StorageFull.into() });
        }
        Ok(Some(Execution::default()))
    }

    fn block_ended(&mut self) -> Result<(), Error> {
        self.told.push("end".to_owned());
        Ok(())
    }
}

#[test]
fn an_executor_hears_of_the_end_of_each_block_however_it_ends() {
    let mut plan = plan();
    plan.blocks = 1;
    let check = |stop_after: usize, fails_at: usize, expect: &str| {
        let mut witness = Witness { told: vec![], fails_at };
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > stop_after
        };
        let _ = drive::<Error>(&plan, &empty_record(&plan), 1, &mut witness, &mut |_| Ok(()), &stop, &never);
        assert_eq!(witness.told.join(" "), expect);
    };
    check(99, 99, "l1 l1 l1 end s1 s1 s1 end");
    check(2, 99, "l1 end");
    check(99, 2, "l1 l1 end");
    check(0, 99, "");
}

#[test]
fn a_planted_condition_costs_the_same_for_every_variant_and_phases_are_rehearsed() {
    let mut plan = plan();
    plan.conditions.push(Condition { name: "busy".to_owned(), ..Condition::default() });
    plan.workloads[0].phases = vec!["load".to_owned(), "scan".to_owned()];
    let truth = Truth::parse("busy:2,noise:0", &plan).unwrap();
    let mut record = empty_record(&plan);
    session(&plan, &mut record, &mut Simulated::new(truth, &plan), &never);
    for trial in &record.trials {
        let expect = if trial.condition == "busy" { 2.0 } else { 1.0 };
        assert!((trial.value("wall").unwrap() - expect).abs() < 1e-12);
        let scan = (trial.workload == plan.workloads[0].name).then_some(expect / 2.0);
        assert_eq!(trial.value("scan.wall"), scan);
    }
}

/// An executor that takes down when it is told that passes begin and end, and what it runs in between.
struct Told<'a> {
    simulated: Simulated,
    story: &'a RefCell<Vec<String>>,
    /// The pass at whose beginning it is interrupted.
    interrupted_at: Option<u32>,
    /// What is in front of the digest of everything that it links.
    linker: &'static str,
}

impl Executor for Told<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        self.story.borrow_mut().push(format!("trial of {}", task.block.block));
        self.simulated.execute(task)
    }

    fn pass_begins(&mut self, pass: &Pass<'_>) -> Result<Option<Linked>, Error> {
        let layout = if pass.layout.is_some() { "anew" } else { "as built" };
        self.story.borrow_mut().push(format!("pass {} begins, {layout}: {}", pass.pass, pass.variants.join(", ")));
        let linked = pass.variants.iter().map(|name| ((*name).to_owned(), format!("{}{name}", self.linker)));
        Ok((self.interrupted_at != Some(pass.pass)).then(|| linked.collect()))
    }

    fn pass_ended(&mut self) -> Result<(), Error> {
        self.story.borrow_mut().push("pass ended".to_owned());
        Ok(())
    }
}

#[test]
fn a_pass_goes_on_in_the_layouts_that_it_began_with() {
    let text = STUDY.replace("blocks = 4", "blocks = 1\nvary = [\"link-order\"]");
    let plan = Plan::of(&read(&text), "default").unwrap();
    let story = RefCell::new(vec![]);
    let mut record = empty_record(&plan);
    let told = |linker| Told { simulated: simulated(&plan), story: &story, interrupted_at: None, linker };
    session(&plan, &mut record, &mut told("one "), &never);
    assert!(record.blocks.iter().all(|block| block.linked["cc=clang"] == "one cc=clang"));
    record.trials.pop();
    let mut again = record.clone();
    assert_eq!(session(&plan, &mut again, &mut told("one "), &never), Ending::Complete);
    let run = drive(&plan, &record, 2, &mut told("another "), &mut |_| Ok::<(), Error>(()), &|| false, &|| false);
    let why = run.unwrap_err().to_string();
    assert!(why.starts_with("cannot continue pass 1: relinking `"), "{why}");
}

#[test]
fn what_a_pass_needs_is_made_before_its_first_trial_and_for_those_that_have_trials_to_come() {
    let text = STUDY.replace("blocks = 4", "blocks = 2\nvary = [\"link-order\"]\nrebuild = 1");
    let plan = Plan::of(&read(&text), "default").unwrap();
    let story = RefCell::new(vec![]);
    let mut record = empty_record(&plan);
    let mut first = Told { simulated: simulated(&plan), story: &story, interrupted_at: Some(2), linker: "" };
    assert_eq!(session(&plan, &mut record, &mut first, &never), Ending::Stopped);
    let mut expect = vec!["pass 1 begins, anew: baseline, cc=clang, twin".to_owned()];
    // Two workloads and one layer, of two variants and the twin.
    expect.extend(vec!["trial of 1".to_owned(); 9]);
    expect.extend(["pass ended", "pass 2 begins, anew: baseline, cc=clang, twin", "pass ended"].map(str::to_owned));
    assert_eq!(story.take(), expect);
    assert_eq!(record.blocks.iter().filter(|block| block.workload == "build-hello").count(), 1);

    // Taken up again in the midst of the last block: only who has trials to come is told.
    let left = Cell::new(4);
    let stop = || left.replace(left.get().max(1) - 1) == 0;
    let mut second = Told { simulated: simulated(&plan), story: &story, interrupted_at: None, linker: "" };
    assert_eq!(session(&plan, &mut record, &mut second, &never), Ending::Complete);
    record.trials.truncate(record.trials.len() - 1);
    let last = record.blocks.last().unwrap().order.last().unwrap().clone();
    story.take();
    assert_eq!(session(&plan, &mut record, &mut second, &stop), Ending::Complete);
    let told = format!("pass 2 begins, anew: {last}");
    assert_eq!(story.take(), [told.as_str(), "trial of 2", "pass ended"]);
}

fn standing(trials: u64, trials_done: u64, blocks: u64, blocks_done: u64) -> Standing {
    Standing { trials, trials_done, blocks, blocks_done }
}

#[test]
fn a_variant_that_joins_later_has_trials_in_the_blocks_to_come_and_in_no_other() {
    let whole = plan();
    let mut alone = plan();
    alone.variants.truncate(1);
    let mut record = empty_record(&whole);
    let asked = Cell::new(0);
    // Two blocks of the baseline and its twin, and one of the two trials of the third.
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 8
    };
    assert_eq!(session(&alone, &mut record, &mut simulated(&whole), &stop), Ending::Stopped);
    assert_eq!(record.trials.len(), 5);
    assert_eq!(Standing::of(&whole, &record), standing(3 * 2 + 5 * 3, 5, 8, 2));
    assert_eq!(session(&whole, &mut record, &mut simulated(&whole), &never), Ending::Complete);
    assert_eq!(Standing::of(&whole, &record), standing(21, 21, 8, 8));
    let joined = record.trials.iter().filter(|trial| trial.variant == "cc=clang").count();
    assert_eq!((record.trials.len(), joined), (21, 5));

    // And what it began is no trouble where it cannot be run any more.
    let last = record.trials.pop().unwrap();
    record.trials.retain(|trial| trial.variant != "cc=clang" || trial.block < last.block);
    let held = record.trials.len();
    assert_eq!(session(&alone, &mut record, &mut simulated(&alone), &never), Ending::Complete);
    assert!(record.trials[held..].iter().all(|trial| trial.variant != "cc=clang"));
    let done = Standing::of(&alone, &record);
    assert_eq!((done.trials_done, done.blocks_done), (done.trials, done.blocks));
}
