//! Trials for which something is built: those that run a build that was relinked for their pass, and those that measure
//! building itself. The implementor of [`crate::on_demand::OnDemand`] knows what is built, and how.

use super::outcome::{Outputs, of_build};
use super::place::Local;
use super::stage::Stage;
use crate::on_demand::{Halt, Prepared};
use crate::{Error, Execution, Task};
use bakeoff_host::{Job, Limits, Patience};
use bakeoff_model::record::Failure;

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
                let why = "it was not requested".to_owned();
                Some(Failure::Surroundings { part: "layout".to_owned(), why, tail: vec![] })
            }
        }
    }
}

impl Local<'_> {
    /// One trial of building. All that the command needs is made before, and what it made is checked afterwards.
    pub(super) fn build(&mut self, task: Task<'_>, execution: &mut Execution) -> Result<(), Halt> {
        let Self { stage, launcher, on_demand, .. } = self;
        let Some(builder) = on_demand else {
            let what = format!("building of `{}`", task.block.workload);
            return Err(Halt::Error(Error::Unplanned { what }));
        };
        let Prepared { command, timeout_s } = builder.prepare(task)?;
        let outputs = Outputs { stdout: command.stdout.clone(), stderr: command.stderr.clone() };
        let limits = Limits { timeout_s, ..Limits::default() };
        let launched = launcher.launch(&Job { commands: vec![command.into()], limits, ..Job::default() });
        let ended = launched.and_then(|()| launcher.wait(Patience::SecondInterrupt));
        let judged = match ended {
            Ok(mut ended) => {
                super::trial::take(stage, &mut ended, 0.0, execution);
                let end = ended.processes.first().map(|process| &process.end);
                end.map_or(Ok(()), |end| of_build(end, &outputs, timeout_s))
            }
            Err(error) => Err(error.into()),
        };
        // What it made goes, whatever came of it; why it failed is known already.
        let finished = builder.finish(judged.is_ok());
        judged?;
        execution.measurements.extend(finished?);
        Ok(())
    }
}
