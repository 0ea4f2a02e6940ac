//! A trial as the order to the launcher, and the launcher's report as an outcome: one or several processes at once,
//! each with a folder, an output and an environment of its own.

use super::harness;
use super::marks;
use super::outcome::{Halt, Outputs, of_output, of_process};
use super::printed::Printed;
use super::stage::{Cell, Ports, Stage, numbered, processes};
use crate::{Error, Execution};
use bakeoff_host::{Command, Job, JobEnded, Limits};
use bakeoff_model::record::Failure;

/// A trial that is ready to be launched.
pub(super) struct Prepared {
    pub(super) job: Job,
    /// Where each process prints to.
    pub(super) outputs: Vec<Outputs>,
}

/// Makes the folders and the job.
pub(super) fn prepare(stage: &Stage, cell: Cell<'_>, ports: &Ports, printed: &mut Printed) -> Result<Prepared, Error> {
    let count = processes(cell);
    let paths = printed.prepare(stage, cell, count as usize)?;
    let mut limits = stage.granted(cell.condition).map_or_else(Limits::default, |granted| granted.limits.clone());
    limits.timeout_s = cell.workload.timeout_s;
    let mut prepared = Prepared { job: Job { marks: true, limits, ..Job::default() }, outputs: vec![] };
    for (number, stdout) in (1..).zip(paths) {
        let home = stage.fresh_home(&numbered("home", number))?;
        let mut env = stage.environment(cell, ports, home.as_deref());
        env.insert("BAKEOFF_PROCESS".to_owned(), number.to_string());
        env.insert("BAKEOFF_PROCESSES".to_owned(), count.to_string());
        if cell.padding > 0 {
            env.insert("BAKEOFF_PADDING".to_owned(), "x".repeat(cell.padding as usize));
        }
        if cell.workload.harness.is_some() {
            let place = harness::make_ready(stage, number)?;
            env.insert(harness::VARIABLE.to_owned(), place.to_string_lossy().into_owned());
        }
        let outputs = Outputs { stdout, stderr: stage.setup.scratch.join(numbered("stderr", number)) };
        prepared.job.commands.push(Command {
            argv: stage.argv(cell.variant, cell.workload),
            dir: stage.setup.dir_of(cell.prefix),
            env,
            stdin: cell.workload.input.as_ref().map(|input| stage.setup.dir_of(cell.prefix).join(input)),
            stdout: outputs.stdout.clone(),
            stderr: outputs.stderr.clone(),
        });
        prepared.outputs.push(outputs);
    }
    Ok(prepared)
}

/// Removes the folders.
pub(super) fn wipe(stage: &Stage, cell: Cell<'_>) -> Result<(), Error> {
    (1..=processes(cell)).try_for_each(|number| stage.wipe_home(&numbered("home", number)))
}

/// Moves what was measured into the execution. `beside_s` is the processor time of the services meanwhile; that of the
/// load is already there.
pub(super) fn take(stage: &Stage, ended: &mut JobEnded, beside_s: f64, execution: &mut Execution) {
    execution.started_unix_s = ended.started_unix_s;
    execution.leftovers = ended.leftovers;
    let into = &mut execution.measurements;
    let measured = std::mem::take(&mut ended.measurements);
    // Mostly there is nothing yet.
    if into.is_empty() {
        *into = measured
    } else {
        into.extend(measured)
    }
    let wall_s = into.get("wall").copied().unwrap_or_default();
    // The probe knows of the trial only; load and services are no strangers either.
    let ours_s = beside_s + into.get("load_cpu").copied().unwrap_or_default();
    let all_s = wall_s * f64::from(stage.cpus);
    if let Some(foreign) = into.get_mut("foreign_cpu").filter(|_| all_s > 0.0) {
        *foreign = (*foreign - ours_s / all_s).max(0.0);
    }
    if let [_, _, ..] = ended.processes.as_slice() {
        execution.processes = ended.processes.iter().map(|process| process.measurements.clone()).collect();
    }
}

impl Prepared {
    /// Whether every process did what it should, and what all of them reported.
    pub(super) fn judge(
        &self,
        stage: &Stage,
        cell: Cell<'_>,
        ended: &JobEnded,
        execution: &mut Execution,
    ) -> Result<(), Halt> {
        // Marks of a trial that failed are kept as well, as far as they are marks.
        let taken = marks::take(cell, ended, &self.outputs, execution);
        let read = harness::take(stage, cell, &self.outputs, execution);
        for (process, outputs) in ended.processes.iter().zip(&self.outputs) {
            of_process(cell, &process.end, outputs)?;
        }
        of_output(stage, cell, &self.outputs)?;
        taken.map_err(|why| Halt::Failed(Failure::BadMarks { why }))?;
        read.map_err(|why| Halt::Failed(Failure::NoBenchmark { why }))
    }
}
