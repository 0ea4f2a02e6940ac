//! A diagnostic trial on this host: what a trial is, with folder, services, limits and checks, but alone on the machine,
//! executed by the tracer of the `host` crate, and measured by nobody.

use super::outcome::{Halt, in_words, last_lines};
use super::place::Local;
use super::stage::{Cell, Stage};
use super::tracing::{SLOWER, Tracing, Unseen};
use super::trial;
use crate::{Error, Execution, Subject};
use bakeoff_host::{End, Patience};
use bakeoff_model::plan::Variant;
use bakeoff_model::record::{Evidence, Failure, Traced};
use bakeoff_model::study::{Condition, Workload};

/// Set for a traced trial and for no other, so that a workload that makes very many calls may do less of the same.
const TRACED: &str = "BAKEOFF_TRACED";

impl Local<'_> {
    /// One diagnostic trial, from beginning to end; none if it was interrupted.
    pub(super) fn trace(&mut self, subject: Subject<'_>) -> Result<Option<Evidence>, Error> {
        if self.tracer.is_empty() {
            return Ok(Some(subject.missing("nothing traces here")));
        }
        let plan = &self.stage.plan;
        let unplanned = |what: &str, name: &str| Error::Unplanned { what: format!("{what} `{name}`") };
        let variant = plan.variants.iter().find(|variant| variant.name == subject.variant);
        let variant = variant.cloned().ok_or_else(|| unplanned("variant", subject.variant))?;
        let workload = plan.workloads.iter().find(|workload| workload.name == subject.workload);
        let mut workload = workload.cloned().ok_or_else(|| unplanned("workload", subject.workload))?;
        workload.timeout_s = workload.timeout_s.map(|timeout_s| timeout_s * SLOWER);
        let attempted = self.attempt_traced(subject, &variant, &workload);
        let has_failed = match &attempted {
            Ok(Evidence::Traced(traced)) => traced.failure.is_some(),
            Ok(_) => false,
            Err(halt) => matches!(halt, Halt::Failed(_)),
        };
        if has_failed {
            self.stage.disk_is_not_full()?;
        }
        // Whatever came of it, nothing of it goes on, and no folder is left.
        let stopped = self.services.stop_all(&self.stage);
        let condition = alone();
        trial::wipe(&self.stage, cell(&self.stage, &variant, &workload, &condition))?;
        Tracing::forget(&self.stage);
        if let Err(Halt::Error(error)) = stopped {
            return Err(error);
        }
        match attempted {
            Ok(evidence) => Ok(Some(evidence)),
            Err(Halt::Interrupted) => Ok(None),
            Err(Halt::Failed(failure)) => Ok(Some(failed(subject, failure))),
            Err(Halt::Error(error)) => Err(error),
        }
    }

    fn attempt_traced(
        &mut self,
        subject: Subject<'_>,
        variant: &Variant,
        workload: &Workload,
    ) -> Result<Evidence, Halt> {
        let Self { stage, launcher, services, tools, tracer, printed, .. } = self;
        let condition = alone();
        let cell = cell(stage, variant, workload, &condition);
        let mut tracing = Tracing::new(stage, tracer)?;
        let ports = services.start(stage, tools, cell, Some(&mut tracing))?;
        let mut prepared = trial::prepare(stage, cell, &ports, printed)?;
        let Some(command) = prepared.job.commands.first_mut() else { return Ok(subject.missing("it has no command")) };
        command.env.insert(TRACED.to_owned(), "1".to_owned());
        let told = tracing.take_over(command, None)?;
        tracing.trial_begins()?;
        launcher.launch(&prepared.job)?;
        let ended = launcher.wait(Patience::FirstInterrupt)?;
        tracing.trial_ended()?;
        let end = ended.processes.first().map_or(End::Interrupted, |process| process.end.clone());
        if end == End::Interrupted {
            return Err(Halt::Interrupted);
        }
        let mut traced = Traced { workload: subject.workload.to_owned(), ..Traced::default() };
        match told.census() {
            Ok(census) => traced.command = census,
            Err(Unseen::Refused(why)) => return Ok(subject.missing(why)),
            Err(Unseen::NotStarted { what, why }) => {
                return Err(Halt::Failed(Failure::NotStarted { command: what, why }));
            }
            // It was killed before it could tell anything.
            Err(Unseen::Silent) if matches!(end, End::TimedOut | End::OutOfMemory) => {}
            Err(Unseen::Silent) => {
                let words = last_lines(&stage.setup.scratch.join("stderr")).pop();
                let words = words.map(|line| format!(": {line}")).unwrap_or_default();
                return Ok(subject.missing(format!("the tracer told nothing: {}{words}", in_words(&end))));
            }
        }
        let mut execution = Execution::default();
        let mut judge = || -> Result<(), Halt> {
            services.are_alive()?;
            prepared.judge(stage, cell, &ended, &mut execution)?;
            tools.oracle(stage, cell, &ports)?;
            services.are_alive()
        };
        let judged = judge();
        traced.ops = execution.marks.ops_count();
        // What a service did is told when it has been stopped.
        for verdict in [judged, services.stop_all(stage)] {
            match verdict {
                Ok(()) => {}
                Err(Halt::Failed(failure)) => drop(traced.failure.get_or_insert(failure)),
                Err(halt) => return Err(halt),
            }
        }
        for (service, told) in tracing.services {
            match told.census() {
                Ok(census) => drop(traced.services.insert(service, census)),
                Err(unseen) => drop(traced.services_unseen.insert(service, unseen.to_string())),
            }
        }
        Ok(Evidence::of_trial(traced))
    }
}

/// The machine as it is. It has no name, so that no part of a study's own condition is granted to it.
fn alone() -> Condition {
    Condition::default()
}

fn cell<'a>(stage: &'a Stage, variant: &'a Variant, workload: &'a Workload, condition: &'a Condition) -> Cell<'a> {
    Cell { variant, workload, condition, prefix: stage.prefix_of(&variant.name), padding: 0 }
}

fn failed(subject: Subject<'_>, failure: Failure) -> Evidence {
    let workload = subject.workload.to_owned();
    Evidence::of_trial(Traced { workload, failure: Some(failure), ..Traced::default() })
}
