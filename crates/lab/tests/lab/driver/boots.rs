//! Passes that are split by variant: one boot for each variant and the twin, and in it all workloads × conditions.

use super::{empty_record, never, read};
use bakeoff_lab::simulated::{Simulated, Truth};
use bakeoff_lab::{BootTask, Booted, Ending, Error, Event, Execution, Executor, Look, Standing, Task, drive};
use bakeoff_model::metric::Clock;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Checked, Line, MOST_REPEATS, Outcome, Record, TWIN, Trial, Unavailable};
use std::collections::{BTreeMap, BTreeSet};

const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.cc]
gcc = { CC = "gcc", kernel = "boot/vmlinuz" }
clang = { CC = "clang", kernel = "boot/vmlinuz" }
[[build]]
name = "kernel"
script = 'make CC=$CC'
[workloads.single]
run = 'make'
[workloads.parallel]
run = 'make -j2'
[conditions.idle]
[conditions.two]
processes = 2
[plan]
blocks = 4
seed = 178
[decide]
baseline = { cc = "gcc" }
"#;
/// 4 passes × 3 boots × 2 workloads × 2 conditions.
const TRIALS: usize = 48;
const BOOTS: usize = 12;

fn plan() -> Plan {
    let plan = Plan::of(&read(STUDY), "default").unwrap();
    assert!(plan.boots());
    plan
}

/// A machine that boots: it counts its boots, may die, and may be cut off after `left` of them.
struct Machine<'a> {
    inside: Simulated,
    left: usize,
    boots: Vec<(u32, String, u32)>,
    spoil: &'a dyn Fn(&BootTask<'_>, &mut Booted),
    look: &'a dyn Fn(usize) -> Look,
}

impl<'a> Machine<'a> {
    fn new(plan: &Plan) -> Self {
        let inside = Simulated::new(Truth { noise: 0.02, ..Truth::default() }, plan);
        Self { inside, left: usize::MAX, boots: vec![], spoil: &|_, _| {}, look: &|_| Look::default() }
    }
}

impl Executor for Machine<'_> {
    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        panic!("a single trial is executed: {task:?}")
    }

    fn boot(&mut self, boot: &BootTask<'_>) -> Result<Option<Booted>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.boots.push((boot.pass, boot.variant.to_owned(), boot.attempt));
        let mut booted = self.inside.boot(boot)?;
        booted.iter_mut().for_each(|booted| (self.spoil)(boot, booted));
        Ok(booted)
    }

    fn look(&mut self) -> Result<Look, Error> {
        Ok((self.look)(self.boots.len()))
    }
}

fn session(plan: &Plan, record: &mut Record, machine: &mut Machine<'_>, stop: &dyn Fn() -> bool) -> Ending {
    let mut lines = vec![];
    let mut emit = |event| -> Result<(), Error> {
        match event {
            Event::BlockBegins(block) => lines.push(Line::Block(block)),
            Event::TrialEnded(trial) => panic!("a single trial ended: {trial:?}"),
            Event::BootEnded(boot) => lines.push(Line::Boot(*boot)),
            Event::Checked(files) => lines.push(Line::Checked(Checked { session: 1, files })),
            Event::Changed { files, whole_session } => {
                let session = 1;
                lines.push(Line::Changed(bakeoff_model::record::Changed {
                    session,
                    files,
                    whole_session,
                    from_unix_s: None,
                }));
            }
            _ => {}
        }
        Ok(())
    };
    let ending = drive(plan, record, 1, machine, &mut emit, stop, &never).unwrap();
    // Through a journal's lines and back.
    for line in lines {
        record.push(Line::read(&line.write().unwrap()).unwrap());
    }
    ending
}

/// Trials by what tells them apart; nothing is there twice.
fn counted(record: &Record) -> BTreeMap<(u32, &str, &str, &str), &Trial> {
    let final_ones = record.trials.iter().filter(|trial| trial.is_final());
    let keys: Vec<_> =
        final_ones.map(|t| ((t.block, t.workload.as_str(), t.condition.as_str(), t.variant.as_str()), t)).collect();
    let all = keys.len();
    let map: BTreeMap<_, _> = keys.into_iter().collect();
    assert_eq!(map.len(), all, "a trial counts twice");
    map
}

#[test]
fn each_variant_boots_once_in_a_pass_and_all_boots_have_one_order() {
    let plan = plan();
    let (mut record, mut machine) = (empty_record(&plan), Machine::new(&plan));
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
    assert_eq!((machine.boots.len(), record.boots.len(), counted(&record).len()), (BOOTS, BOOTS, TRIALS));
    let mut orders = BTreeSet::new();
    for pass in 1..=4 {
        let blocks: Vec<_> = record.blocks.iter().filter(|block| block.block == pass).collect();
        assert!(blocks.iter().all(|block| block.order == blocks[0].order), "one order of boots for all blocks");
        let boots: Vec<&String> = machine.boots.iter().filter(|boot| boot.0 == pass).map(|boot| &boot.1).collect();
        assert_eq!(boots, blocks[0].order.iter().collect::<Vec<_>>());
        let cells: Vec<_> = blocks.iter().map(|block| (&block.workload, &block.condition)).collect();
        for boot in boots {
            let inside = record.trials.iter().filter(|trial| trial.block == pass && trial.variant == **boot);
            assert_eq!(inside.map(|trial| (&trial.workload, &trial.condition)).collect::<Vec<_>>(), cells);
        }
        orders.insert(cells);
    }
    assert!(orders.len() > 1, "the order of workloads and conditions is drawn for each pass");
    let drawn: BTreeSet<_> = record.boots.iter().map(|boot| (boot.drawn.padding, boot.drawn.pages)).collect();
    assert_eq!(drawn.len(), BOOTS, "each boot is another one");
}

#[test]
fn cut_off_anywhere_only_that_boot_is_repeated() {
    let plan = plan();
    let (mut whole, mut machine) = (empty_record(&plan), Machine::new(&plan));
    session(&plan, &mut whole, &mut machine, &never);
    for left in 0..BOOTS {
        let mut record = empty_record(&plan);
        let mut machine = Machine { left, ..Machine::new(&plan) };
        assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Stopped);
        let done = Standing::of(&plan, &record);
        assert_eq!((done.trials_done, done.trials), (left as u64 * 4, TRIALS as u64), "a boot counts as a whole");
        machine.left = usize::MAX;
        assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
        assert_eq!(machine.boots.len(), BOOTS, "no boot that ended is repeated");
        assert_eq!(counted(&record).len(), TRIALS);
        assert_eq!(record.blocks, whole.blocks);
    }
}

#[test]
fn a_boot_that_dies_fails_its_variant_in_that_pass_and_nothing_else() {
    let plan = plan();
    let mut record = empty_record(&plan);
    let died = |boot: &BootTask<'_>, booted: &mut Booted| {
        if (boot.pass, boot.variant) == (2, "cc=clang") {
            let failure = bakeoff_model::record::Failure::TimedOut { after_s: 1.0, stderr: vec![] };
            booted.executions.iter_mut().for_each(|execution| execution.outcome = Outcome::Failed(failure.clone()));
            booted.unavailable = vec![Unavailable { metrics: vec!["user".to_owned()], why: "ticks".to_owned() }];
        }
    };
    let mut machine = Machine { spoil: &died, ..Machine::new(&plan) };
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
    let failed: Vec<_> =
        counted(&record).into_iter().filter(|(_, trial)| trial.outcome != Outcome::Ok).map(|(key, _)| key).collect();
    assert_eq!(failed.len(), 4);
    assert!(failed.iter().all(|key| key.0 == 2 && key.3 == "cc=clang"), "{failed:?}");
    assert_eq!(machine.boots.len(), BOOTS, "a failed boot is not repeated");
    let blind: Vec<_> = record.boots.iter().filter(|boot| !boot.unavailable.is_empty()).collect();
    assert!(matches!(blind[..], [boot] if (boot.pass, boot.variant.as_str()) == (2, "cc=clang")), "{blind:?}");
}

#[test]
fn a_boot_that_is_equal_to_another_is_void_and_repeated_with_other_nuisances() {
    let plan = Plan { clock: Clock::GuestInstructions, ..plan() };
    let mut record = empty_record(&plan);
    // The first attempts of the twin measure what the baseline's first boot did.
    let equal = |boot: &BootTask<'_>, booted: &mut Booted| {
        if [TWIN, "baseline"].contains(&boot.variant) && boot.attempt == 0 && boot.pass < 3 {
            for (task, execution) in boot.tasks.iter().zip(&mut booted.executions) {
                let wall = if task.block.workload == "single" { 1.0 } else { 2.0 };
                execution.measurements = [("wall".to_owned(), wall)].into();
            }
        }
    };
    let mut machine = Machine { spoil: &equal, ..Machine::new(&plan) };
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
    assert_eq!(counted(&record).len(), TRIALS);
    let void: Vec<_> = record.trials.iter().filter(|trial| !trial.is_final()).collect();
    assert_eq!(void.len(), 3 * 4, "one of four equal boots counts");
    assert!(
        void.iter().all(|t| matches!(&t.outcome, Outcome::Void(why) if why.contains("this boot and that of pass 1")))
    );
    assert_eq!(machine.boots.iter().filter(|boot| boot.2 == 1).count(), 3);
}

#[test]
fn a_machine_that_always_boots_the_same_way_ends() {
    let plan = Plan { clock: Clock::GuestInstructions, ..plan() };
    let mut record = empty_record(&plan);
    let equal = |_: &BootTask<'_>, booted: &mut Booted| {
        booted.executions.iter_mut().for_each(|e| e.measurements = [("wall".to_owned(), 1.0)].into());
    };
    let mut machine = Machine { spoil: &equal, ..Machine::new(&plan) };
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
    let attempts = machine.boots.iter().map(|boot| boot.2).max();
    assert_eq!(attempts, Some(MOST_REPEATS));
    let good = record.trials.iter().filter(|trial| trial.outcome == Outcome::Ok).count();
    assert_eq!(good, 2 * 4, "one boot of each kernel");
}

#[test]
fn a_boot_after_which_something_is_changed_is_void() {
    let plan = plan();
    let mut record = empty_record(&plan);
    let changed = |boots: usize| match boots {
        5 => Look { files: "b".to_owned(), changed: vec!["boot/vmlinuz".to_owned()], ..Look::default() },
        _ => Look { files: "a".to_owned(), ..Look::default() },
    };
    let mut machine = Machine { look: &changed, ..Machine::new(&plan) };
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Changed);
    let void: Vec<_> = record.trials.iter().filter(|trial| !trial.is_final()).collect();
    assert_eq!((record.boots.len(), void.len()), (5, 4));
    let mut machine = Machine::new(&plan);
    assert_eq!(session(&plan, &mut record, &mut machine, &never), Ending::Complete);
    assert_eq!((machine.boots.len(), counted(&record).len()), (BOOTS - 4, TRIALS));
}
