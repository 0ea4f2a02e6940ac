//! A trial as the order to the launcher, and the launcher's report as an outcome: one or several processes at once,
//! each with a folder, an output and an environment of its own.

use super::outcome::{Outputs, of_output, of_process};
use super::printed::Printed;
use super::stage::{Cell, Ports, Stage, numbered, processes};
use super::{harness, marks};
use crate::on_demand::Halt;
use crate::{Error, Execution};
use bakeoff_host::{Command, Job, JobEnded, Limits};
use bakeoff_model::metric;
use bakeoff_model::record::Failure;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) job: Job,
    /// Where each process prints to.
    pub(super) outputs: Vec<Outputs>,
}

/// Jobs of trials that were run before. That of a cell is the same in every block, unless something is drawn for the
/// block, and to make it again would be most of the work between two short trials.
#[derive(Debug, Default)]
pub(super) struct JobCache(Vec<(JobKey, Arc<Prepared>)>);

/// What a job depends on; all else stays the same as long as its stage.
#[derive(Debug)]
struct JobKey {
    variant: String,
    workload: String,
    condition: String,
    prefix: Option<PathBuf>,
    padding: u32,
    ports: Ports,
    /// Where its processes print to.
    paths: Vec<PathBuf>,
}

impl JobKey {
    fn is(&self, cell: Cell<'_>, ports: &Ports, paths: &[PathBuf]) -> bool {
        let Self { variant, workload, condition, prefix, padding, ports: own_ports, paths: own_paths } = self;
        *variant == cell.variant.name
            && *workload == cell.workload.name
            && *condition == cell.condition.name
            && prefix.as_deref().map(Path::as_os_str) == cell.prefix.map(Path::as_os_str)
            && *padding == cell.padding
            && own_ports == ports
            && own_paths.iter().map(|path| path.as_os_str()).eq(paths.iter().map(|path| path.as_os_str()))
    }
}

impl JobCache {
    /// The most that are kept.
    const MOST: usize = 256;

    pub(super) fn prepare(
        &mut self,
        stage: &Stage,
        cell: Cell<'_>,
        ports: &Ports,
        printed: &mut Printed,
    ) -> Result<Arc<Prepared>, Error> {
        let paths = make_ready(stage, cell, printed)?;
        if let Some((_, known)) = self.0.iter().find(|(of, _)| of.is(cell, ports, &paths)) {
            return Ok(Arc::clone(known));
        }
        let prepared = Arc::new(job(stage, cell, ports, &paths));
        if self.0.len() == Self::MOST {
            self.0.clear();
        }
        let (variant, workload) = (cell.variant.name.clone(), cell.workload.name.clone());
        let (condition, prefix) = (cell.condition.name.clone(), cell.prefix.map(Path::to_owned));
        let of = JobKey { variant, workload, condition, prefix, padding: cell.padding, ports: ports.clone(), paths };
        self.0.push((of, Arc::clone(&prepared)));
        Ok(prepared)
    }
}

/// Makes folders and files ready, and a job that is for one trial only.
pub(super) fn prepare(stage: &Stage, cell: Cell<'_>, ports: &Ports, printed: &mut Printed) -> Result<Prepared, Error> {
    let paths = make_ready(stage, cell, printed)?;
    Ok(job(stage, cell, ports, &paths))
}

/// Makes folders and files ready; where each process prints to.
fn make_ready(stage: &Stage, cell: Cell<'_>, printed: &mut Printed) -> Result<Vec<PathBuf>, Error> {
    let count = processes(cell);
    let paths = printed.prepare(stage, cell, count as usize)?;
    for number in 1..=count {
        stage.fresh_home(&numbered("home", number))?;
        if cell.workload.harness.is_some() {
            harness::make_ready(stage, number)?;
        }
    }
    Ok(paths)
}

fn job(stage: &Stage, cell: Cell<'_>, ports: &Ports, paths: &[PathBuf]) -> Prepared {
    let mut limits = stage.granted(cell.condition).map_or_else(Limits::default, |granted| granted.limits.clone());
    limits.timeout_s = cell.workload.timeout_s;
    let mut prepared = Prepared { job: Job { marks: true, limits, ..Job::default() }, outputs: vec![] };
    for (number, stdout) in (1..).zip(paths) {
        let mut env = stage.setup.environment_of(cell, ports, stage.home(&numbered("home", number)).as_deref());
        env.insert("BAKEOFF_PROCESS".to_owned(), number.to_string());
        env.insert("BAKEOFF_PROCESSES".to_owned(), paths.len().to_string());
        if cell.padding > 0 {
            env.insert("BAKEOFF_PADDING".to_owned(), "x".repeat(cell.padding as usize));
        }
        if cell.workload.harness.is_some() {
            let place = harness::place_of(stage, number);
            env.insert(harness::VARIABLE.to_owned(), place.to_string_lossy().into_owned());
        }
        let stderr = stage.setup.scratch.join(numbered("stderr", number));
        let outputs = Outputs { stdout: stdout.clone(), stderr };
        let command = Command {
            argv: stage.argv(cell.variant, cell.workload),
            dir: stage.setup.dir_of(cell.prefix),
            env,
            stdin: cell.workload.input.as_ref().map(|input| stage.setup.dir_of(cell.prefix).join(input)),
            stdout: outputs.stdout.clone(),
            stderr: outputs.stderr.clone(),
        };
        prepared.job.commands.push(command.into());
        prepared.outputs.push(outputs);
    }
    prepared
}

pub(super) fn wipe(stage: &Stage, cell: Cell<'_>) -> Result<(), Error> {
    (1..=processes(cell)).try_for_each(|number| stage.wipe_home(&numbered("home", number)))
}

/// Moves what was measured into the execution. `beside_s` is the processor time of the services during the trial.
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
    let wall_s = into.get(metric::WALL).copied().unwrap_or_default();
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
