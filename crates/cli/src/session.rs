//! One session of a study: opens its journal, executes what is missing, and keeps every event. `run` and `compare`
//! differ in where plan and executor come from; from there on they are this.

use crate::error::CommandError;
use crate::progress::Progress;
use crate::screen;
use bakeoff_journal::Journal;
use bakeoff_lab::{Ending, Event, Executor, drive};
use bakeoff_model::metric;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, FORMAT, Line, Record, Session, StudyLine, VariantLine};
use std::collections::BTreeMap;
use std::path::Path;

/// The head of the journal of a plan. `builds` is the digest of each variant's build.
pub(crate) fn study_line(
    plan: &Plan,
    builds: &BTreeMap<String, String>,
    inputs: &str,
    simulated: Option<&str>,
) -> StudyLine {
    let variant = |v: &bakeoff_model::plan::Variant| VariantLine {
        name: v.name.clone(),
        levels: v.levels.clone(),
        build: builds.get(&v.name).cloned(),
        run: v.run.clone(),
    };
    StudyLine {
        format: FORMAT,
        bakeoff: env!("CARGO_PKG_VERSION").to_owned(),
        study: plan.study.clone(),
        question: plan.question.clone(),
        plan: plan.name.clone(),
        identity: plan.identity(builds, inputs),
        seed: plan.seed,
        variants: plan.variants.iter().map(variant).collect(),
        workloads: plan.workloads.iter().map(|w| w.name.clone()).collect(),
        conditions: plan.conditions.iter().map(|c| c.name.clone()).collect(),
        decide: plan.decide.clone(),
        simulated: simulated.map(str::to_owned),
    }
}

/// What a session needs besides an executor.
pub(crate) struct Setting<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) study: StudyLine,
    pub(crate) builds: &'a [BuildLine],
    pub(crate) journal: &'a Path,
    /// No progress is drawn.
    pub(crate) quiet: bool,
    /// Seconds that a trial is thought to take.
    pub(crate) guess_s: Option<f64>,
}

/// Executes what the journal does not hold yet. An executor is made only if something is missing.
pub(crate) fn execute<'e>(
    setting: &Setting<'_>,
    executor: impl FnOnce() -> Result<Box<dyn Executor + 'e>, CommandError>,
) -> Result<(Record, Ending), CommandError> {
    let plan = setting.plan;
    let (mut journal, contents) = Journal::open(setting.journal, &setting.study)?;
    let mut record = contents.record;
    if record.study.identity != setting.study.identity {
        let path = setting.journal.display();
        return Err(CommandError::usage(format!("the journal {path} is of another study, or of another state of it"))
            .hint("name another journal"));
    }
    if contents.torn {
        screen::err("note: the last command was killed while it wrote; a torn line was cut off the journal\n");
    }
    let done = Done::of(plan, &record);
    if done.trials == plan.trials() {
        return Ok((record, Ending::Complete));
    }
    let keep = |journal: &mut Journal, record: &mut Record, line: Line| -> Result<(), CommandError> {
        journal.append(&line)?;
        record.push(line);
        Ok(())
    };
    let session = record.sessions.len() as u32 + 1;
    let place = bakeoff_host::place::fingerprint();
    let begin = Session { session, started_unix_s: bakeoff_host::now_unix_s(), blocks: plan.blocks, place };
    keep(&mut journal, &mut record, Line::Session(begin))?;
    for build in setting.builds.iter().filter(|b| !record.builds.contains(b)).cloned().collect::<Vec<_>>() {
        keep(&mut journal, &mut record, Line::Build(build))?;
    }
    let (before, mut heard) = (record.clone(), record);
    let mut progress = Progress::new(plan.trials(), done.blocks_wanted, done.trials, done.blocks, setting.guess_s)
        .quiet(setting.quiet);
    let mut executor = executor()?;
    let mut emit = |event: Event| -> Result<(), CommandError> {
        progress.hear(&event);
        match event {
            Event::BlockBegins(block) => keep(&mut journal, &mut heard, Line::Block(block)),
            Event::TrialEnded(trial) => keep(&mut journal, &mut heard, Line::Trial(trial)),
            Event::BlockEnded => Ok(journal.sync()?),
            Event::TrialBegins { .. } => Ok(()),
        }
    };
    let stop = || bakeoff_host::interrupt::count() > 0;
    let ending = drive(plan, &before, session, executor.as_mut(), &mut emit, &stop);
    progress.clear();
    journal.sync()?;
    Ok((heard, ending?))
}

/// How much of a plan a record holds.
struct Done {
    trials: u64,
    blocks: u64,
    blocks_wanted: u64,
}

impl Done {
    /// A study that was prolonged may have more trials than a plan asks for now; those are not counted.
    fn of(plan: &Plan, record: &Record) -> Self {
        let trials = record.trials.iter().filter(|t| t.block <= plan.blocks).count() as u64;
        let blocks = trials / (plan.variants.len() as u64 + 1);
        let blocks_wanted = plan.trials() / (plan.variants.len() as u64 + 1);
        Self { trials, blocks, blocks_wanted }
    }
}

/// Mean elapsed time of the trials in some journals, in seconds; for estimates.
pub(crate) fn usual_wall_s(records: &[Record]) -> Option<f64> {
    let trials = records.iter().filter(|r| r.study.simulated.is_none()).flat_map(|r| &r.trials);
    let walls: Vec<f64> = trials.filter_map(|t| metric::value("wall", &t.measurements)).collect();
    (!walls.is_empty()).then(|| walls.iter().sum::<f64>() / walls.len() as f64)
}
