//! Unmeasured commands that serve a trial: ready checks, oracles, and those around trials, in a second launcher.

use super::command::argv;
use super::outcome::{in_words, surroundings};
use super::stage::{Cell, Ports, Stage, numbered, processes};
use crate::on_demand::Halt;
use bakeoff_host::{Command, End, Job, Launcher, Limits, Patience};
use bakeoff_model::study::Around;

/// How long an oracle may take where its workload has no limit, in seconds.
const ORACLE_WITHIN_S: f64 = 600.0;
/// How long a command around trials may take, in seconds.
const AROUND_WITHIN_S: f64 = 3600.0;

#[derive(Debug, Default)]
pub(super) struct Tools {
    launcher: Option<Launcher>,
}

impl Tools {
    /// Runs a command to its end; it is killed after this number of seconds, or at the second interrupt.
    pub(super) fn execute(&mut self, stage: &Stage, command: &Command, within_s: f64) -> Result<End, Halt> {
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            none => none.insert(stage.launcher()?),
        };
        let limits = Limits { timeout_s: Some(within_s), ..Limits::default() };
        launcher.launch(&Job { commands: vec![command.clone().into()], limits, ..Job::default() })?;
        let mut ended = launcher.wait(Patience::SecondInterrupt)?;
        match ended.processes.pop().map(|process| process.end) {
            Some(End::Interrupted) | None => Err(Halt::Interrupted),
            Some(end) => Ok(end),
        }
    }

    /// The oracle of a cell's workload, if it has one: what it says of the trial that has just ended.
    pub(super) fn oracle(&mut self, stage: &Stage, cell: Cell<'_>, ports: &Ports) -> Result<(), Halt> {
        let Some(oracle) = &cell.workload.oracle else { return Ok(()) };
        let within_s = cell.workload.timeout_s.unwrap_or(ORACLE_WITHIN_S);
        self.serve(stage, cell, ports, "oracle", oracle, within_s)
    }

    /// A command around trials, if the cell has it.
    pub(super) fn around(&mut self, stage: &Stage, cell: Cell<'_>, ports: &Ports, step: Step) -> Result<(), Halt> {
        let Some(command) = step.command(cell) else { return Ok(()) };
        self.serve(stage, cell, ports, step.name, command, AROUND_WITHIN_S)
    }

    /// Runs a command that is no trial, for a cell.
    fn serve(
        &mut self,
        stage: &Stage,
        cell: Cell<'_>,
        ports: &Ports,
        part: &str,
        text: &str,
        within_s: f64,
    ) -> Result<(), Halt> {
        let log = stage.setup.scratch.join(format!("{part}.log"));
        // Where the trial is at home, so that what it needs or leaves there can be reached: its folders are wiped afterwards.
        let count = processes(cell);
        let mut env = stage.setup.environment_of(cell, ports, stage.home(&numbered("home", 1)).as_deref());
        env.insert("BAKEOFF_PROCESSES".to_owned(), count.to_string());
        for number in 1..=count {
            let home = stage.home(&numbered("home", number));
            env.extend(home.map(|home| (format!("BAKEOFF_HOME_{number}"), home.to_string_lossy().into_owned())));
        }
        let dir = stage.setup.dir_of(cell.prefix);
        let command = bakeoff_host::Command { dir, ..stage.helper(argv(text, true), env, &log) };
        let end = self.execute(stage, &command, within_s)?;
        if end == End::Exited(0) { Ok(()) } else { Err(surroundings(part, in_words(&end), &log)) }
    }
}

/// A command around trials: its name in a study file, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Step {
    name: &'static str,
    of: fn(&Around) -> Option<&str>,
}

impl Step {
    /// The command: the variant's own, or else the workload's.
    pub(super) fn command<'a>(self, cell: Cell<'a>) -> Option<&'a str> {
        (self.of)(&cell.variant.around).or_else(|| (self.of)(&cell.workload.around))
    }
}

pub(super) const SETUP: Step = Step { name: "setup", of: |around| around.setup.as_deref() };
pub(super) const PREPARE: Step = Step { name: "prepare", of: |around| around.prepare.as_deref() };
pub(super) const CONCLUDE: Step = Step { name: "conclude", of: |around| around.conclude.as_deref() };
pub(super) const CLEANUP: Step = Step { name: "cleanup", of: |around| around.cleanup.as_deref() };
