//! A run on a cluster: one array of jobs for shards, one job for builds, both by Slurm. The run's folder is on a file system that
//! all nodes see, so nothing has to be brought there or back.

use crate::machines::{Machines, Way};
use crate::order::Order;
use crate::run_folder::{BUILD_STATUS, RunFolder, unwritten, write_bytes};
use crate::site::{CannotAsk, Job, JobState, Site};
use crate::slurm::{self, Slurm};
use bakeoff_command::{CommandError, screen};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

/// The share of a job's time that passes may take: the last one must not be cut off.
const USED: f64 = 0.8;

/// Drained nodes that are named.
const NAMED: usize = 3;

/// The nodes of a cluster.
pub(crate) struct SlurmSite {
    machines: Machines,
    slurm: Slurm,
    /// The name of the run's jobs.
    name: String,
    /// Whether it was said what is not used of the environment.
    has_told: Cell<bool>,
}

impl SlurmSite {
    pub(crate) fn of(machines: Machines, id: &str) -> Self {
        let Way::Slurm(settings) = &machines.way else { unreachable!("only called for Slurm") };
        Self { slurm: Slurm::new(settings), name: format!("bakeoff-{id}"), machines, has_told: Cell::new(false) }
    }

    fn builds_name(&self) -> String {
        format!("{}-build", self.name)
    }

    fn job(&self, run: &RunFolder, order: &Order, shards: Option<Vec<u32>>) -> slurm::Job {
        let is_build = shards.is_none();
        let program = run.dir.join(&order.program).display().to_string();
        let quoted = shell_words::quote(&program).into_owned();
        let folder = run.dir.display().to_string();
        let folder = shell_words::quote(&folder);
        let what = if is_build { "--build".to_owned() } else { "\"$SHARD\"".to_owned() };
        slurm::Job {
            name: if is_build { self.builds_name() } else { self.name.clone() },
            array: shards,
            limit: self.machines.nodes,
            exclusive: self.machines.exclusive && !is_build,
            command: format!("{quoted} shard {folder} {what}"),
            log: run.dir.join("log"),
            prelude: self.machines.prelude(),
            requeue: self.machines.requeue,
            ..slurm::Job::default()
        }
    }

    /// Writes a script, and returns where it is.
    fn write(&self, run: &RunFolder, name: &str, job: &slurm::Job) -> Result<PathBuf, CommandError> {
        let path = run.dir.join(name);
        write_bytes(&path, self.slurm.script(job).as_bytes())?;
        Ok(path)
    }
}

const SHARD_SCRIPT: &str = "shard.sh";
const BUILD_SCRIPT: &str = "build.sh";

impl Site for SlurmSite {
    fn passes_of_a_job(&self, pass_s: Option<f64>) -> u32 {
        let Way::Slurm(settings) = &self.machines.way else { return u32::MAX };
        match settings.time_s.zip(pass_s) {
            Some((time_s, pass_s)) => ((time_s as f64 * USED / pass_s) as u32).max(1),
            None => u32::MAX,
        }
    }

    fn scripts(&self, run: &RunFolder, order: &Order) -> Result<String, CommandError> {
        let shards = self.job(run, order, Some(order.numbers().collect()));
        let mut out = String::new();
        if order.builds {
            let path = self.write(run, BUILD_SCRIPT, &self.job(run, order, None))?;
            out += &format!("# sbatch {}\n{}\n", path.display(), self.slurm.script(&self.job(run, order, None)));
        }
        let path = self.write(run, SHARD_SCRIPT, &shards)?;
        out += &format!("# sbatch {}\n{}", path.display(), self.slurm.script(&shards));
        Ok(out)
    }

    fn send(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError> {
        let log = run.dir.join("log");
        fs::create_dir_all(&log).map_err(|error| unwritten(&log, &error))?;
        let ignored = self.slurm.ignored_variables();
        if !ignored.is_empty() && !self.has_told.replace(true) {
            screen::err(&format!("note: these variables of your environment are not used: {}\n", ignored.join(", ")));
        }
        if order.builds && run.builds()?.is_none() {
            let job = self.job(run, order, None);
            self.slurm.test_only(&self.write(run, BUILD_SCRIPT, &job)?, &job)?;
        }
        let job = self.job(run, order, Some(vec![0]));
        self.slurm.test_only(&self.write(run, SHARD_SCRIPT, &job)?, &job)
    }

    fn build(&self, run: &RunFolder, order: &Order) -> Result<String, CommandError> {
        // The failure before was shown; this is another try.
        let _ = fs::remove_file(run.dir.join(BUILD_STATUS));
        let job = self.job(run, order, None);
        let ids = self.slurm.submit(&self.write(run, BUILD_SCRIPT, &job)?, &job)?;
        Ok(ids.join(" "))
    }

    fn submit(&self, run: &RunFolder, order: &Order, shards: &[u32]) -> Result<String, CommandError> {
        let job = self.job(run, order, Some(shards.to_vec()));
        let ids = self.slurm.submit(&self.write(run, SHARD_SCRIPT, &job)?, &job)?;
        Ok(ids.join(" "))
    }

    fn jobs(&self, run: &RunFolder) -> Result<Vec<Job>, CannotAsk> {
        // One question: shards are submitted when there are builds.
        let is_building = matches!((run.order(), run.builds()), (Ok(order), Ok(None)) if order.builds);
        let name = if is_building { self.builds_name() } else { self.name.clone() };
        let queued = self.slurm.queue(&name).map_err(|error| CannotAsk(error.to_string()))?;
        Ok(queued.into_iter().map(|queued| job(queued, is_building)).collect())
    }

    fn fetch(&self, _run: &RunFolder) -> Result<(), CannotAsk> {
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let drained = self.slurm.drained_nodes().unwrap_or_default();
        let shown = drained.iter().take(NAMED).map(|one| format!("{} ({})", one.node, one.reason));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = match drained.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let note = || format!("drained nodes get no jobs until an administrator resumes them: {shown}{more}");
        (!drained.is_empty()).then(note).into_iter().collect()
    }

    fn cancel(&self, _run: &RunFolder) -> Result<(), CommandError> {
        self.slurm.cancel(&self.builds_name())?;
        self.slurm.cancel(&self.name)?;
        Ok(())
    }
}

fn job(queued: slurm::Queued, is_build: bool) -> Job {
    let state = match queued.state {
        slurm::State::Pending => {
            let remedy = slurm::never_ends(&queued.reason);
            JobState::Waits { reason: queued.reason, remedy }
        }
        _ => JobState::Runs,
    };
    let node = Some(queued.node).filter(|node| !node.is_empty());
    Job { shard: queued.index.filter(|_| !is_build), state, node, since: queued.since }
}
