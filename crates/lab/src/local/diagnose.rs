//! A diagnostic trial on this host: like a trial, but alone on the machine, changed by a probe, and not measured.

use super::outcome::{in_words, last_lines};
use super::place::Local;
use super::stage::{Cell, Stage};
use super::tools::{CONCLUDE, PREPARE};
use super::trial;
use crate::on_demand::Halt;
use crate::{Diagnosed, Error, Execution, IntrusiveProbe, Subject, Unseen};
use bakeoff_host::{End, Patience};
use bakeoff_model::plan::{Plan, Variant};
use bakeoff_model::record::Failure;
use bakeoff_model::study::{Condition, Workload};
use std::sync::Arc;

impl Local<'_> {
    /// One diagnostic trial, from beginning to end; none if it was interrupted.
    pub(super) fn watch_one(
        &mut self,
        subject: Subject<'_>,
        probe: &mut dyn IntrusiveProbe,
    ) -> Result<Option<Diagnosed>, Error> {
        let plan = &self.stage.plan;
        let unplanned = |what: &str, name: &str| Error::Unplanned { what: format!("{what} `{name}`") };
        let variant = plan.variants.iter().find(|variant| variant.name == subject.variant);
        let variant = variant.cloned().ok_or_else(|| unplanned("variant", subject.variant))?;
        let workload = plan.workloads.iter().find(|workload| workload.name == subject.workload);
        let mut workload = workload.cloned().ok_or_else(|| unplanned("workload", subject.workload))?;
        workload.timeout_s = workload.timeout_s.map(|timeout_s| timeout_s * probe.times_slower());
        workload.timeout_s = workload.timeout_s.into_iter().chain(probe.most_s()).reduce(f64::min);
        if self.set_up(&workload)?.is_none() {
            return Ok(None);
        }
        let attempted = self.attempt_watched(&variant, &workload, probe);
        let has_failed = match &attempted {
            Ok(diagnosed) => matches!(diagnosed, Diagnosed::Executed { failure: Some(_), .. }),
            Err(halt) => matches!(halt, Halt::Failed(_)),
        };
        if has_failed {
            self.stage.disk_is_not_full()?;
        }
        // Whatever came of it, nothing of it goes on, and no folder is left.
        let stopped = self.services.stop_all(&self.stage);
        let condition = alone(&self.stage.plan);
        trial::wipe(&self.stage, cell(&self.stage, &variant, &workload, &condition))?;
        probe.forget(&self.stage.setup.scratch);
        if let Err(Halt::Error(error)) = stopped {
            return Err(error);
        }
        match attempted {
            Ok(diagnosed) => Ok(Some(diagnosed)),
            Err(Halt::Interrupted) => Ok(None),
            Err(Halt::Failed(failure)) => Ok(Some(Diagnosed::Failed(failure))),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn attempt_watched(
        &mut self,
        variant: &Variant,
        workload: &Workload,
        probe: &mut dyn IntrusiveProbe,
    ) -> Result<Diagnosed, Halt> {
        let Self { stage, launcher, services, tools, printed, around, .. } = self;
        let condition = alone(&stage.plan);
        let cell = cell(stage, variant, workload, &condition);
        if let Some(failure) = around.failure_of(cell) {
            return Err(Halt::Failed(failure));
        }
        probe.begin(&stage.setup.scratch)?;
        let ports = services.start(stage, tools, cell, Some(&mut *probe))?;
        let mut prepared = trial::prepare(stage, cell, &ports, printed)?;
        tools.around(stage, cell, &ports, PREPARE)?;
        let Some(command) = prepared.job.commands.first_mut() else {
            return Ok(Diagnosed::missing("the trial has no command"));
        };
        probe.take_over(Arc::make_mut(command), None)?;
        probe.trial_begins()?;
        launcher.launch(&prepared.job)?;
        let ended = launcher.wait(Patience::FirstInterrupt)?;
        probe.trial_ended()?;
        let end = ended.processes.first().map_or(End::Interrupted, |process| process.end.clone());
        if end == End::Interrupted {
            return Err(Halt::Interrupted);
        }
        match probe.see(&end) {
            Ok(()) => {}
            Err(Unseen::Refused(why)) => return Ok(Diagnosed::missing(why)),
            Err(Unseen::NotStarted { what, why }) => {
                return Err(Halt::Failed(Failure::NotStarted { command: what, why }));
            }
            Err(Unseen::Silent) => {
                let words = last_lines(&stage.setup.scratch.join("stderr")).pop();
                let words = words.map(|line| format!(": {line}")).unwrap_or_default();
                return Ok(Diagnosed::missing(format!("the tracer reported nothing: {}{words}", in_words(&end))));
            }
        }
        let mut execution = Execution::default();
        let mut judge = || -> Result<(), Halt> {
            services.expect_all_alive()?;
            let judged = prepared.judge(stage, cell, &ended, &mut execution);
            let judged = judged.and_then(|()| tools.oracle(stage, cell, &ports));
            let concluded = tools.around(stage, cell, &ports, CONCLUDE);
            judged.and(concluded)?;
            services.expect_all_alive()
        };
        let judged = judge();
        let mut failure = None;
        // A service's tracer reports when the service has been stopped.
        for verdict in [judged, services.stop_all(stage)] {
            match verdict {
                Ok(()) => {}
                Err(Halt::Failed(why)) => drop(failure.get_or_insert(why)),
                Err(halt) => return Err(halt),
            }
        }
        probe.see_services();
        Ok(Diagnosed::Executed { ops: execution.marks.ops_count(), failure })
    }
}

/// The machine as it is, with the variables of the plan's first condition. It has no name, so nothing else is granted.
fn alone(plan: &Plan) -> Condition {
    let environment = plan.conditions.first().map(|first| first.environment.clone()).unwrap_or_default();
    Condition { environment, ..Condition::default() }
}

fn cell<'a>(stage: &'a Stage, variant: &'a Variant, workload: &'a Workload, condition: &'a Condition) -> Cell<'a> {
    Cell { variant, workload, condition, prefix: stage.prefix_of(&variant.name), padding: 0 }
}
