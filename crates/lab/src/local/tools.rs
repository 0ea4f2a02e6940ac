//! Commands that serve a trial and are not measured: ready checks and oracles. They have a launcher of their own, so that
//! nothing of them is left either.

use super::command::argv;
use super::outcome::{Halt, in_words, surroundings};
use super::stage::{Cell, Ports, Stage, numbered, processes};
use bakeoff_host::{Command, End, Job, Launcher, Limits, Patience};

/// How long an oracle may take where its workload has no limit, in seconds.
const ORACLE_WITHIN_S: f64 = 600.0;

#[derive(Debug, Default)]
pub(super) struct Tools {
    launcher: Option<Launcher>,
}

impl Tools {
    /// Executes a command to its end; it is killed after this number of seconds, or at the second interrupt.
    pub(super) fn execute(&mut self, stage: &Stage, command: &Command, within_s: f64) -> Result<End, Halt> {
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            none => none.insert(stage.launcher()?),
        };
        let limits = Limits { timeout_s: Some(within_s), ..Limits::default() };
        launcher.launch(&Job { commands: vec![command.clone()], limits, ..Job::default() })?;
        let mut ended = launcher.wait(Patience::SecondInterrupt)?;
        match ended.processes.pop().map(|process| process.end) {
            Some(End::Interrupted) | None => Err(Halt::Interrupted),
            Some(end) => Ok(end),
        }
    }

    /// The oracle of a cell's workload, if it has one: what it says of the trial that has just ended.
    pub(super) fn oracle(&mut self, stage: &Stage, cell: Cell<'_>, ports: &Ports) -> Result<(), Halt> {
        let Some(oracle) = &cell.workload.oracle else { return Ok(()) };
        let log = stage.setup.scratch.join("oracle.log");
        // Where the trial was at home, so that what it left there can be looked at: its folders are wiped afterwards.
        let count = processes(cell);
        let mut env = stage.environment(cell, ports, stage.home(&numbered("home", 1)).as_deref());
        env.insert("BAKEOFF_PROCESSES".to_owned(), count.to_string());
        for number in 1..=count {
            let home = stage.home(&numbered("home", number));
            env.extend(home.map(|home| (format!("BAKEOFF_HOME_{number}"), home.to_string_lossy().into_owned())));
        }
        let command = stage.helper(argv(oracle, true), env, &log);
        let end = self.execute(stage, &command, cell.workload.timeout_s.unwrap_or(ORACLE_WITHIN_S))?;
        if end == End::Exited(0) { Ok(()) } else { Err(surroundings("oracle", in_words(&end), &log)) }
    }
}
