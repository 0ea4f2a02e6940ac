//! Trials for which something is built: those that run a build that was relinked for their pass, and those that measure
//! building itself. The implementor of [`OnDemand`] knows what is built, and how.

use super::outcome::{Halt, Outputs, of_build};
use super::place::Local;
use super::stage::Stage;
use crate::on_demand::{OnDemand, Stop};
use crate::{Error, Execution, Pass, Task};
use bakeoff_host::{Command, Job, Limits, Patience};
use bakeoff_model::record::Failure;

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Interrupted => Self::Interrupted,
            Stop::Failed(failure) => Self::Failed(failure),
            Stop::Error(error) => Self::Error(error),
        }
    }
}

impl Stage {
    /// Whether a trial is one of building.
    pub(super) fn is_building(&self, task: Task<'_>) -> bool {
        let building = self.plan.building.as_ref();
        building.is_some_and(|building| building.step(&task.block.workload).is_some())
    }

    /// Why a trial has nothing that it could run, if its layout could not be made.
    pub(super) fn layout_failed(&self, task: Task<'_>) -> Option<Failure> {
        task.block.layout?;
        match self.layouts.get(task.variant) {
            Some(Ok(_)) => None,
            Some(Err(failure)) => Some(failure.clone()),
            None => {
                let why = "nobody was asked to make it".to_owned();
                Some(Failure::Surroundings { part: "layout".to_owned(), why, tail: vec![] })
            }
        }
    }
}

impl Local<'_> {
    /// Has the layouts of a pass made, if it has any; none if that was interrupted.
    pub(super) fn make_layouts(&mut self, pass: &Pass<'_>) -> Result<Option<()>, Error> {
        let Some(aside) = self.aside.as_mut().filter(|_| !pass.variants.is_empty()) else { return Ok(Some(())) };
        match (aside.layouts)(pass) {
            Ok(layouts) => self.stage.layouts = layouts,
            Err(Stop::Interrupted) => return Ok(None),
            Err(Stop::Error(error)) => return Err(error),
            // All of them fail, and for this reason.
            Err(Stop::Failed(failure)) => {
                let failed = |name: &&str| ((*name).to_owned(), Err(failure.clone()));
                self.stage.layouts = pass.variants.iter().map(failed).collect();
            }
        }
        Ok(Some(()))
    }

    /// One trial of building. All that the command needs is made before, and what it made is checked afterwards.
    pub(super) fn build(&mut self, task: Task<'_>, execution: &mut Execution) -> Result<(), Halt> {
        let Self { stage, launcher, aside, .. } = self;
        let Some(OnDemand { prepare, finish, .. }) = aside else {
            let what = format!("building of `{}`", task.block.workload);
            return Err(Halt::Error(Error::Unplanned { what }));
        };
        let prepared = prepare(task)?;
        let outputs = Outputs { stdout: prepared.log.clone(), stderr: prepared.log.clone() };
        let command = Command {
            argv: prepared.argv,
            dir: prepared.dir,
            env: prepared.env,
            stdin: None,
            stdout: prepared.log.clone(),
            stderr: prepared.log,
        };
        let limits = Limits { timeout_s: prepared.timeout_s, ..Limits::default() };
        let launched = launcher.launch(&Job { commands: vec![command.into()], limits, ..Job::default() });
        let ended = launched.and_then(|()| launcher.wait(Patience::SecondInterrupt));
        let judged = match ended {
            Ok(mut ended) => {
                super::trial::take(stage, &mut ended, 0.0, execution);
                let end = ended.processes.first().map(|process| &process.end);
                end.map_or(Ok(()), |end| of_build(end, &outputs, prepared.timeout_s))
            }
            Err(error) => Err(error.into()),
        };
        // What it made goes, whatever came of it; why it failed is known already.
        let finished = finish(task, judged.is_ok());
        judged?;
        execution.measurements.extend(finished?);
        Ok(())
    }
}
