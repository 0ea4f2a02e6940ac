//! What comes before the first block of a workload and after its last one: setups, warm-up trials, and cleanups.

use super::place::Local;
use super::ready::Failed;
use super::stage::{Cell, Ports, numbered};
use super::tools::{CLEANUP, SETUP, Step};
use super::trial;
use crate::on_demand::Halt;
use crate::{Error, Task};
use bakeoff_model::record::Failure;
use bakeoff_model::study::{Condition, Workload};

impl Local<'_> {
    /// Sets up and warms up what the block of a trial needs; none if it was interrupted.
    pub(super) fn make_ready(&mut self, task: Task<'_>) -> Result<Option<()>, Error> {
        if self.stage.is_building(task) {
            return Ok(Some(()));
        }
        let workload = self.stage.cell(task)?.workload;
        let warmup = workload.warmup;
        if !self.around.set_up.contains_key(&workload.name) {
            let workload = workload.clone();
            if self.set_up(&workload)?.is_none() {
                return Ok(None);
            }
        }
        let place = || (task.block.workload.clone(), task.block.condition.clone());
        let is_cold = warmup > 0 && self.around.warm.insert(place());
        if is_cold { self.warm_up(task, warmup) } else { Ok(Some(())) }
    }

    /// Sets a workload up, if that has not been done in this session.
    pub(super) fn set_up(&mut self, workload: &Workload) -> Result<Option<()>, Error> {
        if !self.around.set_up.contains_key(&workload.name) {
            let Some(failed) = self.of_each_variant(workload, SETUP)? else { return Ok(None) };
            self.around.set_up.insert(workload.name.clone(), failed);
        }
        Ok(Some(()))
    }

    /// Cleans up what was set up; what went wrong, in words.
    pub(super) fn clean_up(&mut self) -> Result<Vec<String>, Error> {
        let mut notes = vec![];
        for name in std::mem::take(&mut self.around.set_up).into_keys() {
            let workload = self.stage.plan.workloads.iter().find(|workload| workload.name == name).cloned();
            let Some(workload) = workload else { continue };
            let failed = self.of_each_variant(&workload, CLEANUP)?;
            for (variant, failure) in failed.unwrap_or_default() {
                if let Failure::Surroundings { why, tail, .. } = failure {
                    let last = tail.last().map(|line| format!(": {line}")).unwrap_or_default();
                    notes.push(format!("the cleanup of {variant} failed: {why}{last}"));
                }
            }
        }
        Ok(notes)
    }

    /// One command of each variant, and which of them failed; none if it was interrupted.
    fn of_each_variant(&mut self, workload: &Workload, step: Step) -> Result<Option<Failed>, Error> {
        let Self { stage, tools, .. } = self;
        let alone = Condition::default();
        let mut failed = Failed::new();
        for variant in stage.variants() {
            let prefix = stage.prefix_of(&variant.name);
            let cell = Cell { variant, workload, condition: &alone, prefix, padding: 0 };
            if step.command(cell).is_none() {
                continue;
            }
            stage.fresh_home(&numbered("home", 1))?;
            let done = tools.around(stage, cell, &Ports::new(), step);
            trial::wipe(stage, cell)?;
            match done {
                Ok(()) => {}
                Err(Halt::Failed(failure)) => _ = failed.insert(variant.name.clone(), failure),
                Err(Halt::Interrupted) => return Ok(None),
                Err(Halt::Error(error)) => return Err(error),
            }
        }
        Ok(Some(failed))
    }

    /// Unmeasured trials of each variant. One that fails will fail again when it is measured.
    fn warm_up(&mut self, task: Task<'_>, times: u32) -> Result<Option<()>, Error> {
        let names: Vec<String> = self.stage.variants().map(|variant| variant.name.clone()).collect();
        for variant in &names {
            for _ in 0..times {
                let executed = self.once(Task { variant, ..task }, false)?;
                let Some(execution) = executed.filter(|_| bakeoff_host::interrupt::count() == 0) else {
                    return Ok(None);
                };
                self.around.written.extend(execution.written);
            }
        }
        Ok(Some(()))
    }
}
