//! This host as a place: each trial in folders and an environment of its own, with the services and the load that it is
//! to have beside it. It puts together what the `host` crate measures, and measures nothing itself.

mod around;
mod building;
mod command;
mod conditions;
mod diagnose;
mod harness;
mod load;
mod marks;
mod outcome;
mod place;
mod printed;
mod programs;
mod ready;
mod services;
mod show;
mod stage;
mod tools;
mod trial;
mod waiting;
mod watch;

pub use place::Local;
pub use programs::{Absent, absent};
pub use show::Shower;
pub use stage::Setup;
pub use watch::{Watch, Watching};

use crate::on_demand::{self, Halt};
use crate::{Diagnosed, Error, Execution, Executor, IntrusiveProbe, Linked, Look, Pass, Subject, Task};
use bakeoff_host::now_unix_s;
use bakeoff_model::metric;
use bakeoff_model::record::{Failure, Outcome, Surrounding, Unavailable};
use load::Load;
use services::Services;
use tools::{CONCLUDE, PREPARE, Tools};

impl Local<'_> {
    /// Something unmeasured is launched: trials would otherwise find caches of the processor cold after a look.
    fn settle(&mut self) -> Result<(), Error> {
        if self.watching.is_felt() {
            self.launcher.execute_nothing()?;
        }
        Ok(())
    }

    /// Everything of one trial, up to its end: what came of it is in `execution`, also if it halts.
    fn attempt(&mut self, task: Task<'_>, execution: &mut Execution, is_measured: bool) -> Result<(), Halt> {
        let Self { stage, launcher, services, load, tools, known, printed, show, .. } = self;
        let cell = stage.cell(task)?;
        let ports = services.start(stage, tools, cell, None)?;
        load.start(stage, cell, &ports, task.block.block)?;
        let prepared = known.prepare(stage, cell, &ports, printed)?;
        tools.around(stage, cell, &ports, PREPARE)?;
        if stage.granted(cell.condition).is_some_and(|granted| granted.drop_caches) {
            bakeoff_host::disk::drop_caches()
                .map_err(|source| stage::folder_error("/proc/sys/vm/drop_caches".as_ref(), source))?;
        }
        services.trial_begins();
        load.trial_begins()?;
        launcher.launch(&prepared.job)?;
        let mut ended = launcher.wait(bakeoff_host::Patience::SecondInterrupt)?;
        let beside_s = services.trial_ended(&mut execution.measurements);
        let wall_s = ended.measurements.get(metric::WALL).copied().unwrap_or_default();
        let load_failed = load.trial_ended(wall_s, &mut execution.measurements);
        trial::take(stage, &mut ended, beside_s, execution);
        if ended.processes.iter().any(|process| process.end == bakeoff_host::End::Interrupted) {
            return Err(Halt::Interrupted);
        }
        // The journal says that these parts are held; a trial without them is none of this condition.
        if let Some((part, why)) = ended.without.first() {
            let part_of = format!("condition {}", cell.condition.name);
            return Err(outcome::surroundings(&part_of, format!("{part}: {why}"), "".as_ref()));
        }
        // What failed beside a trial is why the trial did.
        services.expect_all_alive()?;
        load_failed?;
        load.stop(stage)?;
        let judged = prepared.judge(stage, cell, &ended, execution);
        if is_measured {
            show::outputs(show, &prepared.outputs)?;
            printed.take(stage, cell, task.variant, judged.is_ok(), execution)?;
        }
        let judged = judged.and_then(|()| tools.oracle(stage, cell, &ports));
        // Also after a trial that failed.
        let concluded = tools.around(stage, cell, &ports, CONCLUDE);
        judged.and(concluded)?;
        services.expect_all_alive()
    }

    /// One trial from its beginning to its end; none if it was interrupted.
    fn once(&mut self, task: Task<'_>, is_measured: bool) -> Result<Option<Execution>, Error> {
        let mut execution = Execution { started_unix_s: now_unix_s(), ..Execution::default() };
        let is_building = self.stage.is_building(task);
        let mut unready = None;
        if !is_building {
            let cell = self.stage.cell(task)?;
            self.watching.trial_begins(cell);
            unready = self.around.failure_of(cell);
        }
        let attempted = match self.stage.layout_failed(task).or(unready) {
            Some(failure) => Err(Halt::Failed(failure)),
            None if is_building => self.build(task, &mut execution),
            None => self.attempt(task, &mut execution, is_measured),
        };
        if matches!(attempted, Err(Halt::Failed(_))) {
            self.stage.disk_is_not_full()?;
        }
        // Whatever came of it, nothing of it goes on. The first failure is the cause of later ones.
        let tidied = if is_building { Ok(()) } else { self.tidy(task, &mut execution) };
        let ended = attempted.and(tidied);
        // What a trial wrote that nobody hears of is found by the look after it.
        if !matches!(ended, Err(Halt::Interrupted)) {
            execution.written = self.watching.written();
        }
        match ended {
            Ok(()) => Ok(Some(execution)),
            Err(Halt::Error(Error::Host(bakeoff_host::Error::LauncherEnded { how }))) => {
                // Somebody has killed a launcher: all that was started for a trial is started again for the next one.
                self.end_all()?;
                trial::wipe(&self.stage, self.stage.cell(task)?)?;
                Ok(Some(Execution { outcome: Outcome::Failed(killed(&how)), ..execution }))
            }
            Err(Halt::Interrupted) => Ok(None),
            Err(Halt::Failed(failure)) => Ok(Some(Execution { outcome: Outcome::Failed(failure), ..execution })),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    /// Ends what was started for one trial, and removes its folders.
    fn tidy(&mut self, task: Task<'_>, execution: &mut Execution) -> Result<(), Halt> {
        let Self { stage, services, load, .. } = self;
        let load_stopped = load.stop(stage);
        let services_stopped = services.trial_is_over(stage, &mut execution.measurements);
        load_stopped?;
        services_stopped?;
        Ok(trial::wipe(stage, stage.cell(task)?)?)
    }

    fn end_all(&mut self) -> Result<(), Error> {
        // They end where they are dropped.
        (self.services, self.load, self.tools) = (Services::default(), Load::default(), Tools::default());
        self.block = None;
        self.launcher = self.stage.another_launcher()?;
        Ok(())
    }

    /// Stops what another block had kept.
    fn in_block(&mut self, task: Task<'_>) -> Result<(), Error> {
        let block = Some((task.block.block, task.block.workload.clone(), task.block.condition.clone()));
        if self.block != block {
            self.block_ended()?;
            self.block = block;
        }
        Ok(())
    }
}

impl Executor for Local<'_> {
    fn memory_floor_bytes(&self) -> Option<f64> {
        self.launcher.memory_floor_bytes().map(|bytes| bytes as f64)
    }

    fn surroundings(&self) -> Vec<Surrounding> {
        let unavailable = self.launcher.unavailable();
        self.stage.granted.iter().flat_map(|granted| granted.surroundings(&unavailable)).collect()
    }

    fn enclosure(&self) -> Option<&'static str> {
        Some(self.stage.enclosure())
    }

    fn unavailable(&self) -> Vec<Unavailable> {
        self.launcher.unavailable()
    }

    fn execute(&mut self, task: Task<'_>) -> Result<Option<Execution>, Error> {
        self.in_block(task)?;
        if self.make_ready(task)?.is_none() {
            return Ok(None);
        }
        let execution = self.once(task, true)?;
        Ok(execution.map(|mut execution| {
            execution.written.append(&mut self.around.written);
            execution
        }))
    }

    fn end(&mut self) -> Result<Vec<String>, Error> {
        self.clean_up()
    }

    fn look(&mut self) -> Result<Look, Error> {
        let look = self.watching.look()?;
        self.settle()?;
        Ok(look)
    }

    fn look_at_all(&mut self) -> Result<Look, Error> {
        self.watching.look_at_all()
    }

    fn pass_begins(&mut self, pass: &Pass<'_>) -> Result<Option<Linked>, Error> {
        let Some(layouts) = on_demand::layouts(&mut self.on_demand, pass)? else { return Ok(None) };
        self.stage.layouts = layouts;
        Ok(Some(on_demand::digests(&self.stage.layouts)))
    }

    fn pass_ended(&mut self) -> Result<(), Error> {
        self.stage.layouts.clear();
        Ok(())
    }

    fn diagnose(&mut self, subject: Subject<'_>, probe: &mut dyn IntrusiveProbe) -> Result<Option<Diagnosed>, Error> {
        match self.watch_one(subject, probe) {
            Err(Error::Host(bakeoff_host::Error::LauncherEnded { how })) => {
                self.end_all()?;
                Ok(Some(Diagnosed::missing(format!("{KILLED} ({how})"))))
            }
            diagnosed => diagnosed,
        }
    }

    fn block_ended(&mut self) -> Result<(), Error> {
        self.block = None;
        match self.services.stop_all(&self.stage) {
            Err(Halt::Error(error)) => Err(error),
            // No trial is left that a service could fail by not ending as it should.
            Ok(()) | Err(Halt::Interrupted | Halt::Failed(_)) => Ok(()),
        }
    }
}

/// Why there is no more of a trial.
const KILLED: &str = "the launcher process was killed";

/// Such a trial failed: most often it was the trial that did it.
fn killed(how: &str) -> Failure {
    let why = format!("{KILLED} ({how}); perhaps the command kills its parent, or all processes");
    Failure::Surroundings { part: "launcher".to_owned(), why, tail: vec![] }
}
