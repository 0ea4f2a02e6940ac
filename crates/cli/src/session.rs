//! One session of a study: opens its journal, executes what is missing, and keeps every event. `run` and `compare`
//! differ in where plan and executor come from; from there on they are this.

use crate::error::CommandError;
use crate::progress::Progress;
use crate::screen;
use bakeoff_analysis::stopping;
use bakeoff_journal::Journal;
use bakeoff_lab::{Ending, Event, Executor, drive};
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{BuildLine, Line, Record, Session, StudyLine};
use bakeoff_model::until::Until;
use std::cell::RefCell;
use std::path::Path;

/// What a session needs besides an executor.
pub(crate) struct Setting<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) study: StudyLine,
    pub(crate) builds: &'a [BuildLine],
    pub(crate) journal: &'a Path,
    /// Blocks are forced to the disk. Without it they survive our death, but not the machine's.
    pub(crate) durable: bool,
    /// No progress is drawn.
    pub(crate) quiet: bool,
    /// Seconds that a trial is thought to take.
    pub(crate) guess_s: Option<f64>,
}

/// A study whose journal is open.
pub(crate) struct OpenStudy<'a> {
    setting: Setting<'a>,
    journal: Journal,
    record: Record,
}

impl<'a> OpenStudy<'a> {
    /// Opens the journal, or begins it.
    pub(crate) fn open(setting: Setting<'a>) -> Result<Self, CommandError> {
        let (journal, contents) = Journal::open(setting.journal, &setting.study)?;
        let mut study = Self { setting, journal, record: contents.record };
        if study.record.study.identity != study.setting.study.identity {
            let path = study.setting.journal.display();
            let [begun, asked] = [&study.record.study, &study.setting.study].map(|s| (s.until, s.looks_until));
            if begun != asked {
                let rule = |until: Until, most: Option<u32>| match (until, most) {
                    (Until::Blocks, _) => "for a fixed number of blocks".to_owned(),
                    (until, Some(most)) => format!("until {until} within {most} blocks"),
                    (until, None) => format!("until {until}"),
                };
                let error =
                    format!("the journal {path} was begun {}, not {}", rule(begun.0, begun.1), rule(asked.0, asked.1));
                let hint =
                    "a rule for stopping is fixed before the first block: name another journal, or keep the rule";
                return Err(CommandError::usage(error).hint(hint));
            }
            let error = format!("the journal {path} is of another study, or of another state of it");
            return Err(CommandError::usage(error).hint("name another journal"));
        }
        if contents.torn {
            screen::err("note: the last command was killed while it wrote; a torn line was cut off the journal\n");
        }
        // What was measured of building stays, also where no more of it is asked for.
        let building = &mut study.setting.study.building;
        *building = building.take().or_else(|| study.record.study.building.clone());
        // The trials are the same whatever is asked of them; the newest way to judge them counts.
        let [known, asked] = [&study.record.study, &study.setting.study].map(|line| (&line.decide, &line.building));
        if known != asked {
            study.keep(Line::Study(Box::new(study.setting.study.clone())))?;
        }
        Ok(study)
    }

    fn keep(&mut self, line: Line) -> Result<(), CommandError> {
        self.journal.append(&line)?;
        self.record.push(line);
        Ok(())
    }

    /// Executes what the journal does not hold yet. An executor is made only if something is missing.
    pub(crate) fn execute<'e>(
        mut self,
        executor: impl FnOnce() -> Result<Box<dyn Executor + 'e>, CommandError>,
    ) -> Result<(Record, Ending), CommandError> {
        let plan = self.setting.plan;
        let done = Done::of(plan, &self.record);
        if done.trials == plan.trials() || stopping::enough(&self.record) {
            // Fewer blocks may be asked for than by the session before: then what there is, is all that is wanted.
            let passes = self.record.blocks.iter().map(|block| block.block).max().unwrap_or(0);
            if let Some(last) = self.record.sessions.last_mut() {
                last.blocks = last.blocks.min(plan.blocks.max(passes));
            }
            return Ok((self.record, Ending::Complete));
        }
        let mut executor = executor()?;
        let session = self.begin(executor.as_ref())?;
        let before = self.record.clone();
        let mut progress = Progress::new(plan.trials(), done.blocks_wanted, done.trials, done.blocks)
            .at_most(plan.until != Until::Blocks)
            .guess(self.setting.guess_s)
            .quiet(self.setting.quiet);
        let durable = self.setting.durable;
        // What is emitted goes in; whether there is enough is asked of what went in.
        let study = RefCell::new(self);
        let mut emit = |event: Event| -> Result<(), CommandError> {
            progress.hear(&event);
            let mut study = study.borrow_mut();
            match event {
                Event::BlockBegins(block) => study.keep(Line::Block(block)),
                Event::TrialEnded(trial) => study.keep(Line::Trial(trial)),
                Event::BlockEnded if durable => Ok(study.journal.sync()?),
                Event::BlockEnded => Ok(()),
                Event::TrialBegins { .. } => Ok(()),
            }
        };
        let stop = || bakeoff_host::interrupt::count() > 0;
        let enough = || stopping::enough(&study.borrow().record);
        let ending = drive(plan, &before, session, executor.as_mut(), &mut emit, &stop, &enough);
        progress.clear();
        let ending = ending?;
        let mut study = study.into_inner();
        if durable {
            study.journal.sync()?;
        }
        Ok((study.record, ending))
    }

    /// Writes that this session begins, and what became of the builds.
    fn begin(&mut self, executor: &dyn Executor) -> Result<u32, CommandError> {
        let session = self.record.sessions.len() as u32 + 1;
        self.keep(Line::Session(Session {
            session,
            started_unix_s: bakeoff_host::now_unix_s(),
            blocks: self.setting.plan.blocks,
            place: bakeoff_host::place::fingerprint(),
            memory_floor_bytes: executor.memory_floor_bytes(),
            surroundings: executor.surroundings(),
            unavailable: executor.unavailable(),
        }))?;
        let builds = self.setting.builds;
        for build in builds {
            if !self.record.builds.contains(build) {
                self.keep(Line::Build(build.clone()))?;
            }
        }
        Ok(session)
    }
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
        let trials = record.trials.iter().filter(|t| plan.asks_for(t) && t.is_final()).count() as u64;
        let blocks = trials / (plan.variants.len() as u64 + 1);
        let blocks_wanted = plan.trials() / (plan.variants.len() as u64 + 1);
        Self { trials, blocks, blocks_wanted }
    }
}

/// Mean elapsed time of the trials in some journals, in seconds; for estimates.
pub(crate) fn usual_wall_s(records: &[Record]) -> Option<f64> {
    let mut walls: Vec<f64> = vec![];
    for record in records.iter().filter(|record| record.study.simulated.is_none()) {
        walls.extend(record.without_building().trials.iter().filter_map(|trial| trial.value("wall")));
    }
    (!walls.is_empty()).then(|| walls.iter().sum::<f64>() / walls.len() as f64)
}
