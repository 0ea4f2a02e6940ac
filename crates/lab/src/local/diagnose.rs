//! A diagnostic trial on this host: what a trial is, with folder, services, limits and checks, but alone on the machine,
//! executed by the tracer of the `host` crate, and measured by nobody.

use super::outcome::{Halt, in_words, last_lines};
use super::stage::{Cell, Stage, folder_error};
use super::{Local, trial};
use crate::evidence::Subject;
use crate::{Error, Execution};
use bakeoff_host::tracer::{Order, Told};
use bakeoff_host::{Command, End, Patience};
use bakeoff_model::metric::Measurements;
use bakeoff_model::plan::Variant;
use bakeoff_model::record::{Evidence, Failure, Mapped, Opened, Traced};
use bakeoff_model::study::{Condition, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Set for a traced trial and for no other, so that a workload that makes very many calls may do less of the same.
const TRACED: &str = "BAKEOFF_TRACED";

/// To be stopped at every system call takes many times as long; a workload's timeout is multiplied by this.
const SLOWER: f64 = 100.0;

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
        if matches!(&attempted, Err(Halt::Failed(_)) | Ok(Evidence::Traced(Traced { failure: Some(_), .. }))) {
            self.stage.disk_is_not_full()?;
        }
        // Whatever came of it, nothing of it goes on, and no folder is left.
        let stopped = self.services.stop_all(&self.stage);
        let condition = alone();
        trial::wipe(&self.stage, cell(&self.stage, &variant, &workload, &condition))?;
        for file in [ORDER, TOLD] {
            let _ = std::fs::remove_file(self.stage.setup.scratch.join(file));
        }
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
        let Self { stage, launcher, services, tools, tracer, .. } = self;
        let condition = alone();
        let cell = cell(stage, variant, workload, &condition);
        let ports = services.start(stage, tools, cell)?;
        let mut prepared = trial::prepare(stage, cell, &ports)?;
        let Some(command) = prepared.job.commands.first_mut() else { return Ok(subject.missing("it has no command")) };
        command.env.insert(TRACED.to_owned(), "1".to_owned());
        let places = places(&command.env);
        let told = hand_over(stage, command, tracer)?;
        launcher.launch(&prepared.job)?;
        let ended = launcher.wait(Patience::FirstInterrupt)?;
        let end = ended.processes.first().map_or(End::Interrupted, |process| process.end.clone());
        if end == End::Interrupted {
            return Err(Halt::Interrupted);
        }
        let told = std::fs::read(&told).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut traced = match told {
            Some(Told::Refused { why }) => return Ok(subject.missing(why)),
            Some(Told::NotStarted { what, why }) => {
                return Err(Halt::Failed(Failure::NotStarted { command: what, why }));
            }
            Some(Told::Seen(traced)) => traced,
            // It was killed before it could tell anything.
            None if matches!(end, End::TimedOut | End::OutOfMemory) => Traced::default(),
            None => {
                let words = last_lines(&stage.setup.scratch.join("stderr")).pop();
                let words = words.map(|line| format!(": {line}")).unwrap_or_default();
                return Ok(subject.missing(format!("the tracer told nothing: {}{words}", in_words(&end))));
            }
        };
        subject.workload.clone_into(&mut traced.workload);
        with_names(&mut traced, &places);
        let mut judge = || -> Result<(), Halt> {
            services.are_alive()?;
            prepared.judge(stage, cell, &ended, &mut Execution::default())?;
            tools.oracle(stage, cell, &ports)?;
            services.are_alive()
        };
        match judge() {
            Ok(()) => {}
            Err(Halt::Failed(failure)) => traced.failure = Some(failure),
            Err(halt) => return Err(halt),
        }
        services.trial_is_over(stage, &mut Measurements::new()).or_else(|halt| match halt {
            Halt::Failed(failure) => {
                traced.failure.get_or_insert(failure);
                Ok(())
            }
            halt => Err(halt),
        })?;
        Ok(Evidence::Traced(traced))
    }
}

const ORDER: &str = "trace-order.json";
const TOLD: &str = "trace-told.json";

/// The machine as it is. It has no name, so that no part of a study's own condition is granted to it.
fn alone() -> Condition {
    Condition::default()
}

fn cell<'a>(stage: &'a Stage, variant: &'a Variant, workload: &'a Workload, condition: &'a Condition) -> Cell<'a> {
    Cell { variant, workload, condition, prefix: stage.prefix_of(&variant.name), padding: 0 }
}

fn failed(subject: Subject<'_>, failure: Failure) -> Evidence {
    let workload = subject.workload.to_owned();
    Evidence::Traced(Traced { workload, failure: Some(failure), ..Traced::default() })
}

/// Makes a trial's command the tracer's order and puts the tracer in its place, with nothing in its environment; where it
/// tells what it saw.
fn hand_over(stage: &Stage, command: &mut Command, tracer: &[String]) -> Result<PathBuf, Error> {
    let absolute = |name: &str| {
        let path = stage.setup.scratch.join(name);
        std::path::absolute(&path).map_err(|source| folder_error(&path, source))
    };
    let (path, output) = (absolute(ORDER)?, absolute(TOLD)?);
    let _ = std::fs::remove_file(&output);
    let (argv, env) = (std::mem::take(&mut command.argv), std::mem::take(&mut command.env));
    let order = Order { argv, env, output: output.clone() };
    let written = serde_json::to_vec(&order).map_err(std::io::Error::from).and_then(|text| std::fs::write(&path, text));
    written.map_err(|source| folder_error(&path, source))?;
    command.argv = tracer.to_vec();
    command.argv.push(path.to_string_lossy().into_owned());
    Ok(output)
}

/// Folders that are other ones for each variant, or each trial, and their names; the kernel tells some without links.
fn places(env: &BTreeMap<String, String>) -> Vec<(PathBuf, &'static str)> {
    let mut places = vec![];
    for (variable, name) in [("PREFIX", "$PREFIX"), ("HOME", "$HOME")] {
        let Some(folder) = env.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute()) else { continue };
        if let Ok(real) = folder.canonicalize()
            && real != folder
        {
            places.push((real, name));
        }
        places.push((folder, name));
    }
    places
}

/// Puts the names of places into all paths. What is the same then is added up.
fn with_names(traced: &mut Traced, places: &[(PathBuf, &'static str)]) {
    let named = |path: &str| {
        let below = |(folder, name): &(PathBuf, &str)| {
            let rest = Path::new(path).strip_prefix(folder).ok()?;
            let rest = rest.to_string_lossy();
            Some(if rest.is_empty() { (*name).to_owned() } else { format!("{name}/{rest}") })
        };
        places.iter().find_map(below).unwrap_or_else(|| path.to_owned())
    };
    let mut mapped: BTreeMap<String, bool> = BTreeMap::new();
    for file in &traced.mapped {
        *mapped.entry(named(&file.path)).or_default() |= file.executable;
    }
    traced.mapped = mapped.into_iter().map(|(path, executable)| Mapped { path, executable }).collect();
    let mut opened: BTreeMap<String, Opened> = BTreeMap::new();
    for path in &traced.opened {
        let name = named(&path.path);
        let sum = opened.entry(name.clone()).or_insert(Opened { path: name, found: 0, missed: 0 });
        sum.found += path.found;
        sum.missed += path.missed;
    }
    traced.opened = opened.into_values().collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_named_by_their_places_and_added_up() {
        let opened = |path: &str, found, missed| Opened { path: path.to_owned(), found, missed };
        let mapped = |path: &str, executable| Mapped { path: path.to_owned(), executable };
        let mut traced = Traced {
            mapped: vec![
                mapped("/c/p/lib/x.so", false),
                mapped("/link/p/lib/x.so", true),
                mapped("/lib/libc.so", true),
            ],
            opened: vec![
                opened("/c/p", 1, 0),
                opened("/c/p/lib/x.so", 1, 2),
                opened("/c/prefix", 0, 1),
                opened("/h/file", 0, 1),
                opened("/link/p/lib/x.so", 3, 0),
                opened("p/lib", 1, 0),
            ],
            ..Traced::default()
        };
        let place = |folder: &str, name| (PathBuf::from(folder), name);
        with_names(&mut traced, &[place("/c/p", "$PREFIX"), place("/link/p", "$PREFIX"), place("/h", "$HOME")]);
        assert_eq!(traced.mapped, [mapped("$PREFIX/lib/x.so", true), mapped("/lib/libc.so", true)]);
        let expected = [
            opened("$HOME/file", 0, 1),
            opened("$PREFIX", 1, 0),
            opened("$PREFIX/lib/x.so", 4, 2),
            opened("/c/prefix", 0, 1),
            opened("p/lib", 1, 0),
        ];
        assert_eq!(traced.opened, expected);
    }
}
