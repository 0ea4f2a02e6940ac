//! The load beside a trial: copies that are started again and again by a launcher of their own, alive before the trial
//! begins and checked when it has ended. A fresh load for every trial, so that each meets it in the same state.

use super::command::{argv, is_plain};
use super::outcome::{Halt, in_words, last_lines, surroundings};
use super::stage::{Cell, Ports, Stage};
use super::waiting::Waiting;
use bakeoff_host::{Achieved, Job, Launcher, Limits, Rounds};
use bakeoff_model::metric::Measurements;
use bakeoff_model::study::{LoadOf, LoadSpec};
use std::path::PathBuf;

/// How long the copies may take until all of them execute, in seconds.
const ALIVE_WITHIN_S: f64 = 10.0;
/// What this is called in a failure.
const PART: &str = "load";
const KILL: i32 = 9;

/// The load of the trial that is executed, if its condition has one.
#[derive(Debug, Default)]
pub(super) struct Load {
    launcher: Option<Launcher>,
    active: Option<Active>,
}

#[derive(Debug)]
struct Active {
    copies: u32,
    /// Whether each copy is started again as soon as it has ended.
    closed: bool,
    logs: Vec<PathBuf>,
    homes: Vec<String>,
    before: Achieved,
    cpu_before_s: Option<f64>,
}

impl Load {
    /// Starts the copies that a cell's condition asks for, and waits until all of them execute.
    pub(super) fn start(&mut self, stage: &Stage, cell: Cell<'_>, ports: &Ports) -> Result<(), Halt> {
        let Some(spec) = cell.condition.load.as_ref().filter(|spec| spec.copies > 0) else { return Ok(()) };
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            none => none.insert(stage.launcher()?),
        };
        let mut active = Active {
            copies: spec.copies,
            closed: spec.pace_s.is_none(),
            logs: vec![],
            homes: vec![],
            before: Achieved::default(),
            cpu_before_s: None,
        };
        let limits = stage.granted(cell.condition).map_or_else(Limits::default, |granted| granted.load.clone());
        let mut job = Job { rounds: Some(Rounds { pace_s: spec.pace_s }), limits, marks: true, ..Job::default() };
        for copy in 1..=spec.copies {
            let name = format!("load-{copy}");
            let log = stage.setup.scratch.join(format!("{name}.stderr"));
            let home = stage.fresh_home(&name)?;
            let (of, argv) = of(stage, cell, spec);
            let mut env = stage.environment(of, ports, home.as_deref());
            env.insert("BAKEOFF_COPY".to_owned(), copy.to_string());
            let mut command = stage.helper(argv, env, &log);
            command.stdout = PathBuf::from("/dev/null");
            job.commands.push(command);
            active.logs.push(log);
            active.homes.push(name);
        }
        launcher.launch(&job)?;
        let active = self.active.insert(active);
        let mut waiting = Waiting::of(ALIVE_WITHIN_S);
        loop {
            // A load ends of itself only if it cannot even be started.
            if let Some(ended) = launcher.ended()? {
                let why = ended.processes.first().map_or_else(String::new, |process| in_words(&process.end));
                let halt = active.because(why);
                self.active = None;
                return Err(halt);
            }
            let achieved = launcher.achieved()?;
            if achieved.failed > 0 {
                return Err(active.failed(&achieved));
            }
            if achieved.alive >= active.copies || achieved.ended >= u64::from(active.copies) {
                return Ok(());
            }
            if !waiting.pause()? {
                let why = format!("{} of {} copies execute after {ALIVE_WITHIN_S} s", achieved.alive, active.copies);
                return Err(active.because(why));
            }
        }
    }

    /// The trial is about to be launched.
    pub(super) fn trial_begins(&mut self) -> Result<(), Halt> {
        if let (Some(launcher), Some(active)) = (&mut self.launcher, &mut self.active) {
            active.before = launcher.achieved()?;
            active.cpu_before_s = launcher.cpu_so_far_s();
        }
        Ok(())
    }

    /// The trial has just ended: what the load did meanwhile. `load_rate` counts the copies that ended while it lasted,
    /// so 0 says that each takes longer than the trial; `load_cpu` has their work also then.
    pub(super) fn trial_ended(&mut self, wall_s: f64, into: &mut Measurements) -> Result<(), Halt> {
        let (Some(launcher), Some(active)) = (&mut self.launcher, &mut self.active) else { return Ok(()) };
        let after_cpu_s = launcher.cpu_so_far_s();
        let after = launcher.achieved()?;
        if wall_s > 0.0 {
            let ended = after.ended.saturating_sub(active.before.ended);
            // The two counts were taken a little before and after the trial; the load's own clock has that time.
            let lasted_s = (after.seconds - active.before.seconds).max(wall_s);
            into.insert("load_rate".to_owned(), ended as f64 / lasted_s);
        }
        if let (Some(before_s), Some(after_s)) = (active.cpu_before_s, after_cpu_s) {
            into.insert("load_cpu".to_owned(), (after_s - before_s).max(0.0));
        }
        if after.failed > 0 {
            return Err(active.failed(&after));
        }
        // Between two copies there may be a moment without one.
        if active.closed && after.alive == 0 && after.ended == active.before.ended {
            return Err(active.because("no copy was alive any more when the trial ended".to_owned()));
        }
        Ok(())
    }

    /// Ends all of it, if it is there.
    pub(super) fn stop(&mut self, stage: &Stage) -> Result<(), Halt> {
        let (Some(launcher), Some(active)) = (&mut self.launcher, self.active.take()) else { return Ok(()) };
        launcher.stop(KILL, 0.0)?;
        for home in &active.homes {
            stage.wipe_home(home)?;
        }
        Ok(())
    }
}

impl Active {
    fn failed(&self, achieved: &Achieved) -> Halt {
        let (failed, all) = (achieved.failed, achieved.failed + achieved.ended);
        self.because(format!("{failed} of {all} copies that ended failed"))
    }

    /// With the log of the first copy that has one.
    fn because(&self, why: String) -> Halt {
        let log = self.logs.iter().find(|log| !last_lines(log).is_empty()).or(self.logs.first());
        surroundings(PART, why, &log.cloned().unwrap_or_default())
    }
}

/// What a copy is of, and its words. A command of its own gets what the baseline gets: the same load for all.
fn of<'a>(stage: &'a Stage, cell: Cell<'a>, spec: &LoadSpec) -> (Cell<'a>, Vec<String>) {
    let of = match spec.of {
        LoadOf::Itself => cell,
        LoadOf::Baseline | LoadOf::Command(_) => {
            let variant = stage.plan.baseline();
            Cell { variant, prefix: stage.prefix_of(&variant.name), ..cell }
        }
    };
    let argv = match &spec.of {
        LoadOf::Command(text) => argv(text, !is_plain(text)),
        LoadOf::Itself | LoadOf::Baseline => stage.argv(of.variant, of.workload),
    };
    (of, argv)
}
