//! The load beside a trial: copies that are started again and again by a launcher of their own, alive before the trial
//! begins and checked when it has ended. A fresh load for every trial, so that each meets it in the same state.

use super::command::{argv, is_plain};
use super::outcome::{in_words, last_lines, surroundings};
use super::stage::{Cell, Ports, Stage};
use super::waiting::Waiting;
use crate::on_demand::Halt;
use bakeoff_host::{Achieved, Job, Launcher, Limits, Rounds};
use bakeoff_model::metric::Measurements;
use bakeoff_model::study::{LoadOf, LoadSpec};
use std::path::PathBuf;

/// How long the copies may take until all of them run, in seconds; of a paced load, the first of them.
const ALIVE_WITHIN_S: f64 = 10.0;
/// A copy of a paced load that has run for so long need not have ended before the trial begins, in seconds.
const UNDER_WAY_S: f64 = 1.0;
/// The golden ratio's fraction: its multiples, modulo 1, lie evenly however many they are (Weyl 1916).
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// What this is called in a failure.
const PART: &str = "load";
const KILL: i32 = 9;

/// The load of the trial that is run, if its condition has one.
#[derive(Debug, Default)]
pub(super) struct Load {
    launcher: Option<Launcher>,
    active: Option<Active>,
}

#[derive(Debug, Default)]
struct Active {
    copies: u32,
    /// From one start of a copy to its next, in seconds; none if it is started again as soon as it has ended.
    pace_s: Option<f64>,
    logs: Vec<PathBuf>,
    homes: Vec<String>,
    before: Achieved,
    cpu_before_s: Option<f64>,
}

impl Load {
    /// Starts the copies that a cell's condition asks for, and waits until all of them run; or, of a paced load, for
    /// the moment at which the trials of this pass meet it.
    pub(super) fn start(&mut self, stage: &Stage, cell: Cell<'_>, ports: &Ports, pass: u32) -> Result<(), Halt> {
        let Some(spec) = cell.condition.load.as_ref().filter(|spec| spec.copies > 0) else { return Ok(()) };
        let launcher = match &mut self.launcher {
            Some(launcher) => launcher,
            none => none.insert(stage.launcher()?),
        };
        let mut active = Active { copies: spec.copies, pace_s: spec.pace_s, ..Active::default() };
        let limits = stage.granted(cell.condition).map_or_else(Limits::default, |granted| granted.load.clone());
        let mut job = Job { rounds: Some(Rounds { pace_s: spec.pace_s }), limits, marks: true, ..Job::default() };
        for copy in 1..=spec.copies {
            let name = format!("load-{copy}");
            let log = stage.setup.scratch.join(format!("{name}.stderr"));
            let home = stage.fresh_home(&name)?;
            let (of, argv) = of(stage, cell, spec);
            let mut env = stage.setup.environment_of(of, ports, home.as_deref());
            env.insert("BAKEOFF_COPY".to_owned(), copy.to_string());
            let mut command = stage.helper(argv, env, &log);
            command.stdout = PathBuf::from("/dev/null");
            command.dir = stage.setup.dir_of(of.prefix);
            job.commands.push(command.into());
            active.logs.push(log);
            active.homes.push(name);
        }
        launcher.launch(&job)?;
        let active = self.active.insert(active);
        let mut waiting = Waiting::of(ALIVE_WITHIN_S);
        loop {
            // A load ends on its own only if it cannot even be started.
            if let Some(ended) = launcher.ended()? {
                let why = ended.processes.first().map_or_else(String::new, |process| in_words(&process.end));
                let halt = active.because(None, why);
                self.active = None;
                return Err(halt);
            }
            let achieved = launcher.achieved()?;
            if achieved.failed > 0 {
                return Err(active.failed(&achieved));
            }
            if active.is_under_way(&achieved) {
                break;
            }
            if !waiting.pause()? {
                let why = format!("only {} of {} copies ran after {ALIVE_WITHIN_S} s", achieved.alive, active.copies);
                return Err(active.because(None, why));
            }
        }
        let mut waiting = Waiting::of(active.phase_s(pass));
        while waiting.pause()? {}
        Ok(())
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
        if active.pace_s.is_none() && after.alive == 0 && after.ended == active.before.ended {
            return Err(
                active.because(None, "no copy of the load was still running at the end of the trial".to_owned())
            );
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
    /// Whether a trial may begin. Copies of a paced load take turns, so it is enough that one of them can do what it shall.
    fn is_under_way(&self, achieved: &Achieved) -> bool {
        match self.pace_s {
            None => achieved.alive >= self.copies || achieved.ended >= u64::from(self.copies),
            Some(_) => achieved.ended > 0 || (achieved.alive > 0 && achieved.seconds >= UNDER_WAY_S),
        }
    }

    /// How long a trial waits for its moment between two starts of a paced load. A trial that always began right after one
    /// would meet more, or less, than its share. So each pass has a moment, the same for all variants.
    fn phase_s(&self, pass: u32) -> f64 {
        self.pace_s.map_or(0.0, |pace_s| pace_s / f64::from(self.copies) * (f64::from(pass) * GOLDEN).fract())
    }

    fn failed(&self, achieved: &Achieved) -> Halt {
        let (failed, all) = (achieved.failed, achieved.failed + achieved.ended);
        self.because(achieved.first_failed, format!("{failed} of the {all} copies that finished had failed"))
    }

    /// With the log of this copy, or of the first that has one. A copy that is started again adds to its log.
    fn because(&self, copy: Option<usize>, why: String) -> Halt {
        let has_lines = |log: &&PathBuf| !last_lines(log).is_empty();
        let whose = copy.and_then(|copy| self.logs.get(copy));
        let log = whose.or_else(|| self.logs.iter().find(has_lines)).or(self.logs.first());
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

#[cfg(test)]
mod tests {
    use super::Active;

    fn active(copies: u32, pace_s: Option<f64>) -> Active {
        Active { copies, pace_s, logs: vec![], homes: vec![], before: super::Achieved::default(), cpu_before_s: None }
    }

    #[test]
    fn the_passes_meet_a_paced_load_at_moments_that_lie_evenly() {
        let active = active(4, Some(2.0));
        let mut phases: Vec<f64> = (1..=20).map(|pass| active.phase_s(pass)).collect();
        phases.sort_unstable_by(f64::total_cmp);
        // Of 20 moments in half a second none is further than two shares from the next.
        let gaps: Vec<f64> = phases.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(phases[0] >= 0.0 && phases[19] < 0.5, "{phases:?}");
        assert!(gaps.iter().all(|gap| (0.005..=0.05).contains(gap)), "{gaps:?}");
    }

    #[test]
    fn a_closed_load_has_no_moments() {
        assert!((1..=20).all(|pass| active(4, None).phase_s(pass) == 0.0));
    }
}
