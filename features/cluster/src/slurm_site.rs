//! A run on a cluster: one array of jobs for shards, one job for builds. All nodes see the run's folder.

use crate::machines::{Machines, SlurmSettings};
use crate::order::Order;
use crate::run_folder::{LOG, RunFolder, unwritten, write_bytes};
use crate::site::{CannotAsk, Job, Site};
use crate::slurm::{self, Slurm};
use bakeoff_command::{CommandError, screen};
use bakeoff_report::words::named;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The share of a job's time that passes may take: the last one must not be cut off.
const USED: f64 = 0.8;

pub(crate) struct SlurmSite {
    machines: Machines,
    slurm: Slurm,
    name: String,
}

impl SlurmSite {
    pub(crate) fn of(settings: SlurmSettings, machines: Machines, id: &str) -> Self {
        Self { slurm: Slurm::new(settings, std::env::vars_os()), name: format!("bakeoff-{id}"), machines }
    }

    fn builds_name(&self) -> String {
        format!("{}-build", self.name)
    }

    /// The job of these shards, or of the builds; and its script, which is written.
    fn job(
        &self,
        run: &RunFolder,
        order: &Order,
        shards: Option<&[u32]>,
    ) -> Result<(slurm::Job, PathBuf), CommandError> {
        let quoted = |path: &Path| shell_words::quote(&path.display().to_string()).into_owned();
        let (program, folder) = (quoted(&run.dir.join(&order.program)), quoted(&run.dir));
        let (name, script, what) = match shards {
            Some(_) => (self.name.clone(), "shard.sh", "\"$SHARD\""),
            None => (self.builds_name(), "build.sh", "--build"),
        };
        let job = slurm::Job {
            name,
            array: shards.map(<[u32]>::to_vec),
            limit: self.machines.nodes,
            exclusive: self.machines.exclusive && shards.is_some(),
            cpus: order.jobs.filter(|_| shards.is_none()),
            command: format!("{program} shard {folder} {what}"),
            log: run.dir.join(LOG),
            prelude: self.machines.prelude(),
            requeue: self.machines.requeue,
        };
        let script = run.dir.join(script);
        write_bytes(&script, self.slurm.script(&job).as_bytes())?;
        Ok((job, script))
    }
}

impl Site for SlurmSite {
    /// Jobs that have not started after this long may never start, and the user should know why.
    fn pause(&self) -> Duration {
        Duration::from_secs(4)
    }

    fn passes_of_a_job(&self, pass_s: Option<f64>) -> u32 {
        match self.slurm.settings.time_s.zip(pass_s) {
            Some((time_s, pass_s)) => ((time_s as f64 * USED / pass_s) as u32).max(1),
            None => u32::MAX,
        }
    }

    fn scripts(&self, run: &RunFolder, order: &Order) -> Result<String, CommandError> {
        let (nodes, wanted) = (self.slurm.nodes()?[0], self.machines.nodes);
        if self.machines.exclusive && order.shards.len().min(wanted as usize) > nodes {
            screen::err(&format!("note: `nodes` is {wanted}, but only {nodes} are there; further shards will wait\n"));
        }
        let shards: Vec<u32> = order.numbers().collect();
        let mut out = String::new();
        for what in order.builds.then_some(None).into_iter().chain([Some(&*shards)]) {
            let (job, script) = self.job(run, order, what)?;
            out += &format!("# sbatch {}\n{}\n", script.display(), self.slurm.script(&job));
        }
        Ok(out)
    }

    fn send(&self, run: &RunFolder, order: &Order) -> Result<(), CommandError> {
        let log = run.dir.join(LOG);
        fs::create_dir_all(&log).map_err(|error| unwritten(&log, &error))?;
        let ignored = self.slurm.ignored.take();
        if !ignored.is_empty() {
            screen::err(&format!("note: these variables of your environment are not used: {}\n", ignored.join(", ")));
        }
        if order.builds && run.builds()?.is_none() {
            let (job, script) = self.job(run, order, None)?;
            self.slurm.test_only(&script, &job)?;
        }
        let (job, script) = self.job(run, order, Some(&[0]))?;
        self.slurm.test_only(&script, &job)
    }

    fn submit(&self, run: &RunFolder, order: &Order, shards: Option<&[u32]>) -> Result<(), CommandError> {
        let (job, script) = self.job(run, order, shards)?;
        self.slurm.submit(&script, &job).map(drop)
    }

    fn jobs(&self, run: &RunFolder, order: &Order) -> Result<Vec<Job>, CannotAsk> {
        // One question: shards are submitted when there are builds.
        let is_building = order.builds && matches!(run.builds(), Ok(None));
        let name = if is_building { self.builds_name() } else { self.name.clone() };
        self.slurm.queue(&name)
    }

    fn note(&self) -> Option<String> {
        let drained: Vec<String> = self.slurm.drained_nodes().unwrap_or_default().into_iter().collect();
        let nodes = Some(drained).filter(|drained| !drained.is_empty())?;
        Some(format!("drained nodes get no jobs until an administrator resumes them: {}", named(nodes)))
    }

    fn cancel(&self, _run: &RunFolder, _order: &Order) -> Result<(), CommandError> {
        self.slurm.cancel(&self.builds_name())?;
        Ok(self.slurm.cancel(&self.name)?)
    }
}
